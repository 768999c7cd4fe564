"""Tie thresholds: calibrated ones, those that are as good, and the curve over all of them."""

import numpy as np
import pytest

from metaeval.inputs import Inputs
from metaeval.measures import parse_measure
from metaeval.options import Options
from metaeval.study import rank
from metaeval.tables.thresholds import curve, thresholds
from queries.selection import Slice
from warehouse import QuestionError, Warehouse

ASKED = Slice("sim24", "ja-en", metrics=("Kestrel-24-QE", "Rubric-5", "Steady", "Dice"), segments=(60, 120))
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
    assert points.height == 30 * best.height
    for row in best.rows(named=True):
        own = points.filter(points["metric"] == row["metric"])
        assert own["epsilon"].is_sorted()
        assert own["epsilon"][0] == 0
        assert own["value"].max() == pytest.approx(row["value"], abs=1e-12)


def test_measures_without_a_calibrated_threshold_are_refused(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match="pa has no tie threshold to calibrate; take acc_eq or tau_eq"):
        thresholds(simulated_warehouse, ASKED, parse_measure("pa"), Options())
    with pytest.raises(QuestionError, match="a curve needs 2 points or more, got 1"):
        curve(simulated_warehouse, ASKED, ACC_EQ, Options(), n_points=1)
