"""Pooled studies: by hand, against a naive search of the likelihood, a published meta-analysis, and properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import hunter_schmidt
from metaeval.kernels.agreement.studies import leave_one_out, random_effects
from tests.helpers import refused

# Colditz et al. 1994, 13 trials of the BCG vaccine: cases and others, vaccinated and not.
BCG = [
    *((4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761)),
    *((180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232)),
    *((17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825)),
]


def log_relative_risks() -> tuple[list[float], list[float]]:
    y, v = [], []
    for a, b, c, d in BCG:
        y.append(math.log(a / (a + b)) - math.log(c / (c + d)))
        v.append(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
    return y, v


def naive_restricted_likelihood(y: list[float], v: list[float], tau2: float) -> float:
    weights = [1 / (one + tau2) for one in v]
    mean = math.fsum(w * value for w, value in zip(weights, y, strict=True)) / math.fsum(weights)
    squares = math.fsum(w * (value - mean) ** 2 for w, value in zip(weights, y, strict=True))
    logs = math.fsum(math.log(one + tau2) for one in v)
    return -0.5 * (logs + math.log(math.fsum(weights)) + squares)


def test_the_published_vaccine_trials_come_out_to_the_printed_digits() -> None:
    # metafor 4.6 (R), `rma(yi, vi, data=dat.bcg, test="knha")`: estimate -0.7145, tau^2 0.3132, I^2 92.22%
    found = random_effects(*log_relative_risks())
    assert round(found.mean, 4) == -0.7145
    assert round(found.tau2, 4) == 0.3132
    assert round(100 * found.i2, 2) == 92.22
    assert (found.n_studies, found.low < found.mean < found.high) == (13, True)


def test_three_equal_variances_by_hand() -> None:
    # mean 0.2; sample variance 0.04, minus 0.01 within = tau² 0.03; error² = 0.04/3; I² = 0.03/0.04
    found = random_effects([0.0, 0.2, 0.4], [0.01, 0.01, 0.01])
    assert found.mean == pytest.approx(0.2)
    assert found.tau2 == pytest.approx(0.03)
    assert found.error == pytest.approx(math.sqrt(0.04 / 3))
    assert found.i2 == pytest.approx(0.75)
    assert found.high - found.mean == pytest.approx(4.302653 * math.sqrt(0.04 / 3), rel=1e-6)  # t(2), 97.5%
    # two-sided p of t = 0.2 / 0.11547 = 1.7320508 with 2 degrees: 1 - t / sqrt(2 + t²) = 1 - 0.774597
    assert found.p == pytest.approx(1 - math.sqrt(3) / math.sqrt(5))


def test_two_studies_have_a_mean_and_no_interval() -> None:
    found = random_effects([0.1, 0.3], [0.01, 0.01])
    assert found.mean == pytest.approx(0.2)
    assert math.isnan(found.low)
    assert math.isnan(found.p)


def test_one_study_stands_for_itself_and_none_for_nothing() -> None:
    assert random_effects([0.3, math.nan], [0.01, 1.0]).mean == 0.3
    assert random_effects([], []).n_studies == 0


def test_variances_of_zero_leave_the_sample_variance_between_studies() -> None:
    found = random_effects([0.0, 0.2, 0.4], [0.0, 0.0, 0.0])
    assert (found.mean, found.tau2, found.i2) == (pytest.approx(0.2), pytest.approx(0.04), 1.0)
    equal = random_effects([0.2, 0.2, 0.2], [0.0, 0.0, 0.0])
    assert (equal.mean, equal.low, equal.high, equal.p) == (pytest.approx(0.2), *[pytest.approx(0.2)] * 2, 0.0)


@pytest.mark.parametrize(
    ("y", "v"), [([0.1, 0.2], [0.0, 0.1]), ([0.1], [-1.0]), ([0.1, 0.2], [0.1]), ([math.inf, 0.0], [1.0, 1.0])]
)
def test_what_cannot_be_pooled_is_refused(y: list[float], v: list[float]) -> None:
    refused(r"variance|estimates", random_effects, y, v)


STUDIES = st.lists(
    st.tuples(st.floats(-1, 1).map(lambda x: round(x, 3)), st.floats(1e-3, 0.5)), min_size=3, max_size=12
)


@given(STUDIES)
def test_no_tau2_of_a_fine_grid_is_more_likely(studies: list[tuple[float, float]]) -> None:
    y, v = [one for one, _ in studies], [one for _, one in studies]
    found = random_effects(y, v)
    best = naive_restricted_likelihood(y, v, found.tau2)
    near = [found.tau2 * factor for factor in (0.9, 0.99, 1.01, 1.1)] + [0.0, 1e-4]
    assert all(naive_restricted_likelihood(y, v, one) <= best + 1e-9 for one in near)


def test_leaving_one_out_is_pooling_the_others() -> None:
    y, v = log_relative_risks()
    found = leave_one_out(y, v)
    assert found[3] == random_effects(y[:3] + y[4:], v[:3] + v[4:]).mean
    assert len(found) == len(y)


@pytest.mark.slow
@pytest.mark.parametrize("tau", [0.0, 0.05])
def test_the_interval_covers_the_truth_as_often_as_it_says(tau: float) -> None:
    # 400 worlds of 12 studies: the binomial standard error at 95% is 1.1%, three of them make 91.7-98.3%
    rng = np.random.default_rng(7)
    n_covered = 0
    for _ in range(400):
        v = rng.uniform(0.02, 0.06, 12) ** 2
        y = 0.02 + rng.normal(0, tau, 12) + rng.normal(0, np.sqrt(v))
        found = random_effects(y, v)
        n_covered += found.low <= 0.02 <= found.high
    assert 0.917 <= n_covered / 400 <= 0.983


NAN = np.nan


def test_two_studies_are_worked_out_by_hand() -> None:
    pooled = hunter_schmidt([0.8, 0.2], [30, 10])
    assert pooled.mean == pytest.approx((24 + 2) / 40)
    assert pooled.observed_variance == pytest.approx((30 * 0.15**2 + 10 * 0.45**2) / 40)
    assert pooled.sampling_variance == pytest.approx((1 - 0.65**2) ** 2 / (20 - 1))
    assert pooled.n_studies == 2


def test_a_correlation_that_is_not_defined_is_left_out_and_not_counted() -> None:
    assert hunter_schmidt([0.8, NAN, 0.2], [30, 99, 10]) == hunter_schmidt([0.8, 0.2], [30, 10])
    empty = hunter_schmidt([NAN], [5])
    assert np.isnan([empty.mean, empty.observed_variance, empty.sampling_variance]).all()
    assert empty.n_studies == 0


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(2, 500)), min_size=1, max_size=8))
def test_the_mean_lies_between_the_correlations(studies: list[tuple[float, int]]) -> None:
    r, n = zip(*studies, strict=True)
    pooled = hunter_schmidt(r, n)
    assert min(r) - 1e-12 <= pooled.mean <= max(r) + 1e-12
    assert pooled.observed_variance >= 0
    assert pooled.mean == pytest.approx(float(np.average(r, weights=n)), abs=1e-12)


def test_bad_input_is_refused() -> None:
    refused("r and n must be", hunter_schmidt, [0.1, 0.2], [3])
    refused(r"r must be in \[-1, 1\], got 1.5", hunter_schmidt, [1.5], [3])
    refused("n must be whole numbers of at least 2", hunter_schmidt, [0.5], [1])
