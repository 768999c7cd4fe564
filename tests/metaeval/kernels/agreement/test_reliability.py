"""Spearman and Brown's formula, slopes of resamples, and drift with its level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.agreement.reliability import drift, slopes, spearman_brown


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


def test_drift_is_jackknifed_over_units_as_by_a_plain_loop() -> None:
    rng = np.random.default_rng(5)
    units = np.repeat(["a", "b", "c", "d", "e", "f", "a"], [3, 1, 4, 2, 2, 5, 2])  # "a" comes twice
    y = rng.normal(size=len(units))
    place = np.linspace(0, 1, len(y))
    value = stats.linregress(place, y).slope
    squares = [(stats.linregress(place[units != one], y[units != one]).slope - value) ** 2 for one in "abcdef"]
    error = np.sqrt(5 / 6 * np.sum(squares))
    found = drift(y, units)
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx(
        (value - stats.t.ppf(0.975, 4) * error, value + stats.t.ppf(0.975, 4) * error)
    )


def test_drift_needs_values_and_units() -> None:
    few = drift([1.0, 2.0, 4.0, 3.0], ["a", "b", "c", "d"])
    assert (few.value, np.isnan(few.low)) == (pytest.approx(2.4), True)
    assert np.isnan(drift([1.0, 2.0], ["a", "b"]).value)


@given(st.integers(0, 10**6), st.floats(-50, 50), st.floats(0.1, 10))
def test_drift_has_the_units_of_values_and_no_origin(seed: int, step: float, factor: float) -> None:
    rng = np.random.default_rng(seed)
    units = np.sort(rng.integers(0, 8, 30))
    y = rng.normal(size=30)
    one, other, back = drift(y, units), drift((y + step) * factor, units), drift(y[::-1], units[::-1])
    for end in ("value", "low", "high"):
        assert getattr(other, end) == pytest.approx(factor * getattr(one, end), abs=1e-9 * (1 + abs(step)), rel=1e-9)
    assert (back.low, back.high) == pytest.approx((-one.high, -one.low))


def share_drifting(n: int, n_documents: int, likeness: float, seed: int = 0) -> float:
    """Annotators who drift of n whose documents are in random order. likeness: correlation within a document."""
    rng, found = np.random.default_rng([seed, n_documents]), 0
    for _ in range(n):
        units = np.repeat(np.arange(n_documents), 1 + rng.geometric(0.25, n_documents))
        of_document, own = rng.normal(size=n_documents)[units], rng.normal(size=len(units))
        one = drift(np.sqrt(likeness) * of_document + np.sqrt(1 - likeness) * own, units)
        found += not one.low <= 0 <= one.high
    return found / n


def test_few_drift_whose_documents_are_in_random_order() -> None:
    """Three binomial standard errors of 300 annotators are .038; by judgements it would be .3."""
    assert share_drifting(300, 12, 0.8) <= 0.05 + 0.038


@pytest.mark.slow
@pytest.mark.parametrize(("n_documents", "likeness"), [(6, 0.0), (8, 0.3), (12, 0.8), (20, 0.3), (40, 0.8)])
def test_five_percent_drift_whose_documents_are_in_random_order(n_documents: int, likeness: float) -> None:
    """Three binomial standard errors of 1,500 annotators are .017; 12 to 40 documents find up to .066 of 2,000."""
    assert share_drifting(1500, n_documents, likeness) == pytest.approx(0.055, abs=0.02)
