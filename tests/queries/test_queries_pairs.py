"""Pair counts four ways: plain loops, the macro stored in the file, a lazy query, the kernel on dense arrays."""

import numpy as np
import polars as pl
import pytest

from metaeval import kernels
from metaeval.kernels.agreement.tau import TAUS
from metaeval.studies.tables.counts import of_metrics, pair_counts, together
from queries.blocks import fetch_block
from queries.counting import COUNTS, Unit, pairs, scores_of
from queries.selection import Selection, select
from queries.slices import Slice
from tests import naive
from tests.helpers import LP, TESTSET
from warehouse import Warehouse

UNITS: tuple[Unit, ...] = ("item", "system", "none")
SORTED = ("metric", "unit")


def _kernel(warehouse: Warehouse, selection: Selection, by: Unit, epsilon: float = 0.0) -> pl.DataFrame:
    """The counts of the dense kernel: columns metric, unit and the five counts."""
    block = fetch_block(warehouse, selection)
    block = block.take(metrics=block.with_segments)
    counts = kernels.pair_counts(block.human, block.scores, kernels.group_labels(by, block.human.shape), epsilon)
    names = {"item": [str(s) for s in block.segments], "system": list(block.systems), "none": ["all"]}[by]
    rows = [
        (metric.name, names[label], *(int(getattr(counts, name)[i, g]) for name in COUNTS))
        for i, metric in enumerate(block.metrics)
        for g, label in enumerate(counts.labels)
    ]
    return pl.DataFrame(rows, schema=["metric", "unit", *COUNTS], orient="row")


def _lazy(warehouse: Warehouse, selection: Selection, by: Unit, epsilon: float = 0.0) -> pl.DataFrame:
    """The same from the lazy query; a group without a pair has no row."""
    block = fetch_block(warehouse, selection)
    block = block.take(metrics=block.with_segments)
    found = pairs(scores_of(block), by, epsilon).collect()
    units = {"item": [str(s) for s in block.segments], "system": list(block.systems), "none": ["all"]}[by]
    return found.select(
        pl.col("scorer").replace_strict(dict(enumerate(metric.name for metric in block.metrics))).alias("metric"),
        pl.col("unit").replace_strict(dict(enumerate(units))),
        *COUNTS,
    )


def _with_pairs(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.sum_horizontal(COUNTS) > 0)


def _macro(warehouse: Warehouse, selection: Selection, epsilon: float) -> pl.DataFrame:
    """The counts of `concordance`, of the selection's metrics."""
    found = warehouse.sql(
        "SELECT * REPLACE (segment::VARCHAR AS segment) FROM concordance($testset, $lp, $human, $epsilon)",
        {"testset": selection.slice.testset, "lp": selection.slice.lp, "human": selection.human, "epsilon": epsilon},
    )
    chosen = [choice.name for choice in selection.chosen_metrics]
    return found.drop("reason").rename({"segment": "unit"}).filter(pl.col("metric").is_in(chosen))


def _assert_same(first: pl.DataFrame, second: pl.DataFrame) -> None:
    assert first.height == second.height > 0
    assert first.select(SORTED).n_unique() == first.height
    assert first.sort(SORTED).equals(second.select(first.columns).sort(SORTED))


def _chosen(warehouse: Warehouse, testset: str, lp: str, **asked: object) -> Selection:
    return select(warehouse, Slice(testset, lp, **asked))  # type: ignore[arg-type]


def test_counts_of_the_tiny_task_are_those_worked_out_by_hand(tiny: Warehouse) -> None:
    # Rough-refA on Ash, Beech, Cherry. Humans: 1: -1 -1 -10; 2: 0 -5 -5; 3: -5 -6 -11; 5: -1 0 -25; nobody judged 4.
    # The metric: 1: 50 40 10; 2: 60 60 60; 3: 20 30 20; 5: 30 30 20.
    found = _kernel(tiny, _chosen(tiny, TESTSET, LP, metrics=("Rough",)), "item")
    assert [row for row in found.rows() if sum(row[2:])] == [
        ("Rough-refA", "1", 2, 0, 1, 0, 0),
        ("Rough-refA", "2", 0, 0, 0, 2, 1),
        ("Rough-refA", "3", 1, 1, 0, 1, 0),
        ("Rough-refA", "5", 2, 0, 0, 1, 0),
    ]


def test_a_threshold_ties_differences_up_to_and_including_it(tiny: Warehouse) -> None:
    selection = _chosen(tiny, TESTSET, LP, metrics=("Rough",), segments="1-1")
    for epsilon, expected in ((9.999, (2, 0, 1, 0, 0)), (10.0, (2, 0, 0, 0, 1)), (30.0, (1, 0, 0, 1, 1))):
        assert _kernel(tiny, selection, "item", epsilon).row(0)[2:] == expected


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("by", UNITS)
def test_counts_agree_with_plain_loops(by: Unit, epsilon: float, tiny: Warehouse) -> None:
    selection = _chosen(tiny, TESTSET, LP)
    block = fetch_block(tiny, selection)
    block = block.take(metrics=block.with_segments)
    labels = kernels.group_labels(by, block.human.shape)
    names = {"item": [str(s) for s in block.segments], "system": list(block.systems), "none": ["all"]}[by]
    rows = [
        (metric.name, names[label], *naive.pair_counts(cells, epsilon).values())
        for metric, scores in zip(block.metrics, block.scores, strict=True)
        for label, cells in naive.groups(block.human, scores, labels).items()
    ]
    expected = pl.DataFrame(rows, schema=["metric", "unit", *COUNTS], orient="row")
    _assert_same(_kernel(tiny, selection, by, epsilon), expected)
    _assert_same(_lazy(tiny, selection, by, epsilon), _with_pairs(expected))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 1.0])
def test_the_macro_and_the_kernel_agree_by_item_on_simulated_scores(
    epsilon: float, simulated_warehouse: Warehouse, in_full: bool
) -> None:
    """Each threshold in one year, or in both where there is time."""
    # ja-en has no human translation and no outlier: the macro, which takes every judged system, counts the same.
    for testset in ("sim22", "sim24") if in_full else ("sim22",) if epsilon == 1.0 else ("sim24",):
        selection = _chosen(simulated_warehouse, testset, "ja-en")
        kernel = _kernel(simulated_warehouse, selection, "item", epsilon)
        _assert_same(kernel, _macro(simulated_warehouse, selection, epsilon))


@pytest.mark.slow
def test_the_macro_agrees_on_real_scores_where_all_judged_systems_take_part(wmt23_warehouse: Warehouse) -> None:
    # he-en: the twelve systems and refA were judged, and all of them are ranked.
    selection = _chosen(wmt23_warehouse, "wmt23", "he-en", metrics=("BLEU", "GEMBA-MQM", "MetricX-23"))
    for epsilon in (0.0, 0.5):
        kernel = _kernel(wmt23_warehouse, selection, "item", epsilon)
        _assert_same(kernel, _macro(wmt23_warehouse, selection, epsilon))


@pytest.mark.long("all pairs: 1 second")
def test_the_view_of_pair_counts_is_the_macro_without_a_threshold(simulated_warehouse: Warehouse) -> None:
    view = simulated_warehouse.sql(
        """
        SELECT metric, segment, n_concordant, n_discordant, n_tied_human, n_tied_metric, n_tied_both
        FROM pair_counts
        WHERE testset = 'sim23' AND lp = 'cs-uk' AND human = 'mqm'
        ORDER BY metric, segment
        """
    )
    macro = simulated_warehouse.sql("FROM concordance('sim23', 'cs-uk', 'mqm', 0) ORDER BY metric, segment")
    assert macro["reason"].null_count() == macro.height
    assert view.equals(macro.drop("reason"))


@pytest.mark.slow
def test_macros_of_the_file_and_kernels_give_the_same_coefficients(simulated_warehouse: Warehouse) -> None:
    names = ("tau_a", "tau_b", "tau_10", "tau_13", "tau_14", "tau_23", "acc23")
    calls = ", ".join(f"{name}({', '.join(COUNTS)}) AS {name}" for name in names)
    found = simulated_warehouse.sql(
        f"SELECT {calls} FROM concordance('sim24', 'ja-en', 'mqm', 0.1) ORDER BY metric, segment"
    )
    block = fetch_block(simulated_warehouse, _chosen(simulated_warehouse, "sim24", "ja-en"))
    counts = kernels.pair_counts(block.human, block.scores, kernels.group_labels("item", block.human.shape), 0.1)
    for name in names:
        expected = TAUS[name](counts).ravel()
        values = found[name].cast(pl.Float64).to_numpy()
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12, err_msg=name)  # NULL and NaN meet


def test_counts_by_item_do_not_depend_on_how_they_are_counted(tiny: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one query, in one of each metric, or by the kernel, which is for large joins."""
    whole = pair_counts(tiny, Slice(TESTSET, LP)).frame
    n_joined = 3 * 3 * 5  # systems, systems, segments
    for most in (n_joined, n_joined - 1):
        monkeypatch.setattr("metaeval.studies.tables.counts._MOST_JOINED", most)
        assert pair_counts(tiny, Slice(TESTSET, LP)).frame.rows() == whole.rows()


@pytest.mark.parametrize("by", UNITS)
def test_counts_of_metrics_are_those_of_all_groups_together_in_the_same_order(
    by: Unit, simulated_warehouse: Warehouse
) -> None:
    found = pair_counts(simulated_warehouse, Slice("sim24", "cs-uk"), by).frame
    expected = together(found, ["metric"]).select("metric", *COUNTS).rows()
    assert len(expected) > 3
    assert [(metric, *counts) for metric, counts in of_metrics(found)] == expected
    assert of_metrics(found.clear()) == []
