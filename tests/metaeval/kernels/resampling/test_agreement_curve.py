"""Agreement by difference: by hand, the max-min formula, resamples in a plain loop, ends that are not reached."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_deltas import LEVELS, World, drawn, truths
from metaeval.kernels.resampling.agreement_curve import PairsOfSet, agreement_curve, agreement_thresholds


def naive_fit(x: list[float], y: list[bool], w: list[float]) -> dict[float, float]:
    """Max over starts up to a place of the min over ends from it on of the weighted mean between them."""
    places = sorted({one for one, weight in zip(x, w, strict=True) if weight > 0})

    def mean(low: float, high: float) -> float:
        inside = [(b, c) for a, b, c in zip(x, y, w, strict=True) if low <= a <= high]
        return math.fsum(b * c for b, c in inside) / math.fsum(c for _, c in inside)

    return {here: max(min(mean(a, b) for b in places if b >= here) for a in places if a <= here) for here in places}


def test_a_fall_is_levelled_to_its_mean() -> None:
    curve = agreement_curve([3, 1, 2, 4], [True, False, True, False])
    assert curve.differences.tolist() == [1, 2, 3, 4]
    assert curve.fitted.tolist() == pytest.approx([0, 2 / 3, 2 / 3, 2 / 3])
    assert curve.at_least.tolist() == [4, 3, 2, 1]


def test_pairs_of_one_difference_are_one_place_whatever_their_order() -> None:
    for agrees in ([True, False], [False, True]):
        curve = agreement_curve([1, 1], agrees)
        assert (curve.differences.tolist(), curve.fitted.tolist()) == ([1], [0.5])


def test_between_differences_the_curve_stays_and_below_the_smallest_it_is_not_known() -> None:
    value = agreement_curve([1, 2], [False, True]).value([0.5, 1, 1.9, 2, 50])
    assert math.isnan(value[0])
    assert value[1:].tolist() == [0, 0, 1, 1]


PAIRS = st.lists(
    st.tuples(st.integers(0, 6).map(float), st.booleans(), st.integers(0, 3).map(float)), min_size=1, max_size=12
).filter(lambda rows: any(weight for _, _, weight in rows))


@given(PAIRS)
def test_the_fit_is_that_of_the_max_min_formula(rows: list[tuple[float, bool, float]]) -> None:
    x, y, w = (list(column) for column in zip(*rows, strict=True))
    curve = agreement_curve(x, y, w)
    assert dict(zip(curve.differences.tolist(), curve.fitted.tolist(), strict=True)) == pytest.approx(
        naive_fit(x, y, w)  # type: ignore[arg-type]
    )


def test_a_level_is_reached_at_the_smallest_difference_from_which_on_enough_pairs_agree() -> None:
    x = [1, *range(2, 22)]
    curve = agreement_curve(x, [False, *[True] * 20])
    assert curve.smallest_difference(0.95) == 2  # 20 pairs are at least 2 apart: as many as 1 / (1 - 0.95)
    assert math.isnan(agreement_curve(x[:-1], [False, *[True] * 19]).smallest_difference(0.95))
    assert agreement_curve(x[:-1], [False, *[True] * 19]).smallest_difference(0.9) == 2


def test_a_level_above_all_that_is_fitted_is_not_reached() -> None:
    assert math.isnan(agreement_curve(range(40), [True, False] * 20).smallest_difference(0.8))


WORLD = World(n_sets=6, n_systems=7)


def naive_intervals(sets: list[PairsOfSet], level: float, rng: np.random.Generator, n: int) -> tuple[float, float]:
    """Systems are taken one by one, and every pair of different systems taken is listed as often as it comes."""
    found = []
    for _ in range(n):
        of_sets = rng.multinomial(len(sets), [1 / len(sets)] * len(sets))
        gaps, agrees, weights = [], [], []
        for one, times in zip(sets, of_sets, strict=True):
            systems = rng.multinomial(one.n_systems, [1 / one.n_systems] * one.n_systems)
            known = {(i, j): k for k, (i, j) in enumerate(zip(one.first.tolist(), one.second.tolist(), strict=True))}
            taken = [system for system, count in enumerate(systems) for _ in range(count)]
            for _ in range(times):
                for a, first in enumerate(taken):
                    for second in taken[a + 1 :]:
                        if (first, second) in known:
                            gaps.append(one.differences[known[first, second]])
                            agrees.append(one.agrees[known[first, second]])
                            weights.append(1.0)
        beyond = 3 * rng.exponential()
        unseen = [*gaps, 1e9], [*agrees, False], [*weights, beyond]  # beyond all differences
        curves = [agreement_curve(gaps, agrees), agreement_curve(*unseen)] if gaps else []
        ends = [curve.smallest_difference(level) for curve in curves] or [math.nan] * 2
        found.append([math.inf if math.isnan(end) or end == 1e9 else end for end in ends])
    low, high = (sorted(ends) for ends in zip(*found, strict=True))
    return low[math.floor(0.025 * (n - 1))], high[math.ceil(0.975 * (n - 1))]


def test_intervals_are_those_of_a_plain_loop() -> None:
    sets = drawn(WORLD, np.random.default_rng(1))
    found = agreement_thresholds(sets, (0.8,), rng=np.random.default_rng(2), n_draws=40).thresholds[0]
    low, high = naive_intervals(sets, 0.8, np.random.default_rng(2), 40)
    assert (found.low, math.inf if math.isnan(found.high) else found.high) == (low, high)
    assert found.difference == agreement_curve(
        np.concatenate([one.differences for one in sets]), np.concatenate([one.agrees for one in sets])
    ).smallest_difference(0.8)


def test_a_level_that_most_resamples_do_not_reach_has_no_upper_end() -> None:
    sets = drawn(World(1, n_systems=5), np.random.default_rng(3))
    found = agreement_thresholds(sets, (0.99,), rng=np.random.default_rng(0), n_draws=50).thresholds[0]
    assert math.isnan(found.difference)  # 10 pairs; 100 would have to agree
    assert math.isnan(found.high)
    assert found.reached < 1


def test_pairs_that_all_agree_do_not_bound_a_level_that_needs_more_of_them() -> None:
    first, second = np.triu_indices(8, 1)  # 28 pairs that agree: fewer than three times the 20 of the level
    one = PairsOfSet(8, first, second, np.linspace(1, 2, 28), np.ones(28, dtype=bool))
    found = agreement_thresholds([one], (0.6, 0.95), rng=np.random.default_rng(0), n_draws=200).thresholds
    assert [threshold.difference for threshold in found] == [1, 1]
    assert not math.isnan(found[0].high)
    assert math.isnan(found[1].high)


def test_the_band_holds_the_curve_and_does_not_fall() -> None:
    sets = drawn(WORLD, np.random.default_rng(4))
    found = agreement_thresholds(sets, (0.8,), rng=np.random.default_rng(0), n_draws=100, n_grid=12)
    at_grid = found.curve.value(found.grid)
    assert (found.low <= found.high).all()
    assert (np.diff(found.low) >= -1e-12).all()
    assert (np.diff(found.high) >= -1e-12).all()
    assert np.mean((found.low <= at_grid) & (at_grid <= found.high)) > 0.9


def test_the_true_curve_of_the_benchmark_is_logistic() -> None:
    assert truths(World(3)).tolist() == pytest.approx([math.log(level / (1 - level)) for level in LEVELS])


@pytest.mark.long("coverage of thresholds in 200 simulated worlds: half a minute")
def test_intervals_hold_the_truth_in_95_per_cent_of_worlds() -> None:
    from benchmarks.bench_deltas import held

    inside, _, _ = held(World(24, spread=0.4), 200)
    assert (inside > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 200)).all()  # three standard errors of the share
