"""Rankings without people: which systems and metrics are in, what is said of the others, and WMT25's printed values."""

from pathlib import Path

import numpy as np
import pytest

import metaeval
from tests.helpers import ScoreTable, metric_tables, tiny_layout, tiny_warehouse
from warehouse import QuestionError


def test_ranks_are_those_of_the_means_over_all_segments(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as warehouse:
        found = metaeval.autorank(warehouse, "tiny24", "en-de", metrics=["Fine-src"])
    means = {"Ash": 0.79, "Beech": 0.67, "Cherry": 0.22}
    rows = {row["system"]: row for row in found.frame.rows(named=True)}
    assert {name: row["Fine-src"] for name, row in rows.items()} == pytest.approx(means)
    spread = 0.79 - (0.22 + 0.67) / 2  # best minus the lower quarter, half way from the last to the middle one
    assert rows["Cherry"]["z"] == pytest.approx((0.22 - 0.67) / spread)
    assert [row["rank"] for row in rows.values()] == [1, 2, 3]
    assert rows["Beech"]["autorank"] == pytest.approx(1 + 2 * (0.79 - 0.67) / (0.79 - 0.22))


def test_systems_that_a_named_metric_did_not_score_are_excluded_and_listed(tmp_path: Path) -> None:
    rough = metric_tables()["Rough-refA"]
    assert rough.seg is not None
    few = ScoreTable(systems=("Ash", "Beech"), seg=np.array(rough.seg[:2]))
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path, metrics={**metric_tables(), "Few-src": few})) as warehouse:
        found = metaeval.autorank(warehouse, "tiny24", "en-de", metrics=["Fine", "Few"])
        assert found.frame["system"].to_list() == ["Ash", "Beech"]
        assert "systems that not all of the metrics scored are excluded: Cherry (en-de)" in found.notes


def test_metrics_of_which_most_systems_are_the_same_and_questions_about_people_are_refused(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as warehouse:
        for options in ({"human": "mqm"}, {"intersection": True}, {"mad_outliers": True}):
            with pytest.raises(QuestionError, match="unknown option"):
                metaeval.autorank(warehouse, "tiny24", "en-de", **options)  # type: ignore[arg-type]
        found = metaeval.autorank(warehouse, "tiny24", "en-de", metrics=["Flat-src", "Fine-src"])
        assert "metrics that score too many systems the same are excluded: Flat-src (en-de)" in found.notes
        assert "Flat-src" not in found.frame.columns
        with pytest.raises(QuestionError, match="no scale"):
            metaeval.autorank(warehouse, "tiny24", "en-de", metrics=["Flat-src"])


def test_metrics_without_segment_scores_are_excluded_and_listed(tmp_path: Path) -> None:
    tables = {name: one for name, one in metric_tables().items() if name != "Flat-src"}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path, metrics=tables)) as warehouse:
        found = metaeval.autorank(warehouse, "tiny24", "en-de")
    assert "metrics without segment scores of all systems are excluded: Only-src (en-de)" in found.notes
    assert "Only-src" not in found.frame.columns


def test_missing_scores_are_counted(tmp_path: Path) -> None:
    tables = metric_tables()
    fine = tables["Fine-src"].seg
    assert fine is not None
    holes = np.array(fine)
    holes[0, 1] = np.nan
    layout = tiny_layout(tmp_path, metrics={"Fine-src": ScoreTable(systems=tables["Fine-src"].systems, seg=holes)})
    with tiny_warehouse(tmp_path, layout) as warehouse:
        found = metaeval.autorank(warehouse, "tiny24", metrics=["Fine-src"])
    assert "1 score is missing, and means are of the others: en-de 1" in found.notes


def test_nothing_to_rank_by_is_one_line(tmp_path: Path) -> None:
    only = {"Only-src": metric_tables()["Only-src"]}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path, metrics=only)) as warehouse:
        with pytest.raises(QuestionError, match="no metric of tiny24 en-de has segment scores of all systems"):
            metaeval.autorank(warehouse, "tiny24", "en-de")
        with pytest.raises(QuestionError, match="unknown language pair 'en-xx'"):
            metaeval.autorank(warehouse, "tiny24", "en-de,en-xx")
        with pytest.raises(QuestionError, match="low < high"):
            metaeval.autorank(warehouse, "tiny24", low=50, high=10)
