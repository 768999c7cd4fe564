"""Sizes for a power: against the textbook's formula, what is not reached, intervals, and the same answer each time."""

import math

import numpy as np
import pytest

from metaeval.kernels.resampling.required_size import RequiredSize, required_size


def normal_trial(size: int, rng: np.random.Generator, effect: float = 0.2) -> tuple[bool, float]:
    """A z-test of a mean: found with a power known in closed form."""
    mean = effect + rng.normal() / math.sqrt(size)
    return mean * math.sqrt(size) > 1.959964, mean


def sized(effect: float = 0.2, **more: int) -> RequiredSize:
    given = {"there": 100, "least": 10, "most": 6400, "n_simulations": 200, **more}
    return required_size(lambda size, rng: normal_trial(size, rng, effect), effect, **given)  # type: ignore[arg-type]


def test_the_size_is_that_of_the_textbook() -> None:
    """n = ((1.96 + 0.84) / 0.2)² = 196; 95% of the intervals from data sets hold it, and this one does."""
    found = sized()
    true = ((1.959964 + 0.841621) / 0.2) ** 2
    assert found.low < true < found.high
    assert found.size == pytest.approx(true, rel=0.12)
    assert found.power(found.size) == pytest.approx(0.8, abs=0.02)
    assert found.effect == pytest.approx(0.2 * math.sqrt(100), rel=0.2)  # the standard deviation of 200 data sets


def test_a_size_far_outside_those_tried_has_the_fit_of_those_at_the_end() -> None:
    nan, tried = float("nan"), np.array([50.0, 100.0])
    far = RequiredSize(5000, 1, nan, nan, nan, nan, 0, tried, np.array([9.0, 11.0]), np.array([20.0, 20.0]))
    assert 0.4 < far.power(50) < far.power(100) < 0.6 < far.power(5000) < 1


def test_the_uncertainty_of_the_difference_widens_the_interval() -> None:
    found = sized(0.5)
    assert found.data_low < found.low < found.size < found.high < found.data_high
    assert found.size < found.pessimistic < found.data_high
    d = (1.959964 + 0.841621) * math.sqrt(100 / found.size)
    assert found.pessimistic == pytest.approx(found.size * (d / (d - 1.281552)) ** 2)


def test_a_difference_that_may_be_none_has_no_upper_bound() -> None:
    found = sized(0.1)  # one standard error with 100 units
    assert found.high < math.inf
    assert math.isnan(found.data_high)
    assert math.isnan(found.pessimistic)


def test_what_is_not_reached_has_no_size() -> None:
    found = sized(0.01, most=400, n_simulations=50)
    assert math.isnan(found.size)
    assert math.isnan(found.power(100))
    assert found.sizes.tolist() == [100, 200, 400]


def test_the_fewest_may_be_enough() -> None:
    found = sized(3.0, n_simulations=20)
    assert found.size == 10
    assert math.isnan(found.high)


def test_worlds_depend_on_the_seed_alone() -> None:
    assert sized(n_simulations=50).size == sized(n_simulations=50).size
    assert sized(n_simulations=50, seed=1).size != sized(n_simulations=50).size


def test_a_power_that_hardly_grows_with_the_size_has_a_size_in_range() -> None:
    """Data sets of every size find the difference as often: a fit of that is nearly flat."""

    def trial(size: int, rng: np.random.Generator) -> tuple[bool, float]:
        return bool(rng.random() < 0.8), float(rng.normal())

    with np.errstate(over="raise"):
        for seed in range(40):
            found = required_size(trial, 0.2, there=100, least=10, most=6400, n_simulations=20, seed=seed)
            assert not found.size < 10
            assert not found.size > 6400
