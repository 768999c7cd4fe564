"""Intervals of shares by unit: the exact ones of Clopper and Pearson, by hand, in the limit, and as units change."""

import numpy as np
import pytest
from scipy import stats

from metaeval.kernels.agreement.proportions import proportion_interval

ALIKE = np.repeat([[1.0], [0.0]], [30, 10], axis=0)  # 40 units of one output


def test_units_of_one_output_have_the_interval_of_clopper_and_pearson() -> None:
    low, high = proportion_interval(ALIKE, np.ones_like(ALIKE))
    exact = stats.binomtest(30, 40).proportion_ci(0.95, "exact")
    # a sample variance over n - 1: as many outputs as 39, not 40
    assert low[0] == pytest.approx(exact.low, abs=0.004)
    assert high[0] == pytest.approx(exact.high, abs=0.004)
    all_good = proportion_interval(np.ones((6, 1)), np.ones((6, 1)))
    assert (all_good[0][0], all_good[1][0]) == (pytest.approx(0.025 ** (1 / 6)), 1)


def test_units_of_equal_outputs_count_as_their_number_by_hand() -> None:
    low, high = proportion_interval(ALIKE * 5, np.full_like(ALIKE, 5))
    # 200 outputs with a design effect of 5 · 40 / 39, then the t quantiles of 199 and 39
    worth = 200 / (5 * 40 / 39) * (stats.t.ppf(0.025, 199) / stats.t.ppf(0.025, 39)) ** 2
    assert low[0] == pytest.approx(stats.beta.ppf(0.025, 0.75 * worth, 0.25 * worth + 1))
    assert high[0] == pytest.approx(stats.beta.ppf(0.975, 0.75 * worth + 1, 0.25 * worth))


def test_outputs_that_differ_within_units_are_not_worth_more_than_independent_ones() -> None:
    low, high = proportion_interval(np.full((50, 1), 3.0), np.full((50, 1), 4.0))
    exact = stats.binomtest(150, 200).proportion_ci(0.95, "exact")
    assert low[0] <= exact.low
    assert high[0] >= exact.high


def test_a_single_unit_says_nothing_and_none_has_no_interval() -> None:
    n_true, n = np.array([[3.0, 0.0], [0.0, 0.0]]), np.array([[4.0, 0.0], [0.0, 0.0]])
    low, high = proportion_interval(n_true, n)
    assert (low[0], high[0]) == (0, 1)
    assert np.isnan([low[1], high[1]]).all()


def test_bad_outputs_mirror_good_ones_and_units_have_no_order() -> None:
    rng = np.random.default_rng(1)
    n = rng.integers(1, 9, (12, 5)).astype(float)
    n_true = rng.binomial(n.astype(int), 0.7).astype(float)
    low, high = proportion_interval(n_true, n)
    mirrored = proportion_interval(n - n_true, n)
    np.testing.assert_allclose(mirrored, (1 - high, 1 - low), atol=1e-12)
    np.testing.assert_allclose(proportion_interval(n_true[::-1], n[::-1]), (low, high), atol=1e-12)
    share = n_true.sum(axis=0) / n.sum(axis=0)
    assert ((low < share) & (share < high)).all()


def test_intervals_hold_the_share_of_units_that_err_alike() -> None:
    rng = np.random.default_rng(2)
    shares = rng.beta(3, 1, (20, 1000))  # of each of 20 documents, in 1,000 data sets; their mean is .75
    n_true = rng.binomial(15, shares).astype(float)
    low, high = proportion_interval(n_true, np.full_like(n_true, 15))
    held = ((low <= 0.75) & (high >= 0.75)).mean()
    assert held >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 1000)
    assert (low > 0.75).mean() <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 1000)
