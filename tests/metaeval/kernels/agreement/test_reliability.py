"""Reliability: alpha by hand, by the library and of simulated annotators; Spearman and Brown; drift and its level."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.agreement.reliability import drift, interval_alpha, slopes, spearman_brown
from metaeval.kernels.resampling.draws import resample_counts


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


NAN = float("nan")
TABLES = st.integers(2, 4).flatmap(
    lambda n_raters: st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=n_raters, max_size=n_raters), min_size=2, max_size=9
    )
)


def _flat(table: list[list[int | None]]) -> tuple[np.ndarray, np.ndarray]:
    """Values and units of a table with a row a unit and a column an annotator."""
    kept = [(value, row) for row, line in enumerate(table) for value in line if value is not None]
    units = {row: place for place, row in enumerate(dict.fromkeys(row for _, row in kept))}
    return np.array([float(value) for value, _ in kept]), np.array([units[row] for _, row in kept], dtype=np.int64)


def test_by_hand() -> None:
    # units (1, 2), (3, 3), (5) does not count; n = 4, mean 2.25, SS = 2.75
    # observed: 2/4 * 2 * 0.5 / 1 = 0.5; expected: 2 * 2.75 / 3; alpha = 1 - 1.5 / 5.5 = 8/11
    assert interval_alpha([1, 2, 3, 3, 5], [0, 0, 1, 1, 2]).tolist() == pytest.approx([8 / 11], abs=1e-12)


def test_the_example_that_krippendorff_printed() -> None:
    # Krippendorff 2011, section C: four observers, twelve units, interval data: alpha = 0.849
    table = [
        *([1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4]),
        *([4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1], [None, None, 3, None]),
    ]
    assert interval_alpha(*_flat(table))[0] == pytest.approx(0.849, abs=5e-4)


@given(TABLES)
def test_it_is_that_of_the_library(table: list[list[int | None]]) -> None:
    values, units = _flat(table)
    shared = np.bincount(units)[units] > 1 if len(units) else np.array([], dtype=bool)
    assume(shared.any() and values[shared].min() < values[shared].max())
    data = np.array([[NAN if value is None else value for value in line] for line in table], dtype=float).T
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement="interval")
    assert interval_alpha(values, units)[0] == pytest.approx(expected, abs=1e-9)


@given(TABLES, st.integers(0, 3), st.floats(0.5, 100), st.floats(-1e4, 1e4))
def test_scale_and_order_do_not_matter_and_a_weight_is_that_many_copies(
    table: list[list[int | None]], seed: int, factor: float, shift: float
) -> None:
    values, units = _flat(table)
    assume(len(values) > 1)
    rng = np.random.default_rng(seed)
    n_units = int(units.max()) + 1
    weights = rng.integers(0, 4, (1, n_units))
    found = interval_alpha(values, units, weights)
    order = rng.permutation(len(values))
    same = interval_alpha(factor * values[order] + shift, units[order], weights)
    assert same == pytest.approx(found, abs=1e-6, nan_ok=True)
    copies = [(value, (unit, n)) for value, unit in zip(values, units, strict=True) for n in range(weights[0, unit])]
    number = {key: place for place, key in enumerate(dict.fromkeys(key for _, key in copies))}
    plain = interval_alpha([value for value, _ in copies], [number[key] for _, key in copies])
    assert plain == pytest.approx(found, abs=1e-6, nan_ok=True)
    assert np.isnan(found).all() or found[0] <= 1 + 1e-9


def test_nothing_to_compare_has_no_alpha() -> None:
    assert np.isnan(interval_alpha([1.0, 2.0], [0, 1])).all()
    assert np.isnan(interval_alpha([3.0, 3.0, 3.0, 3.0], [0, 0, 1, 1])).all()
    assert np.isnan(interval_alpha([], [])).all()


def test_it_is_the_share_of_the_variance_that_is_true_and_its_interval_holds_it() -> None:
    """Truth of variance .6, noise of .4, three judgements of 60 outputs, 200 worlds: expected alpha .6.

    The standard error of one world is about .06, of the mean .004. Coverage: the larger simulation of
    benchmarks/alpha_coverage.py finds .92 to .95; three binomial standard errors of 200 worlds are .05.
    """
    rng = np.random.default_rng(5)
    units = np.repeat(np.arange(60), 3)
    found, held = [], 0
    for _ in range(200):
        values = rng.normal(0, 0.6**0.5, 60)[units] + rng.normal(0, 0.4**0.5, 180)
        found.append(interval_alpha(values, units)[0])
        low, high = np.quantile(interval_alpha(values, units, resample_counts(rng, 200, 60)), (0.025, 0.975))
        held += int(low <= 0.6 <= high)
    assert float(np.mean(found)) == pytest.approx(0.6, abs=0.015)
    assert 0.87 <= held / 200 <= 0.99
