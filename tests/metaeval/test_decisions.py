"""Curves, thresholds, costs, reliability and transfer of decisions, by hand and against what they are made of."""

from dataclasses import replace

import numpy as np
import pytest

from metaeval.decisions import Decided, cost, curve, decided, reliability, threshold_for, transfer
from metaeval.evaluation import evaluate
from metaeval.measures import parse_measure
from metaeval.options import Options
from queries.selection import Slice
from warehouse import QuestionError, Warehouse

MEASURE = parse_measure("mcc(good=-1)")
ASKED = Slice("sim24", "en-de")


@pytest.fixture(scope="module")
def decision(simulated_warehouse: Warehouse) -> Decided:
    return decided(simulated_warehouse, ASKED, "simBLEU", MEASURE)


@pytest.fixture
def small(decision: Decided) -> Decided:
    """Scores 4, 3, 2, 1 of outputs that are good, good, not, good."""
    return replace(decision, good=np.array([[1.0, 1, 0, 1]]), scores=np.array([[4.0, 3, 2, 1]]))


def test_a_curve_by_hand(small: Decided) -> None:
    frame = curve(small, draws=5).frame
    assert frame["threshold"].to_list() == [1, 2, 3, 4]
    assert frame["share"].to_list() == [1, 0.75, 0.5, 0.25]
    assert frame["precision"].to_list() == pytest.approx([3 / 4, 2 / 3, 1, 1])
    assert frame["recall"].to_list() == pytest.approx([1, 2 / 3, 2 / 3, 1 / 3])


def test_the_threshold_for_a_precision_is_the_smallest_that_has_it(small: Decided) -> None:
    observed = threshold_for(small, 0.95, draws=20).frame.row(0, named=True)
    assert observed == {
        "rule": "observed",
        "threshold": 3,
        "n_passed": 2,
        "share": 0.5,
        "precision": 1,
        "recall": pytest.approx(2 / 3),
    }
    none = threshold_for(replace(small, good=np.array([[0.0, 1, 1, 0]])), 0.95, draws=20)
    assert none.frame["threshold"].to_list() == [None, None]
    assert "reaches precision 0.95: at most 0.6667" in none.notes[0]


def test_two_outputs_of_two_are_not_safe_and_a_hundred_of_a_hundred_are(small: Decided) -> None:
    """The exact interval of n of n begins at .025 ** (1 / n): .158 of 2, .964 of 100."""
    assert threshold_for(small, 0.95, draws=20).frame["threshold"].to_list() == [3, None]
    good = np.array([[*[0.0] * 20, *[1.0] * 100]])
    many = replace(small, good=good, scores=np.arange(120.0)[np.newaxis])
    assert threshold_for(many, 0.95, draws=20).frame["threshold"].to_list()[1] == 20
    assert threshold_for(many, 0.97, draws=20).frame["threshold"].to_list()[1] is None


def test_every_score_may_be_the_threshold(small: Decided) -> None:
    """Of 2,000 scores the lowest with a precision of one half lies between those of the curve's grid."""
    good = np.array([[*[0.0] * 1003, *[1.0] * 997]])
    many = replace(small, good=good, scores=np.arange(2000.0)[np.newaxis])
    assert threshold_for(many, 0.5, draws=5).frame["threshold"][0] == 6


def test_costs_by_hand(small: Decided) -> None:
    """A miss costs 10, a look 1: all pass 10/4, from 2 on (10 + 1)/4, from 3 on 2/4, from 4 on 3/4, none 1."""
    frame = cost(small, 10, 1).frame
    assert frame["threshold"].to_list() == [1, 2, 3, 4, None]
    assert frame["cost"].to_list() == [2.5, 2.75, 0.5, 0.75, 1]
    assert frame.filter("is_best")["threshold"].to_list() == [3]


def test_the_best_of_all_scores_is_stated_and_shown_beside_a_grid_without_it(small: Decided) -> None:
    """The last 997 of 2,000 are good and let pass: a look at 1003 outputs; a grid of 3 has scores 0, 1000 and 1999."""
    good = np.array([[*[0.0] * 1003, *[1.0] * 997]])
    many = replace(small, good=good, scores=np.arange(2000.0)[np.newaxis])
    found = cost(many, 10, 1, points=3)
    assert found.frame["threshold"].to_list() == [0, 1000, 1003, 1999, None]
    assert found.frame.filter("is_best").rows() == [(1003, 997 / 2000, 1003 / 2000, True)]
    assert found.notes == ("cheapest: threshold 1003, which 49.9% pass: 0.5015 an output",)
    (note,) = curve(many, points=3, draws=5).notes
    assert note == "highest MCC: threshold 1003, which 49.9% pass: MCC 1.0000, precision 1.0000, recall 1.0000"
    assert "(of 400 thresholds of 2000, by rank)" in threshold_for(many, 0.5, draws=5).notes[-1]


def test_bands_hold_the_curve_and_narrow_with_data(decision: Decided) -> None:
    frame = curve(decision, points=10, draws=200).frame
    assert (frame["precision_low"] <= frame["precision"]).all()
    assert (frame["precision"] <= frame["precision_high"]).all()
    assert frame["precision_low"][0] < frame["precision_high"][0]
    safe = threshold_for(decision, frame["precision"][5], draws=200).frame
    assert safe["threshold"][1] is None or safe["threshold"][0] <= safe["threshold"][1]


def test_reliability_adds_up_to_the_brier_score(decision: Decided) -> None:
    found = reliability(decision, draws=50)
    assert found.frame["n"].sum() == (~np.isnan(decision.good)).sum()
    assert (found.frame["low"] <= found.frame["observed"]).all()
    value = -evaluate(parse_measure("brier(good=-1)"), decision.block, Options()).value[0]
    assert f"|brier:{value:.6g}|" in found.signature
    mean = np.average(found.frame["observed"], weights=found.frame["n"])
    assert mean == pytest.approx(np.nanmean(decision.good))


def test_a_threshold_loses_nothing_at_home_and_its_shift_away(small: Decided) -> None:
    shifted = replace(small, scores=small.scores + 2)
    frame = transfer({"here": small, "there": shifted}).frame
    by_pair = {(row["source"], row["target"]): row for row in frame.rows(named=True)}
    assert by_pair["here", "here"]["loss"] == 0
    assert by_pair["here", "there"]["threshold"] == 3
    assert by_pair["here", "there"]["share"] == 1
    assert by_pair["here", "there"]["loss"] == pytest.approx(by_pair["there", "there"]["mcc"])
    assert frame["source_precision"].to_list() == [1, 1, 1, 1]
    assert by_pair["here", "there"]["precision"] == 0.75


def test_what_cannot_be_decided_is_refused(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match=r"nothing to decide: .* the same verdict: all are good"):
        decided(simulated_warehouse, ASKED, "simBLEU", parse_measure("mcc(good=-1000)"))
    with pytest.raises(QuestionError, match="unknown metric 'nothing' for sim24 en-de"):
        decided(simulated_warehouse, ASKED, "nothing", MEASURE)
