"""`cutoff`: its views, and what goes with which."""

from typing import Any

import pytest

from metaeval import cutoff
from metaeval.questions.cutoff import Cutoff
from tests.cli.running import Scorehouse
from warehouse import QuestionError, Warehouse

ASKED = ("cutoff", "sim24", "en-de", "simBLEU", "--good", "-1")


@pytest.mark.slow
def test_views_are_tables_with_their_columns(scorehouse: Scorehouse) -> None:
    columns = {
        "threshold": {"rule", "threshold", "share", "precision", "recall", "cost"},
        "cost": {"threshold", "share", "cost", "is_best", "low", "high"},
        "reliability": {"probability", "observed", "low", "high", "n"},
        "transfer": {"source", "target", "threshold", "mcc", "own_mcc", "loss", "loss_low"},
    }
    for view, names in columns.items():
        drawing = ("--resamples", "20") if view in ("cost", "transfer") else ()
        rows = scorehouse(*ASKED, "--view", view, *drawing, "--format", "json").json
        assert names <= set(rows[0]), view
    curve = scorehouse(*ASKED, "--curve", "--format", "json").json
    assert {"threshold", "n_passed", "share", "precision", "recall", "mcc"} <= set(curve[0])


@pytest.mark.slow
def test_carried_thresholds_are_named_and_so_is_what_is_no_other_data(scorehouse: Scorehouse) -> None:
    notes = scorehouse(*ASKED, "--view", "transfer", "--resamples", "20").notes
    assert "threshold: highest MCC on the source; own_threshold: highest MCC on the target" in notes
    assert "domains of sim24 en-de are part of it, so transfer between it and them is not to new outputs" in notes
    (without,) = [note for note in notes if " not compared (" in note]
    assert without.endswith(" not compared (no simBLEU, no human scores by mqm, or all or no outputs good)")


def test_the_best_threshold_of_each_evaluation_set_is_in_a_sentence(simulated_warehouse: Warehouse) -> None:
    more: dict[str, Any] = {"good": -1, "view": "cost", "resamples": 20}
    found = cutoff(simulated_warehouse, "sim24", "en-de,cs-uk", "simBLEU", **more)
    first, second = (cutoff(simulated_warehouse, "sim24", lp, "simBLEU", **more) for lp in ("en-de", "cs-uk"))
    assert found.summary == f"sim24 en-de: {first.summary} 1 other evaluation set below."
    assert f"sim24 cs-uk: {second.summary}" in found.notes


def test_a_good_output_is_a_number_or_its_text(simulated_warehouse: Warehouse) -> None:
    one, other = (cutoff(simulated_warehouse, *ASKED[1:4], good=good, view="cost", resamples=5) for good in (-1, "-1"))
    assert one.signature == other.signature
    with pytest.raises(QuestionError, match="good True: expected a text or a number"):
        cutoff(simulated_warehouse, *ASKED[1:4], good=True)


def test_the_threshold_is_the_answer_and_the_curve_is_asked_for() -> None:
    asked: dict[str, Any] = {"testset": "sim24", "lp": "en-de", "metric": "M"}
    shown = [Cutoff(**asked, **more).chosen_view for more in ({}, {"curve": True}, {"view": "cost"})]
    assert shown == ["threshold", "curve", "cost"]
    for name, value in (("precision", 0.9), ("view", "cost"), ("error_cost", 2.0), ("review_cost", 2.0)):
        with pytest.raises(QuestionError, match=f"{name}.* and curve=True cannot be combined"):
            Cutoff(**asked, curve=True, **{name: value})
    with pytest.raises(QuestionError, match="precision needs view='threshold'"):
        Cutoff(**asked, view="cost", precision=0.9)


@pytest.mark.parametrize("metric", ["simBLEU", "Dice"])
@pytest.mark.parametrize("more", [{}, {"precision": 1.0}, {"curve": True}, {"view": "cost", "resamples": 5}])
def test_every_threshold_is_shown_in_full(metric: str, more: dict[str, Any], simulated_warehouse: Warehouse) -> None:
    """Also that of the row for the most precise threshold, which Dice has, as none meets a precision of 1."""
    answer = cutoff(simulated_warehouse, "sim24", "en-de", metric, good=-1, **more)
    shown = (answer.frame if answer.reading is None else answer.reading)["threshold"].drop_nulls()
    assert len(shown)
    assert isinstance(answer.digits, dict)
    n_digits = answer.digits["threshold"]
    assert [float(f"{one:.{n_digits}f}") for one in shown] == shown.to_list()


def test_a_threshold_costs_what_its_mistakes_and_reviews_cost(simulated_warehouse: Warehouse) -> None:
    """Of n outputs, each bad one that passes costs 7 and each that is reviewed costs 2."""
    found = cutoff(simulated_warehouse, *ASKED[1:4], good=-1, precision=0.7, error_cost=7, review_cost=2)
    (first, *_) = curve = cutoff(simulated_warehouse, *ASKED[1:4], good=-1, curve=True).frame.to_dicts()
    n = first["n_passed"]
    assert len(curve) == 50
    assert found.frame["threshold"].null_count() == 0
    for row in found.frame.to_dicts():
        n_bad = row["n_passed"] - round(row["precision"] * row["n_passed"])
        assert row["cost"] == pytest.approx((7 * n_bad + 2 * (n - row["n_passed"])) / n)
    assert f"{found.frame['cost'][1]:.3f} each (review: 2)" in found.summary
