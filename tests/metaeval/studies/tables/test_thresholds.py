"""Tie thresholds: calibrated ones, those that are as good, and the curve over all of them."""

from pathlib import Path

import numpy as np
import pytest

from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.inputs import Inputs
from metaeval.studies.tables.thresholds import curve, thresholds
from queries.slices import Slice
from tests.helpers import rank, tiny_warehouse
from warehouse import QuestionError, Warehouse

ASKED = Slice("sim24", "ja-en", metrics=("Kestrel-24-QE", "Rubric-5", "Steady", "Dice"), segments="60-120")
ACC_EQ = parse_measure("acc_eq(by=item)")


def test_thresholds_are_those_of_the_ranking_and_in_standard_deviations_of_the_metric(
    simulated_warehouse: Warehouse,
) -> None:
    found = thresholds(simulated_warehouse, ASKED, ACC_EQ, Options())
    rows = {row["metric"]: row for row in found.frame.rows(named=True)}
    ranked = rank(
        simulated_warehouse, "sim24", "ja-en", ["acc_eq(by=item)"], metrics=ASKED.metrics, segments=ASKED.segments
    )
    assert {name: (row["value"], row["epsilon"]) for name, row in rows.items()} == {
        row["metric"]: (row["value"], row["epsilon"]) for row in ranked.rows(named=True)
    }
    block = Inputs(simulated_warehouse, ASKED).block(ACC_EQ)
    assert {metric.name for metric in block.metrics} == set(rows)
    for metric, scores in zip(block.metrics, block.scores, strict=True):
        row, spread = rows[metric.name], float(np.std(scores[block.judged]))
        assert row["epsilon_sd"] == (pytest.approx(row["epsilon"] / spread) if spread else 0)
    assert rows["Steady-src"]["epsilon_sd"] == 0
    assert rows["Kestrel-24-QE-src"]["epsilon_sd"] > 0
    assert found.signature == ranked["signature"][0]


def test_every_threshold_up_to_the_higher_one_is_as_good(simulated_warehouse: Warehouse) -> None:
    frame = thresholds(simulated_warehouse, ASKED, ACC_EQ, Options()).frame

    def value(metric: str, epsilon: float) -> float:
        fixed = rank(
            simulated_warehouse,
            "sim24",
            "ja-en",
            [f"acc23(by=item, epsilon={epsilon!r})"],
            metrics=(metric,),
            segments=ASKED.segments,
        )
        return float(fixed["value"][0])

    for row in frame.filter(~frame["metric"].is_in(["Steady-src"])).rows(named=True):
        assert value(row["metric"], 0.0) == pytest.approx(row["value_at_zero"], abs=1e-12)
        assert value(row["metric"], row["epsilon"]) == pytest.approx(row["value"], abs=1e-12)
        if row["epsilon_high"] is not None:
            inside = (row["epsilon"] + row["epsilon_high"]) / 2
            assert value(row["metric"], inside) == pytest.approx(row["value"], abs=1e-12)
            assert value(row["metric"], row["epsilon_high"]) < row["value"] - 1e-12


def test_the_curve_has_its_maximum_at_the_calibrated_threshold(simulated_warehouse: Warehouse) -> None:
    best = thresholds(simulated_warehouse, ASKED, ACC_EQ, Options()).frame
    points = curve(simulated_warehouse, ASKED, ACC_EQ, Options(), n_points=30).frame
    n_points = dict(points["metric"].value_counts().iter_rows())
    assert n_points.pop("Steady-src") == 1  # its scores are all the same
    assert set(n_points.values()) == {30}
    assert points["metric"].n_unique() == best.height
    for row in best.rows(named=True):
        own = points.filter(points["metric"] == row["metric"])
        assert own["epsilon"].is_sorted()
        assert own["epsilon"][0] == 0
        assert own["value"].max() == pytest.approx(row["value"], abs=1e-12)


@pytest.mark.parametrize("measure", ["acc_eq(by=item)", "tau_eq(by=none)"])
def test_the_curve_has_so_many_points_none_of_them_twice(measure: str, simulated_warehouse: Warehouse) -> None:
    asked = Slice("sim24", "cs-uk", metrics=("Dice", "Onlooker", "Oriole"), segments="1-60")
    parsed = parse_measure(measure)
    best = thresholds(simulated_warehouse, asked, parsed, Options()).frame
    assert 0.0 in best["epsilon"].to_list()  # is a point of the grid already
    for n_points in (2, 3, 30):
        found = curve(simulated_warehouse, asked, parsed, Options(), n_points=n_points).frame
        assert not found.select("metric", "epsilon").is_duplicated().any()
        assert set(found["metric"].value_counts()["count"]) == {n_points}
        for row in best.rows(named=True):
            assert row["epsilon"] in found.filter(metric=row["metric"])["epsilon"].to_list()


def test_a_metric_whose_scores_are_all_the_same_has_one_point(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as warehouse:
        found = curve(warehouse, Slice("tiny24", "en-de"), ACC_EQ, Options(), n_points=5).frame
    assert found.filter(metric="Flat-src")["epsilon"].to_list() == [0.0]
    assert found.filter(metric="Fine-src").height == 5


def test_measures_without_a_calibrated_threshold_are_refused(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match="pa has no tie threshold to calibrate; take acc_eq or tau_eq"):
        thresholds(simulated_warehouse, ASKED, parse_measure("pa"), Options())


def test_what_it_costs_is_said_before_anything_is_computed_and_then_how_far_it_is(
    simulated_warehouse: Warehouse,
) -> None:
    measure = parse_measure("tau_eq(by=none)")
    told: list[tuple[str, int, int]] = []
    found = thresholds(simulated_warehouse, ASKED, measure, Options(), progress=lambda *what: told.append(what))
    n_scores = int(Inputs(simulated_warehouse, ASKED).judged_segments().judged.sum())
    cost = f"calibrating tau_eq(by=none), pairs: {n_scores * (n_scores - 1) // 2:,} a metric"
    assert told == [(cost, done, len(found.frame)) for done in range(len(found.frame))]
    told.clear()
    curve(simulated_warehouse, ASKED, measure, Options(), n_points=5, progress=lambda *what: told.append(what))
    assert told[0] == (cost, 0, len(found.frame))
    n = len(found.frame)
    assert told[-n:] == [("tau_eq(by=none) at 5 thresholds a metric", done, n) for done in range(n)]
