"""Curves, thresholds, costs, reliability and transfer of decisions, by hand and against what they are made of."""

from dataclasses import replace

import numpy as np
import pytest

from metaeval.measures.judged import Units
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.evaluation import evaluate
from metaeval.studies.cutoffs.carried import _versions, transfer
from metaeval.studies.cutoffs.decisions import (
    DecisionInputs,
    as_typed,
    cost,
    curve,
    last_of_run,
    load_decision_inputs,
    reliability,
    threshold_for,
)
from queries.slices import Slice
from warehouse import QuestionError, Warehouse

MEASURE = parse_measure("mcc(good=-1)")
ASKED = Slice("sim24", "en-de")


@pytest.fixture(scope="module")
def decision(simulated_warehouse: Warehouse) -> DecisionInputs:
    return load_decision_inputs(simulated_warehouse, ASKED, "simBLEU", MEASURE)


def changed(decision: DecisionInputs, good: list[float], scores: list[float]) -> DecisionInputs:
    """A system's outputs, each of a segment of its own."""
    units = Units("segment", len(good))
    return replace(decision, good=np.array([good]), scores=np.array([scores], dtype=float), units=units)


@pytest.fixture
def small(decision: DecisionInputs) -> DecisionInputs:
    """Scores 4, 3, 2, 1 of outputs that are good, good, not, good."""
    return changed(decision, [1, 1, 0, 1], [4, 3, 2, 1])


def test_a_curve_by_hand(small: DecisionInputs) -> None:
    frame = curve(small).frame
    assert frame["threshold"].to_list() == [1, 2, 3, 4]
    assert frame["n_passed"].to_list() == [4, 3, 2, 1]
    assert frame["share"].to_list() == [1, 0.75, 0.5, 0.25]
    assert frame["precision"].to_list() == pytest.approx([3 / 4, 2 / 3, 1, 1])
    assert frame["recall"].to_list() == pytest.approx([1, 2 / 3, 2 / 3, 1 / 3])


def test_the_threshold_for_a_precision_is_the_smallest_that_has_it(small: DecisionInputs) -> None:
    observed = threshold_for(small, 0.95).frame.row(0, named=True)
    assert observed == {
        "rule": "observed",
        "threshold": 3,
        "n_passed": 2,
        "share": 0.5,
        "precision": 1,
        "precision_low": None,  # four segments
        "precision_high": None,
        "recall": pytest.approx(2 / 3),
        "cost": 0.5,  # two of four outputs are reviewed, and none that passed is bad
    }
    none = threshold_for(replace(small, good=np.array([[0.0, 1, 1, 0]])), 0.95)
    assert none.frame["threshold"].to_list() == [None, None]
    assert "reaches precision 0.95: at most 0.6667" in none.notes[0]


def test_two_outputs_of_two_are_not_safe_and_a_hundred_of_a_hundred_are(small: DecisionInputs) -> None:
    """The exact interval of n of n begins at .025 ** (1 / n): .158 of 2, .964 of 100."""
    six = changed(small, [0, 1, 1, 1, 1, 1], [1, 2, 3, 4, 5, 6])
    assert threshold_for(six, 0.95).frame["threshold"].to_list() == [2, None]
    last = curve(six).frame.row(-1, named=True)
    assert (last["precision"], last["precision_high"], last["n_passed"]) == (1, 1, 1)
    assert curve(six).frame["precision_low"].to_list()[1:3] == pytest.approx([0.025 ** (1 / 5), 0.025 ** (1 / 4)])
    many = changed(small, [*[0.0] * 20, *[1.0] * 100], list(range(120)))
    assert threshold_for(many, 0.95).frame["threshold"].to_list()[1] == 20
    assert threshold_for(many, 0.97).frame["threshold"].to_list()[1] is None


def test_a_safe_threshold_has_only_safe_ones_above_it_but_those_that_too_few_pass() -> None:
    thresholds = np.arange(6.0)
    assert last_of_run(thresholds, np.array([0, 1, 0, 1, 1, 0], dtype=bool)) == [3]
    assert last_of_run(thresholds, np.array([1, 1, 1, 1, 1, 0], dtype=bool)) == [0]
    assert last_of_run(thresholds, np.zeros(6, dtype=bool)) == []


def test_outputs_of_few_documents_are_worth_less_than_as_many_of_many(small: DecisionInputs) -> None:
    """Twelve documents of ten outputs each: ten with good outputs alone, one with bad ones alone, one with both."""
    good = [*[1.0] * 100, *[0.0] * 10, *[1.0, 0.0] * 5]
    by_segment = changed(small, good, [1.0] * 120)
    by_document = replace(by_segment, units=Units("document", 12, np.repeat(np.arange(12), 10)))
    (one,), (other,) = (curve(found).frame.rows(named=True) for found in (by_segment, by_document))
    assert one["precision"] == other["precision"] == 105 / 120
    assert other["precision_low"] < one["precision_low"] - 0.1
    assert "95% intervals (Clopper-Pearson) by document (12 documents)" in curve(by_document).notes[-1]


def test_intervals_are_by_document_from_ten_documents_on(
    simulated_warehouse: Warehouse, decision: DecisionInputs
) -> None:
    judged = decision.block.judged.any(axis=0)
    named = np.array(decision.block.selection.documents)[judged]
    assert (decision.units.unit, decision.units.n) == ("document", len(set(named)))
    few = load_decision_inputs(simulated_warehouse, replace(ASKED, segments="1-20"), "simBLEU", MEASURE)
    assert few.units.unit == "segment"
    asked = load_decision_inputs(simulated_warehouse, ASKED, "simBLEU", MEASURE, "segment")
    assert asked.units.unit == "segment"
    assert curve(asked).frame["precision"].equals(curve(decision).frame["precision"])
    four = load_decision_inputs(simulated_warehouse, replace(ASKED, segments="1-4"), "simBLEU", MEASURE)
    for found in (curve(four), threshold_for(four, 0.9), cost(four, 10, 1)):
        assert any(note.startswith("there are no intervals: 4 segments have human scores") for note in found.notes)
    assert curve(four).frame["precision_low"].null_count() == curve(four).frame.height
    with pytest.raises(QuestionError, match="those of other documents, and there is only one"):
        reliability(four)


def test_every_score_may_be_the_threshold(small: DecisionInputs) -> None:
    """Of 2,000 scores the lowest with a precision of one half lies between those of the curve's grid."""
    many = changed(small, [*[0.0] * 1003, *[1.0] * 997], list(range(2000)))
    assert threshold_for(many, 0.5).frame["threshold"][0] == 6


def test_a_threshold_as_it_is_read_lets_the_same_outputs_pass(small: DecisionInputs, decision: DecisionInputs) -> None:
    """0.8741, the nearest to 0.874058, lets neither of the first two pass, and 0.8740 lets the third pass, too."""
    close = changed(small, [1, 1, 0, 0], [0.874058, 0.874058, 0.87402, -25.0])
    assert [as_typed(score, close) for score in (0.874058, 0.87402, -25.0)] == [0.87405, 0.8740, -25.0]
    for score in np.unique(decision.scores):
        typed = as_typed(score, decision)
        assert ((decision.scores >= typed) == (decision.scores >= score)).all()
    shown = threshold_for(decision, 0.5).frame.drop_nulls("threshold")
    for threshold, n_passed in shown.select("threshold", "n_passed").rows():
        assert np.count_nonzero(decision.scores[~np.isnan(decision.good)] >= threshold) == n_passed


def test_costs_by_hand(small: DecisionInputs) -> None:
    """A miss costs 10, a look 1: all pass 10/4, from 2 on (10 + 1)/4, from 3 on 2/4, from 4 on 3/4, none 1."""
    frame = cost(small, 10, 1).frame
    assert frame["threshold"].to_list() == [1, 2, 3, 4, None]
    assert frame["cost"].to_list() == [2.5, 2.75, 0.5, 0.75, 1]
    assert frame.filter("is_best")["threshold"].to_list() == [3]


def test_the_best_of_all_scores_is_stated_and_shown_beside_a_grid_without_it(small: DecisionInputs) -> None:
    """The last 997 of 2,000 are good and let pass: a look at 1003 outputs; a grid of 3 has scores 0, 1000 and 1999."""
    many = changed(small, [*[0.0] * 1003, *[1.0] * 997], list(range(2000)))
    found = cost(many, 10, 1, points=3, draws=20)
    assert found.frame["threshold"].to_list() == [0, 1000, 1003, 1999, None]
    (best,) = found.frame.filter("is_best").rows(named=True)
    assert (best["threshold"], best["share"], best["cost"]) == (1003, 997 / 2000, 1003 / 2000)
    assert best["low"] < best["cost"] < best["high"]
    assert best["threshold_low"] <= 1003 <= best["threshold_high"]
    facts = curve(many, points=3).facts
    best = facts["best"]
    assert (best.threshold, best.n_true + best.n_false, facts["n_outputs"]) == (1003, 997, 2000)
    assert (best.mcc, best.precision, best.recall) == (1.0, 1.0, 1.0)
    assert "(400 of 2000 thresholds examined, evenly by rank)" in threshold_for(many, 0.5).notes[0]


def test_bands_hold_the_curve_and_narrow_with_data(decision: DecisionInputs) -> None:
    frame = curve(decision, points=10).frame
    assert (frame["precision_low"] <= frame["precision"]).all()
    assert (frame["precision"] <= frame["precision_high"]).all()
    assert frame["precision_low"][0] < frame["precision_high"][0]
    safe = threshold_for(decision, frame["precision"][5]).frame
    assert safe["threshold"][1] is None or safe["threshold"][0] <= safe["threshold"][1]


def test_reliability_adds_up_to_the_brier_score(decision: DecisionInputs) -> None:
    found = reliability(decision)
    assert found.frame["n"].sum() == (~np.isnan(decision.good)).sum()
    assert (found.frame["low"] <= found.frame["observed"]).all()
    value = -evaluate(parse_measure("brier(good=-1)"), decision.block, Options()).value[0]
    assert f"|brier:{value:.6g}" in found.signature
    mean = np.average(found.frame["observed"], weights=found.frame["n"])
    assert mean == pytest.approx(np.nanmean(decision.good))


@pytest.fixture
def twenty(small: DecisionInputs) -> DecisionInputs:
    """Of 20 scores the upper 15 are of good outputs, but one."""
    good = [0.0] * 5 + [1.0] * 15
    good[10] = 0
    return changed(small, good, list(range(20)))


def test_a_threshold_loses_its_shift_away_and_at_home_it_is_judged_on_other_segments(twenty: DecisionInputs) -> None:
    shifted = replace(twenty, scores=twenty.scores + 10)
    frame = transfer({"here": twenty, "there": shifted}, draws=30).frame
    by_pair = {(row["source"], row["target"]): row for row in frame.rows(named=True)}
    home, away = by_pair["here", "here"], by_pair["here", "there"]
    assert (home["threshold"], home["loss"], home["loss_low"]) == (5, None, None)
    assert home["mcc"] == home["own_mcc"] == away["own_mcc"]
    assert (away["threshold"], away["own_threshold"]) == (5, 15)
    assert (away["share"], away["mcc"], away["precision"]) == (1, 0, 0.7)
    assert away["loss"] == away["own_mcc"]
    assert 0 < away["loss_low"] < away["loss"] < away["loss_high"]


def test_a_set_of_few_segments_has_no_interval_of_its_loss(small: DecisionInputs, twenty: DecisionInputs) -> None:
    frame = transfer({"here": small, "there": twenty}, draws=30).frame
    assert frame["loss_low"].null_count() == frame.height


def as_if(decision: DecisionInputs, testset: str, metric: str) -> DecisionInputs:
    """The decision on the outputs of another test set, by another metric."""
    selection = replace(decision.block.selection, slice=replace(decision.block.selection.slice, testset=testset))
    metrics = tuple(replace(one, base_name=metric) for one in decision.block.metrics)
    return replace(decision, block=replace(decision.block, metrics=metrics, selection=selection))


def test_thresholds_are_carried_on_the_usual_scale(twenty: DecisionInputs) -> None:
    shares = replace(twenty, scores=twenty.scores * 0.01)
    found = transfer({"old": as_if(shares, "wmt20", "chrF"), "new": as_if(twenty, "wmt23", "chrF")}, draws=5)
    assert found.frame["threshold"].to_list() == [5, 5, 5, 5]
    assert found.frame["mcc"].n_unique() == 2  # judged at home, and carried
    assert "scores of old run from 0 to 1 and were multiplied by 100" in found.notes


def test_a_version_is_that_of_the_year_in_the_warehouse_declared_or_not(twenty: DecisionInputs) -> None:
    years = {"wmt20": 2020, "mine": 2023}
    (line,) = _versions({name: as_if(twenty, name, "COMET") for name in years}, years)
    assert line.endswith(": 20 in wmt20; 22 in mine")


def test_what_cannot_be_decided_is_refused(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match=r"no decision to evaluate: .* in one class: all are good"):
        load_decision_inputs(simulated_warehouse, ASKED, "simBLEU", parse_measure("mcc(good=-1000)"))
    with pytest.raises(QuestionError, match="unknown metric 'nothing' for sim24 en-de"):
        load_decision_inputs(simulated_warehouse, ASKED, "nothing", MEASURE)
