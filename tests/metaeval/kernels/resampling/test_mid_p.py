"""Permutation tests in which resamples that tie with the data count half."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.resampling.draws import Alternative
from metaeval.kernels.resampling.permutation import permutation_test
from metaeval.kernels.resampling.permutation_groups import group_swap
from metaeval.kernels.resampling.permutation_pearson import pearson_swap
from metaeval.kernels.resampling.permutation_system import accuracy_swap, system_swap
from metaeval.kernels.resampling.prepared import SwapStatistic

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Sums(SwapStatistic):
    """Sums of units (M, U), swapped one by one."""

    units: Floats

    def hybrids(self, swaps: npt.NDArray[np.bool_]) -> Floats:
        own, other = self.units[:, np.newaxis], self.units[np.newaxis]
        taken = np.where(swaps[:, np.newaxis, np.newaxis], other, own)
        return np.asarray(taken.sum(axis=-1), dtype=np.float64)


def sums(units: list[list[float]]) -> Sums:
    array = np.array(units)
    return Sums(n_metrics=len(array), mask_shape=(array.shape[1],), units=array)


def p_of(statistic: SwapStatistic, alternative: Alternative, *, mid_p: bool, n_draws: int = 200) -> Floats:
    found = permutation_test(
        statistic, rng=np.random.default_rng(3), n_draws=n_draws, alternative=alternative, mid_p=mid_p, n_threads=1
    )
    return found.p


def test_two_metrics_that_differ_on_one_unit_by_hand() -> None:
    """Swapped or not, the difference is 1 or -1: all draws tie two-sided, those that do not swap one-sided."""
    statistic = sums([[1.0, 0.0], [0.0, 0.0]])
    assert p_of(statistic, "two-sided", mid_p=False)[0, 1] == 1.0
    assert p_of(statistic, "two-sided", mid_p=True)[0, 1] == 0.5
    whole, half = (p_of(statistic, "greater", mid_p=mid_p) for mid_p in (False, True))
    assert 0.4 < whole[0, 1] < 0.6
    assert half[0, 1] == whole[0, 1] / 2
    assert half[1, 0] == 1 - whole[0, 1] / 2  # of the worse one all are as extreme, and the same draws tie


def test_four_units_of_one_by_hand() -> None:
    """Differences are 4, 2, 0, -2, -4 in 1, 4, 6, 4, 1 of 16 swaps; two of the 16 tie with the observed 4."""
    half = p_of(sums([[1.0] * 4, [0.0] * 4]), "two-sided", mid_p=True, n_draws=20_000)
    assert abs(half[0, 1] - 1 / 16) < 0.01


def test_metrics_of_one_value_do_not_differ_at_all() -> None:
    """A difference of 0 ties in both directions, so two halves make a whole."""
    statistic = sums([[1.0, 0.0], [0.0, 1.0]])
    assert p_of(statistic, "two-sided", mid_p=True)[0, 1] == 1.0
    assert p_of(statistic, "two-sided", mid_p=False)[0, 1] == 1.0


def made(seed: int) -> tuple[Floats, Floats]:
    """Whole-numbered scores of few systems: accuracies that tie."""
    rng = np.random.default_rng(seed)
    human = rng.integers(-3, 1, (5, 8)).astype(float)
    human[rng.random(human.shape) < 0.1] = np.nan
    human[:, 0] = 0.0
    return human, rng.integers(-3, 1, (3, 5, 8)).astype(float)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_p_equals_a_plain_count_in_fractions(alternative: Alternative, seed: int) -> None:
    human, metrics = made(seed)
    found = permutation_test(
        accuracy_swap(human, metrics, "inputs"),
        rng=np.random.default_rng(seed),
        n_draws=120,
        alternative=alternative,
        mid_p=True,
        keep_null=True,
        n_threads=1,
    )
    for row, (a, b) in enumerate(zip(*np.triu_indices(3, 1), strict=True)):
        for sign, one, other in ((1, a, b), (-1, b, a)):
            observed = Fraction(found.values[one] - found.values[other]).limit_denominator(10**4)
            count = Fraction(0)
            for drawn in found.null[row]:
                difference = sign * Fraction(drawn).limit_denominator(10**4)
                sides = [(difference, observed)]
                if alternative == "two-sided":
                    sides = [(difference, abs(observed)), (-difference, abs(observed))]
                count += sum(Fraction(d > o) + Fraction(d == o) / 2 for d, o in sides)
            assert found.p[one, other] == pytest.approx(float(count / 120), abs=1e-12)


@given(seed=st.integers(0, 2**32 - 1), system=st.booleans())
def test_one_sided_halves_of_both_directions_are_all_draws(seed: int, system: bool) -> None:
    human, metrics = made(seed)
    statistic = system_swap(human, metrics, "kendall", "inputs") if system else accuracy_swap(human, metrics, "inputs")
    found = permutation_test(
        statistic, rng=np.random.default_rng(seed), n_draws=60, mid_p=True, keep_null=True, n_threads=1
    )
    whole = permutation_test(statistic, rng=np.random.default_rng(seed), n_draws=60, n_threads=1)
    there = ~np.isnan(found.p)
    assert found.null is not None
    n_undefined = np.isnan(found.null).sum(axis=1)
    upper = np.triu_indices(len(found.p), 1)
    np.testing.assert_allclose((found.p + found.p.T)[upper][there[upper]], (1 + n_undefined / 60)[there[upper]])
    assert (found.p[there] <= whole.p[there]).all()
    assert np.array_equal(found.n_extreme, whole.n_extreme)


def test_without_ties_halves_change_nothing() -> None:
    rng = np.random.default_rng(8)
    human, metrics = rng.normal(0, 1, (5, 30)), rng.normal(0, 1, (3, 5, 30))
    statistic = pearson_swap(human, metrics, np.zeros(human.shape, dtype=np.int64))
    for alternative in ("greater", "two-sided"):
        whole, half = (p_of(statistic, alternative, mid_p=mid_p) for mid_p in (False, True))
        assert np.array_equal(whole, half, equal_nan=True)


def test_draws_without_a_value_count_whole() -> None:
    values = np.array([[0.9, np.nan], [np.nan, 0.2]])
    whole, half = (
        permutation_test(
            group_swap(values, [0, 1], (2,)),
            rng=np.random.default_rng(0),
            mid_p=mid_p,
            keep_null=True,
            n_threads=1,
        )
        for mid_p in (False, True)
    )
    tied = whole.n_extreme - np.isnan(whole.null).sum()  # type: ignore[arg-type,call-overload]
    assert tied[0, 1] > 0
    assert half.n_tied[0, 1] == tied[0, 1]
    assert half.p[0, 1] == (whole.n_extreme[0, 1] - tied[0, 1] / 2) / 1000


def test_one_is_added_to_the_halves() -> None:
    statistic = sums([[1.0, 0.0], [0.0, 0.0]])
    found = permutation_test(
        statistic, rng=np.random.default_rng(3), n_draws=9, alternative="two-sided", mid_p=True, plus_one=True
    )
    assert found.p[0, 1] == (4.5 + 1) / 10
