"""`cutoff`: its views, and what goes with which."""

from typing import Any

import polars as pl
import pytest

from metaeval import cutoff
from metaeval.questions.cutoff import Cutoff
from metaeval.studies.cutoffs.carried import in_a_sentence
from tests.cli.running import Scorehouse, refused
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
    assert f" Cost per output: {found.frame['cost'][1]:.3f} (review 2, bad output 7)." in found.summary


@pytest.mark.slow
@pytest.mark.parametrize(
    "more", [{}, {"curve": True}, {"view": "cost"}, {"view": "reliability"}, {"view": "transfer"}, {"precision": 1.0}]
)
@pytest.mark.parametrize(("human", "good", "said"), [("mqm", -1, "mqm ≥ -1"), ("mqm", "error_free", "mqm ≥ 0")])
def test_every_sentence_says_what_a_good_output_is(
    simulated_warehouse: Warehouse, more: dict[str, Any], human: str, good: Any, said: str
) -> None:
    drawing = {"resamples": 5} if more.get("view") in ("cost", "transfer") else {}
    found = cutoff(simulated_warehouse, *ASKED[1:4], human=human, good=good, **more, **drawing)
    assert said in found.summary


def test_a_precision_is_shown_in_full(simulated_warehouse: Warehouse) -> None:
    assert " 72.5% of published" in cutoff(simulated_warehouse, *ASKED[1:4], good=-1, precision=0.725).summary


def test_what_is_no_lowest_score_is_refused_without_the_name_of_a_measure(scorehouse: Scorehouse) -> None:
    refused(scorehouse(*ASKED[:-1], "perfect"), 2, "--good 'perfect': expected a number, ", "or error_free")
    without_errors = scorehouse("cutoff", "sim22", "en-de", "simBLEU", "--human", "wmt-raw")
    refused(without_errors, 2, "wmt-raw has no marked errors", "use --good NUMBER")


@pytest.mark.slow
def test_human_translations_among_the_outputs_are_named(wmt23_warehouse: Warehouse) -> None:
    notes = [
        cutoff(wmt23_warehouse, "wmt23", "he-en", "COMET", good=-1, **more).notes
        for more in ({}, {"human_references": False})
    ]
    assert ["the outputs include human translations: refA" in one for one in notes] == [True, False]


def test_transfer_to_parts_of_the_slice_is_not_in_the_sentence() -> None:
    names = ("a", "a, x", "a, y", "b", "c")
    losses = {("a", "b"): 0.2, ("a", "c"): 0.1, ("a, x", "a, y"): 0.03, ("a, y", "a, x"): 0.01}
    rows = [
        {"source": s, "target": t, "loss": None if s == t else losses.get((s, t), 9.0)} for s in names for t in names
    ]
    frame = pl.DataFrame(rows)
    assert in_a_sentence(frame, "M", "h ≥ 1") == (
        "A threshold of M chosen on a (good: h ≥ 1) loses 0.150 MCC on average on 2 other evaluation sets, at most "
        "0.200 (b).",
        "Between its 2 domains, it loses 0.020 MCC on average, at most 0.030 (x to y).",
    )
    alone = frame.filter(~pl.col("source").is_in(["b", "c"]), ~pl.col("target").is_in(["b", "c"]))
    assert in_a_sentence(alone, "M", "h ≥ 1") == (
        "A threshold of M (good: h ≥ 1) loses 0.020 MCC on average between 2 domains of a, at most 0.030 (x to y).",
    )
    (none,) = in_a_sentence(frame.filter(source="a", target="a"), "M", "h ≥ 1")
    assert none.startswith("There is no other evaluation set or domain")


@pytest.mark.parametrize(
    ("losses", "elsewhere", "between", "alone"),
    [
        ((-0.02, -0.01), "no MCC on 2 other evaluation sets.", "no MCC.", "no MCC between 2 domains of a."),
        (
            (-0.02, 0.01),
            "no MCC on average on 2 other evaluation sets, at most 0.010 (c).",
            "no MCC on average, at most 0.010 (y to x).",
            "no MCC on average between 2 domains of a, at most 0.010 (y to x).",
        ),
        ((0.03, None), "0.030 MCC on b.", "0.030 MCC.", "0.030 MCC from x to y of a."),
    ],
)
def test_what_is_not_lost_is_no_greatest_loss(
    losses: tuple[float | None, float | None], elsewhere: str, between: str, alone: str
) -> None:
    ways = [("a", "b"), ("a", "c"), ("a, x", "a, y"), ("a, y", "a, x")]
    rows = [{"source": s, "target": t, "loss": loss} for (s, t), loss in zip(ways, 2 * losses, strict=True)]
    frame = pl.DataFrame([{"source": "a", "target": "a", "loss": None}, *rows], schema_overrides={"loss": pl.Float64})
    first, second = in_a_sentence(frame, "M", "h ≥ 1")
    assert first == f"A threshold of M chosen on a (good: h ≥ 1) loses {elsewhere}"
    assert second == f"{'From x to y' if None in losses else 'Between its 2 domains'}, it loses {between}"
    (only,) = in_a_sentence(frame.filter(~pl.col("target").is_in(["b", "c"])), "M", "h ≥ 1")
    assert only == f"A threshold of M (good: h ≥ 1) loses {alone}"
