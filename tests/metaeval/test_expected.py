"""The organisers' numbers on real WMT23: every row of the expected values, to its tolerance."""

import csv
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import polars as pl
import pytest

from metaeval.measures.options import Options, SystemScore
from metaeval.studies.tables.counts import pair_counts
from queries.counting import COUNTS
from queries.slices import Slice
from tests.helpers import beside_data, but_slow, rank
from warehouse import Warehouse

LPS = ("en-de", "he-en")
QUICKLY = but_slow(("he-en",), LPS)
GROUPINGS = ("none", "item", "system")
FURTHER = pytest.mark.long("all pairs of another language pair: 57 million for each metric, a minute")
GROUPED = [
    *itertools.product(("en-de",), GROUPINGS),
    pytest.param("he-en", "item", marks=pytest.mark.slow),
    *(pytest.param("he-en", grouping, marks=FURTHER) for grouping in ("none", "system")),
]
TAUS = ("tau_a", "tau_b", "tau_c", "tau_10", "tau_13", "tau_14", "tau_23", "acc23")
SOURCES: dict[str, SystemScore] = {
    "submitted": "submitted",
    "segment_mean": "mean",
    "segment_mean_judged": "judged-mean",
}
SEEDS = range(5)

Key = tuple[str, str, str, str, str]  # metric, level, grouping, statistic, system score: as the files name them


@cache
def _expected(lp: str) -> dict[Key, dict[str, str]]:
    with beside_data("expected", f"wmt23.{lp}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["testset"], row["lp"], row["human"]) for row in rows} == {("wmt23", lp, "mqm")}
    found = {(row["metric"], row["level"], row["grouping"], row["statistic"], row["system_score"]): row for row in rows}
    assert len(found) == len(rows) > 2000
    return found


def _rows(lp: str, **wanted: str) -> dict[Key, dict[str, str]]:
    return {key: row for key, row in _expected(lp).items() if all(row[name] == value for name, value in wanted.items())}


def _ranked(
    warehouse: Warehouse,
    lp: str,
    measures: Sequence[str],
    options: Options | None = None,
    metrics: tuple[str, ...] = (),
) -> list[dict[str, dict[str, Any]]]:
    """The rows of each measure by their metrics."""
    frame = rank(warehouse, "wmt23", lp, measures, options=options, metrics=metrics)
    n_metrics, ranked = frame.height // len(measures), frame.rows(named=True)
    parts = [ranked[place * n_metrics : (place + 1) * n_metrics] for place in range(len(measures))]
    assert all(len({row["measure"] for row in part}) == 1 for part in parts)
    return [{row["metric"]: row for row in part} for part in parts]


def _assert_values(expected: dict[Key, dict[str, str]], found: dict[str, dict[str, Any]], n_metrics: int = 43) -> None:
    assert len(expected) == n_metrics
    for (metric, *_), row in expected.items():
        value = math.nan if row["value"] in ("", "nan") else float(row["value"])
        computed = math.nan if found[metric]["value"] is None else found[metric]["value"]
        assert computed == pytest.approx(value, rel=0, abs=float(row["tolerance"]), nan_ok=True), (metric, row)
        if row["epsilon"]:
            assert found[metric]["epsilon"] == float(row["epsilon"]), (metric, row)
        if row["groups_used"]:
            assert found[metric]["n_groups"] - found[metric]["n_groups_nan"] == int(row["groups_used"]), (metric, row)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("lp", LPS)
def test_system_level_values_are_met(lp: str, source: str, wmt23_warehouse: Warehouse) -> None:
    measures = {"pearson": "pearson", "spearman": "spearman", "tau_b": "kendall", "pa": "pa"}
    found = _ranked(wmt23_warehouse, lp, [*measures.values()], Options(system_score=SOURCES[source]))
    for statistic, rows in zip(measures, found, strict=True):
        _assert_values(_rows(lp, level="sys", statistic=statistic, system_score=source), rows)


@pytest.mark.parametrize("lp", QUICKLY)
def test_soft_pairwise_accuracy_is_met_by_the_mean_over_five_seeds(lp: str, wmt23_warehouse: Warehouse) -> None:
    runs = [_ranked(wmt23_warehouse, lp, ["spa"], Options(seed=seed))[0] for seed in SEEDS]
    mean = {metric: {"value": math.fsum(run[metric]["value"] for run in runs) / len(runs)} for metric in runs[0]}
    _assert_values(_rows(lp, level="sys", statistic="spa"), mean)


@pytest.mark.parametrize(("lp", "grouping"), GROUPED)
def test_segment_level_values_are_met(lp: str, grouping: str, wmt23_warehouse: Warehouse) -> None:
    statistics = ("pearson", *TAUS)
    found = _ranked(wmt23_warehouse, lp, [f"{statistic}(by={grouping})" for statistic in statistics])
    for statistic, rows in zip(statistics, found, strict=True):
        _assert_values(_rows(lp, level="seg", statistic=statistic, grouping=grouping), rows)


SOME = ("GEMBA-MQM-src", "MetricX-23-QE-src", "XCOMET-QE-Ensemble-src", "mbr-metricx-qe-src", "prismSrc-src")
LARGE = (("en-de", "none"), ("he-en", "system"), ("he-en", "none"))  # up to 57 million pairs for each metric


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lp", "grouping"),
    [
        *(case for case in itertools.product(LPS, GROUPINGS) if case not in LARGE),
        *(pytest.param(*case, marks=pytest.mark.long("pairs of 43 metrics: 30 seconds")) for case in LARGE),
    ],
)
def test_calibrated_accuracies_and_their_thresholds_are_met(lp: str, grouping: str, wmt23_warehouse: Warehouse) -> None:
    _assert_calibrated(_rows(lp, level="seg", statistic="acc_eq", grouping=grouping), wmt23_warehouse)


@pytest.mark.parametrize(("lp", "grouping"), [LARGE[0], pytest.param(*LARGE[1], marks=pytest.mark.slow)])
def test_calibrated_accuracies_of_some_metrics_are_met(lp: str, grouping: str, wmt23_warehouse: Warehouse) -> None:
    rows = _rows(lp, level="seg", statistic="acc_eq", grouping=grouping)
    _assert_calibrated({key: row for key, row in rows.items() if key[0] in SOME}, wmt23_warehouse, SOME)


def _assert_calibrated(
    expected: dict[Key, dict[str, str]], warehouse: Warehouse, metrics: tuple[str, ...] = ()
) -> None:
    ((_, lp, grouping),) = {(row["testset"], row["lp"], row["grouping"]) for row in expected.values()}
    (found,) = _ranked(warehouse, lp, [f"acc_eq(by={grouping})"], metrics=metrics)
    assert all(row["epsilon"] for row in expected.values())
    _assert_values(expected, found, len(metrics) or 43)


@pytest.mark.parametrize("lp", LPS)
def test_pairwise_difference_pearson_is_met(lp: str, wmt23_warehouse: Warehouse) -> None:
    (found,) = _ranked(wmt23_warehouse, lp, ["pdp"])
    _assert_values(_rows(lp, level="seg", statistic="pdp"), found)


@pytest.mark.parametrize(("lp", "grouping"), GROUPED)
def test_pair_counts_are_met_exactly(lp: str, grouping: str, wmt23_warehouse: Warehouse) -> None:
    counted = pair_counts(wmt23_warehouse, Slice("wmt23", lp), grouping).frame  # type: ignore[arg-type]
    totals = {row["metric"]: row for row in counted.group_by("metric").agg(pl.col(COUNTS).sum()).rows(named=True)}
    for name, statistic in zip(COUNTS, ("n_c", "n_d", "n_t_h", "n_t_m", "n_t_hm"), strict=True):
        expected = _rows(lp, level="seg", statistic=statistic, grouping=grouping)
        assert {metric: totals[metric][name] for metric, *_ in expected} == {
            metric: int(float(row["value"])) for (metric, *_), row in expected.items()
        }


def test_no_row_of_the_expected_values_is_passed_over() -> None:
    def tested() -> Iterator[tuple[str, str, str, str]]:
        yield from (("sys", "", s, source) for s in ("pearson", "spearman", "tau_b", "pa") for source in SOURCES)
        yield "sys", "", "spa", "segment_mean_judged"
        yield "seg", "", "pdp", ""
        statistics = ("pearson", *TAUS, "acc_eq", "n_c", "n_d", "n_t_h", "n_t_m", "n_t_hm")
        yield from (("seg", grouping, statistic, "") for grouping in GROUPINGS for statistic in statistics)

    for lp in LPS:
        there = Counter(key[1:] for key in _expected(lp))
        assert there == dict.fromkeys(tested(), 43)
