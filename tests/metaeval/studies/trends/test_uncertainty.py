"""Intervals of a history: by the type that covers best for the measure, as everywhere else."""

import numpy as np
import pytest
from scipy.special import stdtrit

from metaeval.kernels.resampling.difference_tests import from_z

VALUES = np.array([0.8, 0.5])
DRAWS = np.array([[0.5, 0.6, 0.7, 0.8], [0.1, 0.2, 0.4, 0.5]])


@pytest.mark.parametrize("share", [1.0, 0.9])
def test_intervals_of_gaps_hold_zero_exactly_where_the_test_finds_nothing(share: float) -> None:
    rng = np.random.default_rng(3)
    for df in (3, 11, 30):
        values, reach = np.tanh(rng.normal(1.5, 1, 200)), np.concatenate([[np.nan], rng.uniform(0, 2, 199)])
        low, high = from_z(values, 0, reach, df, share)
        z = np.arctanh(share * values)
        assert (((low > 0) | (high < 0))[1:] == (np.abs(z - z[0]) > reach)[1:]).all()
        assert np.isnan([low[0], high[0]]).all()  # the anchor has no gap to itself


@pytest.mark.slow
def test_intervals_of_gaps_cover_true_differences_of_correlations() -> None:
    rng, n, worlds = np.random.default_rng(1), 12, 400
    truth = np.array([0.98, 0.92])
    covered = 0
    for _ in range(worlds):
        human = rng.normal(size=n)
        scores = truth[:, np.newaxis] * human + np.sqrt(1 - truth**2)[:, np.newaxis] * rng.normal(size=(2, n))
        value = np.corrcoef(human, scores)[0, 1:]
        left = np.array(
            [np.arctanh(np.corrcoef(np.delete(human, i), np.delete(scores, i, 1))[0, 1:]) for i in range(n)]
        )
        d = left[:, 1] - left[:, 0]
        reach = -stdtrit(n - 1, 0.025) * np.sqrt((n - 1) / n * ((d - d.mean()) ** 2).sum())
        low, high = from_z(value, 0, np.array([np.nan, reach]), n - 1, 1.0)
        covered += int(low[1] <= truth[1] - truth[0] <= high[1])
    # 95% of 400 with a binomial standard error of 1.1%
    assert 0.92 < covered / worlds < 0.98
