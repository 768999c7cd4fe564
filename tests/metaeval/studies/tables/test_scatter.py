"""A metric against humans, worked out on the tiny task."""

from collections.abc import Iterator

import numpy as np
import pytest

from metaeval.measures.options import Options
from metaeval.studies.tables.scatter import scatter
from queries.slices import Slice
from tests.helpers import tiny_warehouse
from warehouse import QuestionError, Warehouse

ASKED = Slice("tiny24", "en-de")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with tiny_warehouse(tmp_path_factory.mktemp("scatter")) as warehouse:
        yield warehouse


def test_systems_come_best_by_humans_first_with_both_scores(tiny: Warehouse) -> None:
    found = scatter(tiny, ASKED, "Fine", Options())
    assert [found.facts[name] for name in ("metric", "human", "source")] == ["Fine-src", "mqm", "submitted"]
    assert found.facts["systems"]["system"].to_list() == ["Ash", "Beech", "Cherry"]
    assert found.facts["systems"]["human"].to_list() == pytest.approx([-1.75, -3.0, -12.75])
    assert found.facts["systems"]["metric"].to_list() == pytest.approx([0.79, 0.67, 0.22])


def test_pairs_are_differences_of_the_better_system_and_their_verdicts(tiny: Warehouse) -> None:
    right, wrong, flat = (scatter(tiny, ASKED, name, Options()) for name in ("Fine", "Wrong", "Flat"))
    assert right.facts["pairs"].height == 3
    assert right.facts["pairs"].row(0)[:2] == ("Ash", "Beech")
    assert right.facts["pairs"].row(0)[2:4] == pytest.approx((1.25, 0.12))
    assert set(right.facts["pairs"]["verdict"]) == {"agree"}
    assert set(wrong.facts["pairs"]["verdict"]) == {"disagree"}
    assert set(flat.facts["pairs"]["verdict"]) == {"tie"}
    assert (right.facts["pairs"]["human"] >= 0).all()
    assert flat.facts["words"][0] == "3 systems: Pearson's r not defined, Spearman's ρ not defined"
    assert right.facts["words"][1] == "3 pairs of systems: humans and the metric agree on 3"
    assert flat.facts["words"][1] == "3 pairs of systems: humans and the metric agree on 0, 3 are tied"


def test_correlations_are_those_of_the_scores(tiny: Warehouse) -> None:
    found = scatter(tiny, ASKED, "Fine", Options())
    human, metric = found.facts["systems"]["human"].to_numpy(), found.facts["systems"]["metric"].to_numpy()
    r = np.corrcoef(human, metric)[0, 1]
    assert found.facts["words"][0] == f"3 systems: Pearson's r {r:.3f}, Spearman's ρ 1.000"


def test_bins_hold_every_judged_score_once(tiny: Warehouse) -> None:
    found = scatter(tiny, ASKED, "Fine", Options())
    assert ("n_scores", 12) in found.parts
    assert found.facts["segments"]["n"].sum() == 12
    assert (found.facts["segments"]["human_low"] < found.facts["segments"]["human_high"]).all()
    assert found.facts["segments"]["human_low"].min() == -25.0


def test_a_metric_without_segment_scores_has_systems_alone(tiny: Warehouse) -> None:
    found = scatter(tiny, ASKED, "Only", Options())
    assert (found.facts["systems"].height, found.facts["segments"].height) == (3, 0)
    assert len(found.facts["words"]) == 2


def test_unknown_metrics_and_parts_without_system_scores_are_refused(tiny: Warehouse) -> None:
    with pytest.raises(QuestionError, match=r"unknown metric 'Fin'.*did you mean"):
        scatter(tiny, ASKED, "Fin", Options())
    part = Slice("tiny24", "en-de", domain=("news",))
    with pytest.raises(QuestionError, match="submitted"):
        scatter(tiny, part, "Fine", Options(system_score="submitted"))
    assert scatter(tiny, part, "Fine", Options()).facts["source"] == "mean"
