"""Variance components against analysis of variance, a dense likelihood and simulation; intraclass correlations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from metaeval.kernels.agreement.variance_components import (
    error_of_difference,
    intraclass_correlations,
    variance_components,
)

# Shrout and Fleiss 1979, table 2: six targets, four judges; reliabilities of table 4.
JUDGED = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_intraclass_correlations_as_printed_by_shrout_and_fleiss() -> None:
    found = intraclass_correlations(JUDGED)
    assert [round(found[model].single, 2) for model in "123"] == [0.17, 0.29, 0.71]
    assert [round(found[model].mean, 2) for model in "123"] == [0.44, 0.62, 0.91]


def test_intervals_of_intraclass_correlations_hold_what_they_promise() -> None:
    rng = np.random.default_rng(4)
    covered = dict.fromkeys("123", 0)
    for _ in range(300):
        items, raters = rng.normal(size=(20, 1)), rng.normal(size=(1, 5)) * 0.7
        of_first = intraclass_correlations(items + rng.normal(size=(20, 5)))["1"]
        crossed = intraclass_correlations(items + raters + rng.normal(size=(20, 5)))
        covered["1"] += of_first.single_low <= 0.5 <= of_first.single_high
        covered["2"] += crossed["2"].single_low <= 1 / 2.49 <= crossed["2"].single_high
        covered["3"] += crossed["3"].single_low <= 0.5 <= crossed["3"].single_high
    # The share of 300 has a standard error of .013; the second model's interval is approximate.
    assert all(0.915 <= n / 300 <= 0.985 for n in covered.values()), covered


def _balanced(
    seed: int, n_systems: int = 5, n_segments: int = 8, n_raters: int = 3
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    system, segment, rater = (axis.ravel() for axis in np.indices((n_systems, n_segments, n_raters)))
    values = (
        rng.normal(size=n_systems)[system] * 1.5
        + rng.normal(size=n_segments)[segment] * 2
        + rng.normal(size=(n_systems, n_segments))[system, segment]
        + rng.normal(size=len(system))
    )
    return values, {"system": system, "segment": segment, "rater": rater}


def test_components_of_a_balanced_design_are_those_of_the_analysis_of_variance() -> None:
    values, factors = _balanced(1)
    cube = values.reshape(5, 8, 3)
    grand, a, b, ab = cube.mean(), cube.mean(axis=(1, 2)), cube.mean(axis=(0, 2)), cube.mean(axis=2)
    ms_a = 8 * 3 * ((a - grand) ** 2).sum() / 4
    ms_b = 5 * 3 * ((b - grand) ** 2).sum() / 7
    ms_ab = 3 * ((ab - a[:, None] - b + grand) ** 2).sum() / 28
    ms_e = ((cube - ab[:, :, None]) ** 2).sum() / 80
    expected = {
        "system": (ms_a - ms_ab) / 24,
        "segment": (ms_b - ms_ab) / 15,
        "system:segment": (ms_ab - ms_e) / 3,
        "residual": ms_e,
    }
    found = variance_components(values, factors, ["system", "segment", "system:segment"])
    assert found.variances == pytest.approx(expected, rel=1e-4)
    assert found.mean == pytest.approx(values.mean())
    # The residual mean square of 80 degrees of freedom has the variance 2 ms^2 / 80.
    assert found.standard_errors["residual"] == pytest.approx(ms_e * np.sqrt(2 / 80), rel=1e-3)


@pytest.mark.slow
def test_components_of_an_unbalanced_design_maximise_the_dense_likelihood() -> None:
    values, factors = _balanced(2)
    kept = np.random.default_rng(3).random(len(values)) < 0.6
    values, factors = values[kept], {name: labels[kept] for name, labels in factors.items()}
    terms = ["system", "segment", "system:segment", "rater"]
    found = variance_components(values, factors, terms)
    labels = [factors["system"], factors["segment"], factors["system"] * 100 + factors["segment"], factors["rater"]]
    shared = [(one[:, None] == one).astype(float) for one in labels] + [np.eye(len(values))]
    ones = np.ones(len(values))

    def loss(logs: np.ndarray) -> float:
        covariance = sum(np.exp(log) * matrix for log, matrix in zip(logs, shared, strict=True))
        inverse = np.linalg.inv(covariance)
        information = ones @ inverse @ ones
        residual = values - ones @ inverse @ values / information
        return 0.5 * (np.linalg.slogdet(covariance)[1] + np.log(information) + residual @ inverse @ residual)

    best = minimize(loss, np.zeros(5), method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-6, "fatol": 1e-9})
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-4)
    assert list(found.variances.values()) == pytest.approx(np.exp(best.x).tolist(), rel=0.01, abs=1e-3)


def test_a_component_that_the_data_do_not_show_is_zero_and_has_no_error() -> None:
    # Equal means of both systems within every segment: there is nothing between systems.
    factors = {"system": np.tile([0, 1], 20), "segment": np.repeat(np.arange(20), 2)}
    values = np.random.default_rng(5).normal(size=20).repeat(2) + np.tile([0.1, -0.1, -0.1, 0.1], 10)
    found = variance_components(values, factors, ["system", "segment"])
    assert found.variances["system"] == 0
    assert np.isnan(found.standard_errors["system"])


@settings(max_examples=5)
@given(st.integers(0, 100), st.floats(0.1, 10), st.floats(-5, 5))
def test_a_constant_changes_no_component_and_a_scale_changes_all_by_its_square(
    seed: int, scale: float, shift: float
) -> None:
    values, factors = _balanced(seed, 3, 4, 2)
    found = variance_components(values, factors, ["system", "segment"])
    other = variance_components(scale * values + shift, factors, ["system", "segment"])
    expected = {name: variance * scale**2 for name, variance in found.variances.items()}
    assert other.variances == pytest.approx(expected, rel=1e-3, abs=1e-4 * scale**2)


@pytest.mark.slow
def test_known_components_of_a_design_with_raters_within_segments_are_found() -> None:
    """30 simulated campaigns of 8 systems, 40 segments, 3 of 10 raters a segment: means within 4 standard errors."""
    true = {"system": 4.0, "segment": 9.0, "system:segment": 5.0, "segment:rater": 8.0, "residual": 6.0}
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        raters = np.array([rng.choice(10, 3, replace=False) for _ in range(40)])
        system, segment, place = (axis.ravel() for axis in np.indices((8, 40, 3)))
        values = (
            2 * rng.normal(size=8)[system]
            + 3 * rng.normal(size=40)[segment]
            + np.sqrt(5) * rng.normal(size=(8, 40))[system, segment]
            + np.sqrt(8) * rng.normal(size=(40, 3))[segment, place]
            + np.sqrt(6) * rng.normal(size=len(system))
        )
        factors = {"system": system, "segment": segment, "rater": raters[segment, place]}
        found.append(variance_components(values, factors, list(true)[:-1]).variances)
    for name, variance in true.items():
        estimates = np.array([one[name] for one in found])
        assert abs(estimates.mean() - variance) < 4 * estimates.std(ddof=1) / np.sqrt(30), name


@pytest.mark.parametrize(
    ("values", "terms", "message"),
    [
        ([1.0, 2.0, 3.0, 4.0], ["judge"], "no factor is called 'judge'"),
        ([1.0, 2.0, 3.0, 4.0], ["system:segment"], "level for each value"),
        ([1.0, 2.0, np.nan, 4.0], ["system"], "finite"),
        ([1.0, 1.0, 1.0, 1.0], ["system"], "no variance"),
        ([1.0, 2.0, 3.0, 4.0], ["segment", "rater"], "same levels"),
    ],
)
def test_what_cannot_be_taken_apart_is_refused(values: list[float], terms: list[str], message: str) -> None:
    factors = {"system": [0, 1, 0, 1], "segment": [0, 0, 1, 1], "rater": ["b", "b", "a", "a"]}
    with pytest.raises(ValueError, match=message):
        variance_components(values, factors, terms)


def test_more_segments_reduce_the_error_of_a_difference_more_than_more_raters() -> None:
    # 2 (9 / 100 + 12 / 300) = .26 and 2 (9 / 300 + 12 / 300) = .14
    assert error_of_difference(9, 12, 100, 3) ** 2 == pytest.approx(0.26)
    assert error_of_difference(9, 12, 300, 1) ** 2 == pytest.approx(0.14)
