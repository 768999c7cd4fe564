"""Metrics against preferences: by hand, against a naive loop, through take, the questions and the cache."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metaeval
from benchmarks.null_worlds import block_of, null_world, simulated_pair
from metaeval.kernels.agreement.preferences import best_preference_thresholds, preference_pair_counts
from metaeval.kernels.resampling.bootstrap import bootstrap
from metaeval.measures.judged import Units
from metaeval.measures.options import Options, Test, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.results.cache import content
from metaeval.results.evaluation import evaluate
from metaeval.results.inputs import Inputs
from metaeval.studies.protocols import protocol_named
from metaeval.studies.significance.comparison import compare_block
from metaeval.studies.significance.metric_tests import chosen
from queries.blocks import Block
from queries.preference_blocks import differences_in
from queries.preferences import NOBODY
from queries.slices import Slice
from tests.sharing import made_once
from warehouse import QuestionError, Warehouse, load
from warehouse.readers.claims import LoadHints

TAUS = ("tau_rr(ties=wmt12)", "tau_rr(ties=wmt13)", "tau_rr")
SCORES = {1: {"X": 3.0, "Y": 2.0, "Z": 2.0}, 2: {"X": 1.0, "Y": 2.0}}
# M: segment 1 right, right again, a tie of the metric, a tie of people; segment 2 wrong
PEOPLE = "1,X,Y,X\n1,Y,X,X\n1,Y,Z,Z\n1,X,Z,tie\n2,X,Y,X\n"
JUDGE = "1,X,Y,X\n1,Y,X,tie\n1,Z,Y,Z\n1,X,Z,tie\n2,Y,X,X\n"
"""To the first pair it gave two answers, one in each order: half for X. It agrees with people throughout."""


def _lab(folder: Path) -> None:
    (folder / "people.csv").write_text("segment,system_a,system_b,answer\n" + PEOPLE)
    (folder / "judge.csv").write_text(
        "metric,segment,system_a,system_b,answer\n" + "".join(f"J,{row}\n" for row in JUDGE.splitlines())
    )
    rows = [f"{s},{n},{v}\n" for n, each in SCORES.items() for s, v in each.items()]
    (folder / "m.csv").write_text("metric,system,segment,score\n" + "".join(f"M,{row}" for row in rows))
    files = [folder / name for name in ("people.csv", "judge.csv", "m.csv")]
    load(files, folder / "w.duckdb", given=LoadHints(testset="lab", lp="en-de", human="arena"))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "lab of preferences", _lab) / "w.duckdb"


def _ranked(database: Path, *measures: str, **more: object) -> dict[tuple[str, str], float]:
    with Warehouse.open(database) as warehouse:
        frame = metaeval.rank(warehouse, "lab", "en-de", measures=measures, status="all", **more).frame
    return {row[:2]: row[2] for row in frame.select("base_metric", "measure", "value").iter_rows()}


def test_every_tau_and_the_accuracy_are_those_worked_out_by_hand(lab: Path) -> None:
    found = _ranked(lab, *TAUS, "acc_rr", "acc_rr(epsilon=0)")
    # C, D, Tm = 2, 1, 1 of the pairs that people order
    assert [found["M", measure] for measure in TAUS] == pytest.approx([0, 1 / 3, 1 / 4])
    assert found["M", "acc_rr(epsilon=0)"] == pytest.approx(2 / 5)
    assert found["M", "acc_rr"] == pytest.approx(2 / 5)


def test_a_judge_is_ranked_by_its_answers_in_both_orders_and_not_by_shares_of_wins(lab: Path) -> None:
    found = _ranked(lab, "tau_rr", "acc_rr")
    assert found["J", "tau_rr"] == 1.0
    assert found["J", "acc_rr"] == 1.0


def test_whatever_system_scores_are_made_of_preferences_the_segments_are_the_same(lab: Path) -> None:
    assert _ranked(lab, "tau_rr", human="arena:ew") == _ranked(lab, "tau_rr")


@pytest.mark.slow
def test_a_judge_without_some_answers_is_excluded_and_the_intersection_keeps_it(tmp_path: Path, lab: Path) -> None:
    (tmp_path / "w.duckdb").write_bytes(lab.read_bytes())
    (tmp_path / "k.csv").write_text("metric,segment,system_a,system_b,answer\nK,1,X,Y,X\nK,1,Y,Z,tie\n")
    load([tmp_path / "k.csv"], tmp_path / "w.duckdb", given=LoadHints(testset="lab", lp="en-de"))
    assert ("K", "tau_rr") not in _ranked(tmp_path / "w.duckdb", "tau_rr")
    # in common: X against Y twice and Y against Z, on segment 1
    assert _ranked(tmp_path / "w.duckdb", "tau_rr", intersection=True)["K", "tau_rr"] == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def world() -> Block:
    rng = np.random.default_rng(3)
    block = block_of(null_world(simulated_pair(rng), "segments", rng))
    block = block.take(segments=np.arange(60))
    return replace(block, scores=np.round(block.scores))


def _naive(block: Block, epsilon: float = 0.0) -> tuple[int, int, int, int, int]:
    """C, D, Th, Tm, Thm of the first metric, pair by pair."""
    found, counts = block.preferences, [0] * 5
    assert found is not None
    for a, b, s, answer in zip(found.first, found.second, found.segment, found.answer, strict=True):
        gap = block.scores[0, a, s] - block.scores[0, b, s]
        says = 0 if abs(gap) <= epsilon else (1 if gap > 0 else -1)
        place = (4 if says == 0 else 2) if answer == 0 else 3 if says == 0 else 0 if says == answer else 1
        counts[place] += 1
    return tuple(counts)  # type: ignore[return-value]


def test_values_are_those_of_a_naive_loop(world: Block) -> None:
    c, d, _, t, _ = _naive(world)
    naive = ((c - d - t) / (c + d + t), (c - d) / (c + d), (c - d) / (c + d + t))
    found = [evaluate(parse_measure(measure), world, Options()).value[0] for measure in TAUS]
    assert found == pytest.approx(naive)
    best = max(((n := _naive(world, step))[0] + n[4], -step) for step in range(8))
    one = evaluate(parse_measure("acc_rr"), world, Options())
    assert (one.value[0], one.epsilon[0]) == pytest.approx((best[0] / sum(_naive(world)), -best[1]))


def test_resampled_segments_are_those_of_blocks_that_have_them(world: Block) -> None:
    """The kernel adds up counts; a block with repeated segments has copies of their preferences."""
    picks = np.random.default_rng(5).integers(0, 60, (4, 60))
    for text in (*TAUS, "acc_rr(epsilon=1)"):
        measure = parse_measure(text)
        statistic = measure.resampled(world, Options(), None)
        slow = [evaluate(measure, world.take(segments=row), Options()).value for row in picks]
        np.testing.assert_allclose(statistic.values(None, picks, 4), slow)
        drawn = bootstrap(statistic, "inputs", rng=np.random.default_rng(1), n_draws=5)
        np.testing.assert_allclose(drawn.values, evaluate(measure, world, Options()).value)


BY_ANNOTATOR = Units("annotator", 10)


def test_resampled_annotators_are_those_of_blocks_that_have_their_preferences_as_often(world: Block) -> None:
    found = world.preferences
    assert found is not None
    assert len(np.unique(found.rater)) == BY_ANNOTATOR.n
    picks = np.random.default_rng(6).integers(0, 10, (4, 10))
    for text in (*TAUS, "acc_rr(epsilon=1)"):
        measure = parse_measure(text)
        slow = []
        for row in picks:
            places = np.concatenate([np.flatnonzero(found.rater == one) for one in row])
            drawn = replace(world, preferences=found.only(places))
            slow.append(evaluate(measure, drawn, Options()).value)
        statistic = measure.as_resampled(BY_ANNOTATOR).resampled(world, Options(), None)
        np.testing.assert_allclose(statistic.values(None, picks, 4), slow)


@given(st.sets(st.integers(0, 9)))
def test_swapped_annotators_have_the_outcomes_of_the_other_metric(world: Block, swapped: set[int]) -> None:
    found, gaps = differences_in(world)
    is_swapped = np.isin(found.rater, sorted(swapped))
    hybrid = np.sign(np.where(is_swapped, gaps[1], gaps[0]))
    ordered = found.answer != 0
    c, d = ((hybrid[ordered] == side * found.answer[ordered]).sum() for side in (1, -1))
    swaps = np.zeros((1, 10), dtype=np.bool_)
    swaps[0, sorted(swapped)] = True
    statistic = parse_measure("tau_rr").as_resampled(BY_ANNOTATOR).swapped(world, "inputs", Options(), None)
    value = statistic.offset + statistic.scale * statistic.hybrids(swaps)[0, 0, 1]
    assert value == pytest.approx((c - d) / ordered.sum())


def test_annotators_are_the_unit_where_there_are_enough_and_all_are_known(world: Block) -> None:
    found, measure = world.preferences, parse_measure("tau_rr")
    assert found is not None
    assert measure.units(world, "annotator") == BY_ANNOTATOR
    few = replace(world, preferences=found.only(found.rater < 5))
    with pytest.raises(QuestionError, match=r"preferences by 5 annotators, and unit='annotator' needs at least 6"):
        measure.units(few, "annotator")
    rater = np.where(found.segment < 2, NOBODY, found.rater)
    with pytest.raises(QuestionError, match=r"20 preferences of world xx-yy of unknown annotators"):
        measure.units(replace(world, preferences=replace(found, rater=rater)), "annotator")
    with pytest.raises(QuestionError, match=r"takes measures of preferences \(tau_rr, acc_rr\), not 'pearson'"):
        parse_measure("pearson").units(world, "annotator")


@pytest.mark.parametrize("test", ["perm-inputs", "jackknife-segments", "bootstrap-normal", "bootstrap"])
def test_a_test_by_annotator_says_so_and_is_of_annotators(world: Block, test: Test) -> None:
    testing = TestOptions(test=test, unit="annotator", resamples=200, threads=1)
    found, by_segment = (
        compare_block(world, parse_measure("tau_rr"), Options(), chosen(parse_measure("tau_rr"), world, Options(), one))
        for one in (testing, replace(testing, unit="segment"))
    )
    assert found.values.tolist() == by_segment.values.tolist()
    assert found.p[0, 1] != by_segment.p[0, 1]
    assert found.generalises_to == "new annotators of these systems"
    assert "tested by annotator (10 annotators)" in found.notes[0]
    assert dict(found.parts)["unit"] == "annotator"
    assert dict(found.parts)["n_units"] == "10"


def test_systems_that_are_taken_twice_have_all_pairs_of_their_copies(world: Block) -> None:
    found = world.preferences
    assert found is not None
    places = [0, 1, 1, 5]
    wanted = sorted(
        (a, b, int(s), int(answer))
        for first, second, s, answer in zip(found.first, found.second, found.segment, found.answer, strict=True)
        for a, b in product(range(4), range(4))
        if (places[a], places[b]) == (first, second)
    )
    taken = world.take(systems=places).preferences
    assert taken is not None
    got = zip(taken.first.tolist(), taken.second.tolist(), taken.segment.tolist(), taken.answer.tolist(), strict=True)
    assert sorted(got) == wanted
    assert taken.systems == tuple(world.systems[place] for place in places)


def test_swapping_the_two_outputs_of_every_preference_changes_nothing(world: Block) -> None:
    found = world.preferences
    assert found is not None
    turned = replace(world, preferences=replace(found, first=found.second, second=found.first, answer=-found.answer))
    for text in (*TAUS, "acc_rr"):
        one, other = (evaluate(parse_measure(text), block, Options()) for block in (world, turned))
        np.testing.assert_array_equal(one.value, other.value)


def test_a_stored_result_belongs_to_its_preferences(world: Block) -> None:
    found = world.preferences
    assert found is not None
    answer = found.answer.copy()
    answer[0] = 1 if answer[0] < 1 else -1
    assert content(world) != content(replace(world, preferences=replace(found, answer=answer)))


def test_thresholds_are_the_smallest_of_the_best() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        gaps, answer = rng.integers(-3, 4, (1, 12)).astype(float), rng.integers(-1, 2, 12)
        right = {}
        for epsilon in (0.0, 1.0, 2.0, 3.0):
            counts = preference_pair_counts(gaps, answer, np.zeros(12), epsilon)
            right[epsilon] = int((counts.n_concordant + counts.n_tied_both).sum())
        best = min(epsilon for epsilon in right if right[epsilon] == max(right.values()))
        assert best_preference_thresholds(gaps, answer).tolist() == [best]


def test_a_missing_score_of_a_compared_output_is_refused() -> None:
    with pytest.raises(ValueError, match="no score for an output"):
        preference_pair_counts([[np.nan]], [1], [1])


def test_preferences_are_those_of_the_slice(lab: Path) -> None:
    with Warehouse.open(lab) as warehouse:
        block = Inputs(warehouse, Slice("lab", "en-de", systems=("X", "Y"), status="all")).of_preferences()
    found, gaps = differences_in(block)
    assert (found.systems, len(found), gaps.shape) == (("X", "Y"), 3, (2, 3))
    assert pl.Series(found.segment).n_unique() == 2


def test_protocols_of_ranked_years_score_preferences_and_elsewhere_scores(lab: Path) -> None:
    with Warehouse.open(lab) as warehouse:
        ranked = metaeval.protocol(warehouse, "wmt12", on="lab", lp=("en-de",), all_metrics=True, level="seg")
    assert ranked.frame.columns == ["rank", "metric", "overall", "en-de tau_rr(ties=wmt12)"]
    rules = {name: [str(rule.measure) for rule in protocol_named(name).rules] for name in ("wmt12", "wmt13", "wmt15")}
    assert [one[1] for one in rules.values()] == list(TAUS)
    assert {name: one[0] for name, one in rules.items()} == {
        "wmt12": "spearman",
        "wmt13": "spearman",
        "wmt15": "pearson",
    }
