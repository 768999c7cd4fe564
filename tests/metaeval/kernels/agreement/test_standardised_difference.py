"""Differences of standardised scores: by hand, against the major axis, by properties, on outputs with a planted one."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.agreement.standardised_difference import ranked, standardised, standardised_difference

NAN = float("nan")
SCORES = st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=3, max_size=12).map(
    lambda pairs: np.array(pairs, dtype=float).T
)


def test_by_hand_with_an_output_that_one_scorer_lacks() -> None:
    # both have mean 2 and sd 1; differences of z: -1, 2, -1, whose sd is sqrt(3)
    found = standardised_difference([1.0, 3.0, 2.0, 9.0], [20.0, 10.0, 30.0, NAN])
    assert found[:3] == pytest.approx([-1 / 3**0.5, 2 / 3**0.5, -1 / 3**0.5], abs=1e-12)
    assert np.isnan(found[3])


def test_a_constant_scorer_has_no_residuals_and_scorers_apart_by_scale_have_none_but_0() -> None:
    assert np.isnan(standardised_difference([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])).all()
    assert standardised_difference([1.0, 2.0, 4.0], [10.0, 20.0, 40.0]).tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(standardised([1.0])).all()
    with pytest.raises(ValueError, match=r"not \(2,\) and \(3,\)"):
        standardised_difference([1.0, 2.0], [1.0, 2.0, 3.0])


def test_ranks_and_standard_scores_are_those_of_scipy() -> None:
    scores = np.random.default_rng(1).integers(0, 9, 40).astype(float)
    assert standardised(scores) == pytest.approx(stats.zscore(scores, ddof=1), abs=1e-12)
    assert ranked(np.append(scores, NAN))[:-1].tolist() == stats.rankdata(scores).tolist()


def test_residuals_are_those_from_the_major_axis_of_the_standardised_scores() -> None:
    # distances from the line y = x (its slope is 1 as both have sd 1), from the eigenvectors of the covariance
    rng = np.random.default_rng(2)
    first = rng.normal(size=50)
    second = 0.6 * first + rng.normal(size=50)
    z = np.array([stats.zscore(first, ddof=1), stats.zscore(second, ddof=1)])
    values, vectors = np.linalg.eigh(np.cov(z))
    distance = vectors[:, 0] @ z * np.sign(vectors[0, 0])  # along the minor axis
    assert standardised_difference(first, second) == pytest.approx(distance / values[0] ** 0.5, abs=1e-9)


@given(SCORES, st.floats(0.1, 50), st.floats(-100, 100))
def test_exchanging_scorers_changes_the_sign_and_scales_do_not_matter(
    scores: np.ndarray, factor: float, shift: float
) -> None:
    first, second = scores
    found = standardised_difference(first, second)
    assume(not np.isnan(found).any())
    assert standardised_difference(second, first) == pytest.approx(-found, abs=1e-6)
    assert standardised_difference(factor * first + shift, second) == pytest.approx(found, abs=1e-6)
    assert abs(found.mean()) < 1e-6
    if found.any():
        assert found.std(ddof=1) == pytest.approx(1.0, abs=1e-6)


def test_the_spread_of_the_difference_is_that_of_correlated_scorers_and_a_planted_output_is_found() -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(size=4000)
    first, second = truth + rng.normal(size=4000), truth + rng.normal(size=4000)  # r = 1/2
    first[17] -= 12.0
    found = standardised_difference(first, second)
    assert int(np.abs(found).argmax()) == 17
    z_a, z_b = standardised(first), standardised(second)
    # expected: sqrt(2 (1 - r)) = 1; its standard error over 4,000 outputs is about 1 / sqrt(8,000) = .011
    assert float(np.std(z_a - z_b, ddof=1)) == pytest.approx(1.0, abs=0.04)
    assert found[17] == pytest.approx((z_a - z_b)[17] / np.std(z_a - z_b, ddof=1))
