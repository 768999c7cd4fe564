"""Deltas: pairs of evaluation sets counted by hand, scales, protocols and directions, and what is left out."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.measures.options import Options
from metaeval.results.inputs import Inputs
from metaeval.results.notes import Decisive
from metaeval.results.sentences import LONGEST
from metaeval.studies.pairs.deltas import (
    _by_protocol,
    _converted,
    _least_with_most,
    _of_one_version,
    _on_one_scale,
    _spelled,
    at_in_a_sentence,
    deltas,
    in_a_sentence,
)
from metaeval.studies.pairs.settings import DeltaSettings
from metaeval.studies.pairs.system_pairs import SystemPairs, pairs_of, read_pairs
from queries.blocks import Block
from queries.slices import Slice
from tests.helpers import reading
from warehouse import QuestionError, Warehouse

QUICK = DeltaSettings(resamples=20)
CS_UK = Slice("all", "cs-uk")


def made_pairs(testset: str, largest: float, n_pairs: int = 3, *, metric: str = "X", human: str = "mqm") -> SystemPairs:
    return SystemPairs(
        testset=testset,
        lp="en-de",
        human=human,
        systems=tuple("ABC"),
        metric_names=(f"{metric}-refA",),
        base_names=(metric,),
        first=np.array([0, 0, 1] * (n_pairs // 3)),
        second=np.array([1, 2, 2] * (n_pairs // 3)),
        human_gaps=np.ones(n_pairs),
        metric_gaps=np.full((1, n_pairs), largest / 2),
        p=np.full(n_pairs, np.nan),
        used=("mean",),
        human_deviation=1.0,
        largest=np.array([largest]),
        factors=np.ones(1),
    )


def test_the_pairs_of_a_set_are_those_of_its_system_scores(simulated_warehouse: Warehouse) -> None:
    found = deltas(reading(simulated_warehouse), Slice("sim24", "en-de"), "simBLEU", Options(), QUICK)
    fit = found.frame.row(0, named=True)
    ranked = metaeval.rank(simulated_warehouse, "sim24", "en-de", "pa(ties=tship)", metrics="simBLEU").frame
    assert fit["n_pairs"] + fit["n_human_ties"] == fit["n_systems"] * (fit["n_systems"] - 1) // 2
    assert fit["overall"] == pytest.approx(ranked["value"][0])
    assert found.frame.select("protocol", "direction", "n_sets").unique().rows() == [("mqm", "all", 1)]


def test_each_protocol_of_a_set_has_its_own_fit_and_each_direction_where_there_are_several(
    simulated_warehouse: Warehouse,
) -> None:
    found = deltas(reading(simulated_warehouse), Slice("sim22", "all"), "simBLEU", Options(), QUICK)
    assert found.frame.select("protocol", "direction", "n_sets").unique(maintain_order=True).rows() == [
        ("mqm", "all", 3),
        ("mqm", "into English", 1),
        ("mqm", "from English", 1),
        ("mqm", "without English", 1),
        ("da", "all", 3),
        ("da", "into English", 1),
        ("da", "from English", 1),
        ("da", "without English", 1),
    ]
    alone = deltas(reading(simulated_warehouse), Slice("sim22", "cs-uk", human="mqm"), "simBLEU", Options(), QUICK)
    assert alone.frame.select("protocol", "direction").unique().rows() == [("mqm", "all")]


@pytest.mark.slow
def test_only_pairs_that_people_tell_apart_count_when_asked(simulated_warehouse: Warehouse) -> None:
    everything = deltas(reading(simulated_warehouse), CS_UK, "simBLEU", Options(), QUICK).frame
    apart = deltas(reading(simulated_warehouse), CS_UK, "simBLEU", Options(), replace(QUICK, human_alpha=0.05)).frame
    for whole, part in zip(everything.rows(named=True), apart.rows(named=True), strict=True):
        assert part["n_not_significant"] > 0
        n_pairs = part["n_pairs"] + part["n_not_significant"] + part["n_untested"]
        assert whole["n_pairs"] + whole["n_human_ties"] == n_pairs
        assert part["overall"] > whole["overall"]


def test_the_frame_says_what_is_not_reached_and_extrapolates_nothing(simulated_warehouse: Warehouse) -> None:
    frame = deltas(reading(simulated_warehouse), CS_UK, "Dice", Options(), QUICK).frame
    assert frame["delta"].null_count() > 0
    assert (frame["delta"].is_null() == frame["reason"].is_not_null()).all()
    reached = frame.filter(frame["delta"].is_not_null())
    assert (reached["n_at_least"] <= reached["n_pairs"]).all()


def test_the_agreement_fitted_at_delta_is_not_the_share_of_all_pairs_beyond_it(simulated_warehouse: Warehouse) -> None:
    asked = Slice("sim24", "en-de")
    found = deltas(reading(simulated_warehouse), asked, "simBLEU", Options(), QUICK)
    (pairs, *_), _ = read_pairs(
        reading(simulated_warehouse), asked, Options(), tested=False, each_protocol=True, metric="simBLEU"
    )
    apart = pairs.human_gaps != 0
    gaps, agrees = pairs.metric_gaps[0][apart], (np.sign(pairs.metric_gaps[0]) == np.sign(pairs.human_gaps))[apart]
    for row in found.frame.drop_nulls("delta").to_dicts():
        beyond = np.abs(gaps) >= row["delta"] - 1e-9
        assert (row["n_at_least"], row["n_agreeing"]) == (beyond.sum(), agrees[beyond].sum())
        assert row["n_agreeing"] / row["n_at_least"] >= row["agreement"]
        assert (
            f"agree with {row['n_agreeing']} of {row['n_at_least']} pairs of systems at least that far apart, "
            in (in_a_sentence(found.frame.filter(agreement=row["agreement"]))[0])
        )
        assert (
            f"{agrees[~beyond].sum()} of {(~beyond).sum()} others."
            in (in_a_sentence(found.frame.filter(agreement=row["agreement"]))[0])
        )


def test_two_systems_are_too_few_and_the_answer_says_so_first(simulated_warehouse: Warehouse) -> None:
    two = Slice("sim24", "en-de", systems=("[AB]*",))
    found = deltas(reading(simulated_warehouse), two, "simBLEU", Options(), QUICK)
    assert found.frame["n_pairs"].unique().to_list() == [1]
    assert found.notes[0] == (
        "mqm of 2024 has too few systems for an answer: 80% takes at least 5 pairs of systems, and there is 1"
    )
    assert found.frame["reason"].to_list() == [
        f"{level}% takes at least {n} pairs of systems, and there is 1" for level, n in ((80, 5), (90, 10), (95, 20))
    ]


def test_results_depend_on_seed_and_data_alone(simulated_warehouse: Warehouse) -> None:
    first, again = (
        metaeval.deltas(simulated_warehouse, "sim24", "en-de", "simBLEU", resamples=20).frame for _ in range(2)
    )
    assert first.equals(again)
    other = metaeval.deltas(simulated_warehouse, "sim24", "en-de", "simBLEU", resamples=20, seed=1).frame
    assert other["delta"].equals(first["delta"])
    assert not other.equals(first)


def test_sets_on_another_scale_are_left_out() -> None:
    sets = [made_pairs("a", 60.0), made_pairs("b", 0.6), made_pairs("c", 70.0)]
    kept, notes = _on_one_scale(sets)
    assert [one.testset for one in kept] == ["a", "c"]
    assert notes[0].startswith(
        "1 of 3 evaluation sets is excluded, whose scores are on another scale than most pairs: b en-de"
    )


def test_only_the_newest_model_of_a_name_counts() -> None:
    years = {"wmt20": 2020, "wmt22": 2022, "wmt23": 2023, "mine": None}
    comet = [made_pairs(testset, 1.0, metric="COMET") for testset in years]
    kept, notes = _of_one_version(comet, years)
    assert [one.testset for one in kept] == ["wmt23"]
    assert notes == ["only COMET's version 22 is used, not that of wmt20 (version 20); mine, wmt22 (version unknown)"]
    assert _of_one_version(comet[:1], years) == (comet[:1], [])
    unlisted = [made_pairs(testset, 1.0, metric="Mine") for testset in years]
    assert _of_one_version(unlisted, years) == (unlisted, [])
    assert _of_one_version([], years) == ([], [])


def test_other_spellings_of_a_metric_count_and_are_named() -> None:
    sets = [
        made_pairs("a", 1.0, metric="chrF"),
        made_pairs("b", 1.0, metric="chrf"),
        made_pairs("c", 1.0, metric="chrf"),
    ]
    assert _spelled(sets, "chrF") == ["chrf of b, c counts as chrF"]
    assert _spelled(sets[1:], "chrf-refA") == []


def test_the_newest_protocol_comes_first_and_of_these_the_official_one() -> None:
    sets = [made_pairs("new", 1.0, human="esa"), made_pairs("new", 1.0, human="da")]
    sets += [made_pairs("new", 1.0, human="mqm"), made_pairs("old", 1.0, 9, human="a")]
    official = {"new en-de": "mqm", "old en-de": "a"}
    found = _by_protocol(sets, official, {"new": 2023, "old": 2020})
    assert [protocol for protocol, _, _ in found] == ["mqm", "da", "esa", "a"]
    assert _by_protocol(sets, official, {"new": None, "old": 2020})[0][0] == "a"


def test_an_interval_of_nearly_everything_is_said_to_be_unknown(simulated_warehouse: Warehouse) -> None:
    near = DeltaSettings(resamples=50, difference=0.5)
    found = deltas(reading(simulated_warehouse), Slice("sim24", "en-de"), "simBLEU", Options(), near)
    curve = pl.DataFrame({"difference": [0.5, 1.25, 2.0], "low": [0.45, 0.6, 0.7]})
    wide = found.frame.with_columns(agreement=pl.lit(0.5), low=pl.lit(0.1), high=pl.lit(0.95))
    first, second = at_in_a_sentence(wide, {"mqm": curve})
    assert first.startswith("Not known: human scores may agree with anything from 10% to 95% of ")
    assert second == "From 1.25 on, it is 97.5% certain that they agree with most."
    first, second = at_in_a_sentence(wide.with_columns(low=pl.lit(0.45)), {"mqm": curve.head(1)})
    assert first.startswith("Human scores agree with 50% [45%, 95%] of pairs with a difference ")
    assert second == "At no difference seen is it 97.5% certain that they agree with most."
    assert at_in_a_sentence(wide.with_columns(low=pl.lit(0.51)), {"mqm": curve})[1] == ""


def test_the_difference_from_which_most_agree_is_the_last_one_where_the_band_reaches_a_half() -> None:
    dips = pl.DataFrame({"difference": [1.0, 2.0, 3.0, 4.0], "low": [0.6, 0.5, 0.51, 0.9]})
    assert _least_with_most(dips).startswith("From 3 on, ")
    assert _least_with_most(dips.tail(2)).startswith("From 3 on, ")
    assert _least_with_most(dips.head(2)).startswith("At no difference ")


def _as_if(block: Block, testset: str, metric: str, factor: float, *, is_own: bool = False) -> Block:
    """The block of one metric under another name, and in another test set, with its scores multiplied."""
    (choice,) = block.metrics
    selection = replace(block.selection, slice=replace(block.selection.slice, testset=testset))
    return replace(
        block,
        selection=selection,
        metrics=(replace(choice, base_name=metric, is_own=is_own),),
        scores=block.scores * factor,
        submitted=block.submitted * factor,
    )


def test_scores_of_years_that_are_known_to_run_from_0_to_1_stand_on_the_usual_scale(
    simulated_warehouse: Warehouse,
) -> None:
    block = Inputs(simulated_warehouse, Slice("sim24", "en-de", metrics=("simBLEU",))).of_level("sys")
    usual = pairs_of(block, Options(), tested=False)
    assert usual.largest[0] > 1
    for testset, metric in (("wmt19", "BLEU"), ("wmt19", "sacreBLEU-BLEU"), ("wmt20", "chrF")):
        one = pairs_of(_as_if(block, testset, metric, 0.01), Options(), tested=False)
        np.testing.assert_allclose(one.metric_gaps, usual.metric_gaps, atol=1e-12)
        assert one.factors.tolist() == [100]
        assert _converted([one], metric) == [f"{metric} of {testset} runs from 0 to 1 and was multiplied by 100"]
    for testset, metric, factor, is_own in (
        ("wmt20", "BLEU", 0.01, False),  # nothing is known: nothing is guessed
        ("wmt19", "chrF", 0.01, False),
        ("wmt19", "BLEU", 1, False),  # not what was released
        ("wmt19", "BLEU", 0.01, True),  # the user's own
    ):
        one = pairs_of(_as_if(block, testset, metric, factor, is_own=is_own), Options(), tested=False)
        np.testing.assert_allclose(one.metric_gaps, usual.metric_gaps * factor, atol=1e-12)
        assert _converted([one], metric) == []


@pytest.mark.parametrize("more", [{}, {"difference": 0.4}])
def test_the_answer_says_that_scores_were_multiplied(
    simulated_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, more: dict[str, float]
) -> None:
    asked = partial(metaeval.deltas, simulated_warehouse, "sim24", "all", "simBLEU", resamples=20, **more)
    before = asked().summary
    text = "simBLEU of sim24 runs from 0 to 1 and was multiplied by 100"
    monkeypatch.setattr("metaeval.studies.pairs.deltas._converted", lambda *_: [Decisive(text, "×", "")])
    found = asked()
    assert text in found.notes
    assert found.summary.startswith(before.partition(": ")[0])
    assert found.summary.endswith((f" {text}.", " Scores × 100."))
    assert len(found.summary) <= LONGEST


def test_the_answer_names_its_years_and_the_safe_difference(simulated_warehouse: Warehouse) -> None:
    found = deltas(reading(simulated_warehouse), Slice("all", "en-de", human="mqm"), "simBLEU", Options(), QUICK)
    row = found.frame.row(0, named=True)
    assert row["years"] == ", ".join(sorted(row["years"].split(", ")))
    safe = "none among the observed differences" if row["safe"] is None else f"{row['safe']:.3g}"
    n, n_others = row["n_at_least"], row["n_pairs"] - row["n_at_least"]
    others = round(row["overall"] * row["n_pairs"]) - row["n_agreeing"]
    assert found.notes[0] == (
        f"mqm of {row['years']}: fitted agreement reaches 80% at a difference of {row['delta']:.3g} simBLEU; "
        f"human scores agree with {row['n_agreeing']} of {n} pairs of systems at least that far apart, "
        f"{others} of {n_others} others; safe difference: {safe}"
    )


def test_human_scores_of_systems_alone_have_no_tested_pairs(simulated_warehouse: Warehouse) -> None:
    (pairs, *_), notes = read_pairs(
        reading(simulated_warehouse), Slice("sim24", "cs-uk"), Options(), tested=True, each_protocol=False
    )
    assert notes == []
    assert not np.isnan(pairs.p).any()
    untested, _ = read_pairs(
        reading(simulated_warehouse), Slice("sim24", "cs-uk"), Options(), tested=False, each_protocol=False
    )
    assert np.isnan(untested[0].p).all()


@pytest.mark.parametrize(
    ("asked", "metric", "what", "message"),
    [
        (CS_UK, "simBLEV", QUICK, "unknown metric 'simBLEV'.*did you mean 'simBLEU'"),
        (Slice("sim29", "all"), "simBLEU", QUICK, "unknown test set"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    asked: Slice, metric: str, what: DeltaSettings, message: str, simulated_warehouse: Warehouse
) -> None:
    with pytest.raises(QuestionError, match=message):
        deltas(reading(simulated_warehouse), asked, metric, Options(), what)
