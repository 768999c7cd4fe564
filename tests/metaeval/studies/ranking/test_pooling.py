"""Pooled rankings: which metrics have no pooled value, and why, in one line."""

import re
from pathlib import Path

import numpy as np
import pytest

import metaeval
from tests.helpers import SYSTEMS, metric_tables, tiny_layout, tiny_warehouse
from warehouse import Warehouse
from warehouse.export.mtme import ScoreTable


@pytest.mark.slow
def test_one_line_names_every_metric_without_a_pooled_value(simulated_warehouse: Warehouse) -> None:
    measures = ["pa", "acc_eq(by=item)"]
    found = metaeval.rank(simulated_warehouse, "all", "all", measures, pool="mean")
    for measure in measures:
        missing = found.frame.filter(found.frame["value"].is_null(), measure=measure)["metric"].to_list()
        start = f"{measure} has no pooled value for "
        (line,) = (note for note in found.notes if note.startswith(start))
        named = re.sub(r" \(not in \d+ of 12 evaluation sets\)", "", line.removeprefix(start))
        assert sorted(re.split("[,;] ", named)) == sorted(missing)
        assert "Tally-errors (not in 6 of 12 evaluation sets)" in line


def test_few_evaluation_sets_are_named(simulated_warehouse: Warehouse) -> None:
    found = metaeval.rank(simulated_warehouse, "sim23,sim24", "en-de", "pa", pool="mean")
    assert (
        "pa has no pooled value for Kestrel-23, Kestrel-23-QE, Marlin-23, Marlin-XL-23 (not in sim24 en-de); "
        "Kestrel-24, Kestrel-24-QE, Marlin-24, Marlin-XL-24 (not in sim23 en-de)"
    ) in found.notes


def test_metrics_of_which_none_is_in_all_sets_have_no_pooled_value(tmp_path: Path) -> None:
    fine, rough = ({name: table} for name, table in metric_tables().items() if name in ("Fine-src", "Rough-refA"))
    layouts = (
        tiny_layout(tmp_path / "a", testset="tiny23", metrics=fine),
        tiny_layout(tmp_path / "b", testset="tiny24", metrics=rough),
    )
    with tiny_warehouse(tmp_path, *layouts) as warehouse:
        for measure, pool in (("acc_eq(by=item)", "mean"), ("acc_eq(by=item)", "pairs"), ("kendall", "hunter-schmidt")):
            found = metaeval.rank(warehouse, "all", "all", measure, pool=pool)
            assert found.frame.select("metric", "value", "rank").rows() == [("Fine", None, None), ("Rough", None, None)]
            assert any(note.startswith(f"{measure} has no pooled value for Fine") for note in found.notes), pool


def test_sets_in_which_no_metric_can_be_ranked_are_passed_over(tmp_path: Path) -> None:
    tiny_layout(tmp_path / "layout")
    means = {"Fine-refA": ScoreTable(SYSTEMS, sys=np.arange(len(SYSTEMS), dtype=float))}
    root = tiny_layout(tmp_path / "layout", lp="en-fr", metrics=means)
    with tiny_warehouse(tmp_path, root) as warehouse:
        pooled = metaeval.rank(warehouse, "tiny24", "all", measures=["acc_eq"], pool="mean")
        alone = metaeval.rank(warehouse, "tiny24", "en-de", measures=["acc_eq"], pool="mean")
    assert pooled.frame["value"].to_list() == alone.frame["value"].to_list()
    assert any("tiny24 en-fr: acc_eq(by=item): no metric can be ranked" in note for note in pooled.notes)
    assert pooled.summary.endswith(" 1 of 2 evaluation sets is ranked.")


def test_sets_in_which_the_measure_is_not_defined_are_passed_over(tmp_path: Path) -> None:
    tiny_layout(tmp_path / "layout")
    alike = ScoreTable(SYSTEMS, sys=np.ones(len(SYSTEMS)), seg=np.ones((len(SYSTEMS), 5)))
    root = tiny_layout(tmp_path / "layout", lp="en-fr", humans={"mqm": alike})
    with tiny_warehouse(tmp_path, root) as warehouse:
        pooled = metaeval.rank(warehouse, "tiny24", "all", measures=["pearson"], pool="mean")
        alone = metaeval.rank(warehouse, "tiny24", "en-de", measures=["pearson"], pool="mean")
        each = metaeval.rank(warehouse, "tiny24", "all", measures=["pearson"])
    assert pooled.frame["value"].to_list() == alone.frame["value"].to_list()
    assert alone.frame["value"].count() > 0
    assert each.summary.endswith(" 1 of 2 evaluation sets is ranked.")
