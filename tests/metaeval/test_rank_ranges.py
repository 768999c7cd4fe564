"""Ranges of metrics' ranks."""

import pytest

from benchmarks.rank_coverage import of_metrics
from metaeval.intervals import with_ranges
from metaeval.measures import parse_measure
from metaeval.options import Options
from metaeval.ranking import ranked, read
from queries.selection import Slice
from warehouse import Warehouse


@pytest.mark.parametrize(("measure", "what"), [("pa", "systems"), ("acc_eq(by=item)", "segments"), ("spa", "segments")])
def test_every_metric_has_a_range_that_its_rank_is_near(
    simulated_warehouse: Warehouse, measure: str, what: str
) -> None:
    found = read(simulated_warehouse, Slice("sim24", "en-de"), [parse_measure(measure)], Options())
    plain = ranked(found)
    table, (line,) = with_ranges(plain, found, Options(), 60)
    assert table.frame.drop("rank_low", "rank_high", "signature").equals(plain.frame.drop("signature"))
    assert f"for new {what}" in line
    assert (table.frame["rank_low"] <= table.frame["rank_high"]).all()
    assert table.frame["rank_high"].max() <= table.frame.height
    inside = (table.frame["rank_low"] <= table.frame["rank"]) & (table.frame["rank"] <= table.frame["rank_high"])
    assert inside.mean() > 0.8  # of metrics near each other values of resamples are biased alike, not their ranks
    assert "|rank_range:95%" in table.signature
    again, _ = with_ranges(plain, found, Options(), 60)
    assert again.frame.equals(table.frame)


def test_a_measure_that_no_metric_has_has_no_ranges(simulated_warehouse: Warehouse) -> None:
    found = read(
        simulated_warehouse,
        Slice("sim24", "en-de", metrics=("simBLEU",)),
        [parse_measure("pa"), parse_measure("mpp")],
        Options(),
    )
    table, lines = with_ranges(ranked(found), found, Options(), 20)
    assert lines[1] == "mpp: no ranges, no metric has what it needs"
    assert set(table.frame["measure"]) == {"pa"}


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["acc_eq(by=item)", "pdp"])
def test_ranges_hold_the_true_rank(measure: str) -> None:
    """320 ranges of metrics in 40 worlds: 95% with a standard error below .03, as those of a world go together."""
    assert of_metrics(measure, 0.05, 40) > 0.89
