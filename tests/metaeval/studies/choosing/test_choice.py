"""Segments chosen from a simulated task: orders, budgets, texts, and what is refused."""

import itertools

import numpy as np
import polars as pl
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from metaeval.studies.choosing.choice import ChoiceSettings, choose
from metaeval.studies.choosing.methods import METHODS, chrf_similarity, unigram_similarity
from metaeval.studies.choosing.replay import PERCENT, replay
from queries.slices import Slice
from tests.helpers import reading
from warehouse import QuestionError, Warehouse

SET = Slice("sim24", "en-de")


def _scores(warehouse: Warehouse, metric: str) -> pl.DataFrame:
    return warehouse.sql(
        "SELECT system, segment, value FROM scores WHERE (testset, lp, metric) = ('sim24', 'en-de', $metric)",
        {"metric": metric},
    )


def test_variance_and_mean_are_those_of_sql(simulated_warehouse: Warehouse) -> None:
    chosen = choose(reading(simulated_warehouse), SET, ChoiceSettings(metric="simBLEU"))
    systems = {part.split(":")[0]: part.split(":")[1] for part in chosen.signature.split("|")}["n_systems"]
    frame = chosen.frame
    (metric,) = simulated_warehouse.rows(
        "SELECT DISTINCT metric FROM scores WHERE (testset, lp) = ('sim24', 'en-de') AND metric LIKE 'simBLEU-refA%'"
    )[0]
    by_segment = (
        _scores(simulated_warehouse, metric)
        .filter(pl.col("system").is_in(_systems(simulated_warehouse)))
        .group_by("segment")
        .agg(pl.col("value").var(ddof=0), n=pl.len())
    )
    assert set(by_segment["n"]) == {int(systems)}
    expected = dict(by_segment.select("segment", "value").iter_rows())
    assert frame["utility"].to_list() == pytest.approx([expected[segment] for segment in frame["segment"]])
    assert frame["utility"].is_sorted(descending=True)
    assert frame["order"].to_list() == list(range(1, frame.height + 1))


def _systems(warehouse: Warehouse) -> list[str]:
    return [
        name
        for (name,) in warehouse.rows(
            "SELECT name FROM participants WHERE (testset, lp, level, kind) = ('sim24', 'en-de', 'seg', 'system') "
            "AND reason IS NULL"
        )
    ]


@pytest.mark.slow
def test_budgets_hold_for_every_method_and_unit(simulated_warehouse: Warehouse) -> None:
    every = choose(reading(simulated_warehouse), SET, ChoiceSettings()).frame
    n_whole = dict(every.group_by("document").len().iter_rows())
    budgets = (("segments", 20), ("words", 150), ("minutes", 60))
    of_a_method = [("metric_var", unit, *one) for unit in ("segment", "document") for one in budgets]
    for method, unit, budget, size in (*of_a_method, *((method, "document", "words", 150) for method in METHODS)):
        what = ChoiceSettings(method=method, unit=unit, budget=budget, size=size, words_per_minute=30)  # type: ignore[arg-type]
        frame = choose(reading(simulated_warehouse), SET, what).frame
        assert 0 < frame["cost"].sum() <= size, what
        if unit == "document":
            n_chosen = dict(frame.group_by("document").len().iter_rows())
            assert n_chosen == {document: n_whole[document] for document in frame["document"]}, what


@pytest.mark.slow
def test_texts_are_those_of_each_chosen_segment_and_system(simulated_warehouse: Warehouse) -> None:
    found = choose(reading(simulated_warehouse), SET, ChoiceSettings(size=7), with_texts=True)
    assert found.facts["texts"]["segment"].n_unique() == 7
    assert set(found.facts["texts"]["segment"]) == set(found.frame["segment"])
    assert set(found.facts["texts"]["system"]) == set(_systems(simulated_warehouse))
    assert found.facts["texts"].height == 7 * len(_systems(simulated_warehouse))
    assert found.facts["texts"]["source"].null_count() == found.facts["texts"]["output"].null_count() == 0
    for row in found.facts["texts"].sample(5, seed=0).rows(named=True):
        ((text,),) = simulated_warehouse.rows(
            "SELECT text FROM texts WHERE (testset, lp, kind) = ('sim24', 'en-de', 'output') AND name = $system "
            "AND segment = $segment",
            {"system": row["system"], "segment": row["segment"]},
        )
        assert text == row["output"]


def test_chance_needs_no_scores_and_other_seeds_choose_others(simulated_warehouse: Warehouse) -> None:
    one, other = (
        choose(reading(simulated_warehouse), SET, ChoiceSettings(method="random", size=10, seed=seed))
        .frame["segment"]
        .to_list()
        for seed in (0, 1)
    )
    assert one != other
    assert (
        one
        == choose(reading(simulated_warehouse), SET, ChoiceSettings(method="random", size=10))
        .frame["segment"]
        .to_list()
    )


def test_all_segments_are_candidates_on_request(simulated_warehouse: Warehouse) -> None:
    annotated, every = (
        choose(reading(simulated_warehouse), SET, ChoiceSettings(candidates=among)).frame.height  # type: ignore[arg-type]
        for among in (None, "all")
    )
    ((n,),) = simulated_warehouse.rows("SELECT count(*) FROM segments WHERE (testset, lp) = ('sim24', 'en-de')")
    assert annotated < every == n


def test_words_that_two_outputs_share_count_once_for_each() -> None:
    assert unigram_similarity(["a a b", "a b b"]) == pytest.approx(4 / 6)
    assert unigram_similarity(["", "a"]) == 1.0


@given(st.lists(st.text("ab é"), min_size=1, max_size=4))
def test_similarity_by_characters_is_the_mean_of_sacrebleu_s_sentence_chrf(outputs: list[str]) -> None:
    pairs = itertools.product(outputs, outputs)
    mean = np.average([sacrebleu.sentence_chrf(one, [other]).score for one, other in pairs])
    assert chrf_similarity(outputs) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (ChoiceSettings(metric="simBLUE"), "unknown metric 'simBLUE'"),
        (ChoiceSettings(method="diversity", metric="simBLEU"), "diversity takes no metric"),
        (ChoiceSettings(size=-1), "budget -1"),
        (ChoiceSettings(budget="minutes", size=5), "how many words of the source an annotator judges"),
        (ChoiceSettings(budget="words", size=0.5), "a budget of 0.5 words is too small for one segment"),
    ],
)
def test_what_cannot_be_chosen_is_refused(simulated_warehouse: Warehouse, what: ChoiceSettings, words: str) -> None:
    with pytest.raises(QuestionError, match=words):
        choose(reading(simulated_warehouse), SET, what)


@pytest.mark.slow
def test_a_replay_has_all_sizes_with_the_spread_of_chance(simulated_warehouse: Warehouse) -> None:
    found = replay(reading(simulated_warehouse), SET, ChoiceSettings(), draws=4)
    assert {one.method for one in found.facts["campaigns"]} == set(METHODS) - {"random"}
    for one in found.facts["campaigns"]:
        assert one.sizes == tuple(one.n_segments * percent // 100 for percent in PERCENT)
        assert one.random.shape == (4, 3, len(PERCENT))
        assert (np.abs(one.values[1]) <= 1).all()
        assert ((one.values[2] >= 0) & (one.values[2] <= 1)).all()
    frame = found.frame
    assert frame.height == len(found.facts["campaigns"]) * len(PERCENT)
    assert (frame["spa_gain_low"] <= frame["spa_gain"]).all()
    assert all(
        any(word in note for word in ("better", "worse", "as good"))
        for note in found.notes[: len(found.facts["campaigns"])]
    )


@pytest.mark.slow
def test_chance_is_as_good_as_chance(simulated_warehouse: Warehouse) -> None:
    """Of 20 ways that are chance, the 95% range should hold about 19; 4 outside have p = .016 by the binomial."""
    n_outside = 0
    for seed in range(20):
        what = ChoiceSettings(method="random", size=15, seed=seed)
        (found,) = replay(reading(simulated_warehouse), SET, what, ("random",), draws=40).facts["campaigns"]
        low, high = np.quantile(found.random[:, 2].mean(axis=1), (0.025, 0.975))
        n_outside += not low <= found.values[2].mean() <= high
    assert n_outside <= 4


@pytest.mark.slow
def test_several_sets_are_pooled_with_intervals_over_them(simulated_warehouse: Warehouse) -> None:
    found = replay(
        reading(simulated_warehouse), Slice("sim24", "all"), ChoiceSettings(size=15), ("metric_var",), draws=10
    )
    (row,) = found.frame.rows(named=True)
    gains = np.array([one.gains[2, 0] for one in found.facts["campaigns"]])
    assert row["n_sets"] == len(gains) > 1
    assert row["spa_gain"] == pytest.approx(gains.mean())
    assert row["spa_gain_low"] < row["spa_gain"] < row["spa_gain_high"]
    assert all(str(one.by) in found.notes[0] for one in found.facts["campaigns"])
