"""Scores on other scales: by hand, against other formulas, by properties, and what leaves them alone."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels import autorank, mad_outliers
from metaeval.kernels.arrays.scales import (
    KINDS,
    Kind,
    broken_ties,
    equal_width_bins,
    noisy_scores,
    standardised,
    standardised_difference,
)
from tests.helpers import refused


def test_buckets_are_of_equal_width_and_the_largest_score_is_in_the_last() -> None:
    assert equal_width_bins([[10.0, 12.4], [12.5, 20.0]], 4).tolist() == [[0.0, 0.0], [1.0, 3.0]]
    assert equal_width_bins([3.0, 3.0], 5).tolist() == [0.0, 0.0]
    np.testing.assert_array_equal(equal_width_bins([0.0, np.nan, 1.0], 2), [0.0, np.nan, 1.0])
    assert np.isnan(equal_width_bins([np.nan], 2)).all()


def test_scores_keep_their_order_and_many_buckets_keep_them_apart() -> None:
    scores = np.random.default_rng(0).normal(0, 1, 50)
    binned = equal_width_bins(scores, 7)
    assert set(binned) <= set(range(7))
    order = np.argsort(scores)
    assert (np.diff(binned[order]) >= 0).all()
    assert len(set(equal_width_bins(scores, 10**7))) == 50


def test_ties_are_broken_and_all_other_pairs_keep_their_order() -> None:
    scores = np.array([[2.0, 1.0, 1.0], [np.nan, 3.0, 1.0]])
    places = broken_ties(scores, np.random.default_rng(0))
    assert np.isnan(places[1, 0])
    there = places[~np.isnan(scores)]
    assert len(set(there)) == 5
    assert set(there[scores[~np.isnan(scores)] == 1.0]) == {0.0, 1.0, 2.0}
    assert places[1, 1] > places[0, 0] > 2.0


def test_each_order_of_two_equal_scores_is_a_coin() -> None:
    rng = np.random.default_rng(1)
    first = sum(int(broken_ties([1.0, 1.0], rng)[0]) for _ in range(2000))
    assert abs(first - 1000) < 5 * 2000**0.5 / 2  # five standard deviations of Bin(2000, 1/2)


NAN = np.nan


def test_the_rule_is_worked_out_by_hand() -> None:
    # median 3, absolute deviations 2 1 0 1 x, MAD 1: the limit is 2.5 * 1.4826 = 3.7065
    assert mad_outliers([1.0, 2.0, 3.0, 4.0, 6.70]).tolist() == [False] * 5
    assert mad_outliers([1.0, 2.0, 3.0, 4.0, 6.71]).tolist() == [False] * 4 + [True]
    assert mad_outliers([1.0, 2.0, 3.0, 4.0, -9.0]).tolist() == [False] * 4 + [True]


def test_unjudged_systems_take_no_part() -> None:
    assert mad_outliers([1.0, NAN, 2.0, 3.0, 4.0, 30.0]).tolist() == [False] * 5 + [True]
    assert mad_outliers([NAN, NAN]).tolist() == [False, False]


def test_without_deviation_every_other_score_is_an_outlier() -> None:
    assert mad_outliers([1.0, 1.0, 1.0, 1.1]).tolist() == [False, False, False, True]


def test_bad_input_is_refused() -> None:
    refused("finite or NaN", mad_outliers, [1.0, np.inf])


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


def test_standard_scores_are_those_of_scipy() -> None:
    scores = np.random.default_rng(1).integers(0, 9, 40).astype(float)
    assert standardised(scores) == pytest.approx(stats.zscore(scores, ddof=1), abs=1e-12)


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


DISTINCT = st.lists(st.integers(-50, 50), min_size=4, max_size=9, unique=True)


def test_the_scale_is_from_the_lower_quarter_to_the_best_and_the_centre_is_the_median() -> None:
    first, second = [0.0, 1.0, 2.0, 3.0, 9.0], [50.0, 40.0, 30.0, 20.0, 10.0]
    # quarter 1, best 9, median 2: eighths; quarter 20, best 50, median 30: thirtieths
    z = [(-2 / 8 + 20 / 30) / 2, (-1 / 8 + 10 / 30) / 2, 0.0, (1 / 8 - 10 / 30) / 2, (7 / 8 - 20 / 30) / 2]
    found, rank = autorank([first, second])
    assert found.tolist() == pytest.approx(z)
    span = z[0] - z[3]
    assert rank.tolist() == pytest.approx([1 + 4 * (z[0] - one) / span for one in z])


@given(values=DISTINCT, by=st.integers(1, 9), shift=st.integers(-9, 9))
def test_the_unit_of_a_metric_changes_nothing(values: list[int], by: int, shift: int) -> None:
    other = list(reversed(values))
    (_, found), (_, scaled) = autorank([values, other]), autorank([np.array(values) * by + shift, other])
    np.testing.assert_allclose(scaled, found, atol=1e-9)


@given(values=DISTINCT)
def test_ranks_go_from_1_to_the_number_of_systems_in_the_order_of_one_metric(values: list[int]) -> None:
    _, rank = autorank([values])
    assert (rank.min(), rank.max()) == (pytest.approx(1), pytest.approx(len(values)))
    assert np.argsort(rank).tolist() == np.argsort(-np.array(values)).tolist()


def test_a_metric_without_a_scale_leaves_the_ranks_undefined() -> None:
    assert np.isnan(autorank([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])[1]).all()


def test_metrics_that_contradict_each_other_exactly_give_all_the_first_rank() -> None:
    assert autorank([[0.0, 1.0], [1.0, 0.0]])[1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("scores", "percentiles", "words"),
    [
        ([[1.0]], (25, 100), "two systems"),
        ([1.0, 2.0], (25, 100), "two systems"),
        (np.empty((0, 3)), (25, 100), "a metric"),
        ([[1.0, np.nan]], (25, 100), "finite"),
        ([[1.0, 2.0]], (100, 25), "low < high"),
    ],
)
def test_what_cannot_be_ranked_is_refused(scores: object, percentiles: tuple[float, float], words: str) -> None:
    refused(words, autorank, scores, *percentiles)


RNG = np.random.default_rng(5)
DISTURBED = RNG.normal(3, 2, (6, 50))
USED = RNG.random((6, 50)) < 0.9


def drawn(kind: Kind, strength: float, n_draws: int = 4) -> np.ndarray:
    return noisy_scores(DISTURBED, USED, kind, strength, seed=1, n_draws=n_draws)


@pytest.mark.parametrize("kind", KINDS)
def test_no_strength_is_no_noise(kind: Kind) -> None:
    np.testing.assert_array_equal(drawn(kind, 0.0), np.stack([DISTURBED] * 4))


def test_a_segment_bias_leaves_differences_of_systems_and_a_system_bias_those_of_segments() -> None:
    np.testing.assert_allclose(np.diff(drawn("segment", 2.0), axis=1), np.stack([np.diff(DISTURBED, axis=0)] * 4))
    np.testing.assert_allclose(np.diff(drawn("system", 2.0), axis=2), np.stack([np.diff(DISTURBED, axis=1)] * 4))


@pytest.mark.parametrize("kind", ["independent", "segment", "system"])
def test_noise_of_twice_the_strength_is_the_same_draw_twice_as_large(kind: Kind) -> None:
    np.testing.assert_allclose(drawn(kind, 1.0) - DISTURBED, 2 * (drawn(kind, 0.5) - DISTURBED), atol=1e-12)


def test_independent_noise_has_the_standard_deviation_asked_for() -> None:
    added = drawn("independent", 0.5, 200) - DISTURBED  # 60,000 normal numbers: the relative error of their sd is .003
    assert added.std() == pytest.approx(0.5 * DISTURBED[USED].std(), rel=0.015)
    assert abs(added.mean()) < 0.02


def test_outliers_are_a_share_of_what_is_used_ten_deviations_from_the_mean() -> None:
    mean, deviation = DISTURBED[USED].mean(), DISTURBED[USED].std()
    for found in drawn("outliers", 0.1):
        changed = found != DISTURBED
        assert changed.sum() == round(0.1 * USED.sum())
        assert not (changed & ~USED).any()
        np.testing.assert_allclose(np.abs(found[changed] - mean), 10 * deviation)


def test_fewer_outliers_are_among_more() -> None:
    few, many = drawn("outliers", 0.02), drawn("outliers", 0.1)
    changed = few != DISTURBED
    np.testing.assert_array_equal(few[changed], many[changed])


def test_draws_differ_by_seed_and_not_by_their_number() -> None:
    np.testing.assert_array_equal(drawn("independent", 1.0, 2), drawn("independent", 1.0, 4)[:2])
    assert not np.array_equal(drawn("independent", 1.0)[0], drawn("independent", 1.0)[1])
    other = noisy_scores(DISTURBED, USED, "independent", 1.0, seed=2, n_draws=1)
    assert not np.array_equal(drawn("independent", 1.0, 1), other)
