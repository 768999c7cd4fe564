"""Spearman and Brown's formula, and slopes of resamples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.agreement.reliability import slopes, spearman_brown


def test_the_whole_is_more_reliable_than_its_halves() -> None:
    assert spearman_brown([0.0, 1 / 3, 0.5, 1.0]).tolist() == pytest.approx([0.0, 0.5, 2 / 3, 1.0])
    assert np.isnan(spearman_brown([-1.0, -0.5, -0.115, float("nan")])).all()


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_correction_keeps_order(one: float, other: float) -> None:
    low, high = spearman_brown(sorted((one, other)))
    assert low <= high + 1e-12


def test_slopes_are_those_of_scipy_with_each_point_as_often_as_it_is_drawn() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=12), rng.normal(size=12)
    weights = rng.integers(0, 3, (20, 12))
    expected = [stats.linregress(np.repeat(x, row), np.repeat(y, row)).slope for row in weights]
    assert slopes(x, y, weights) == pytest.approx(expected, abs=1e-9)
    assert slopes(x, 3 + 2 * x, np.ones((1, 12)))[0] == pytest.approx(2.0)
    assert np.isnan(slopes([1.0, 2.0], [5.0, 1.0], [[2, 0], [0, 0]])).all()
