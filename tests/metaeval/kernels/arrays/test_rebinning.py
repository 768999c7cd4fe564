"""Buckets of equal width, and ties broken at random."""

import numpy as np
import pytest

from metaeval.kernels.arrays.rebinning import broken_ties, equal_width_bins


def test_buckets_are_of_equal_width_and_the_largest_score_is_in_the_last() -> None:
    assert equal_width_bins([[10.0, 12.4], [12.5, 20.0]], 4).tolist() == [[0.0, 0.0], [1.0, 3.0]]
    assert equal_width_bins([3.0, 3.0], 5).tolist() == [0.0, 0.0]
    np.testing.assert_array_equal(equal_width_bins([0.0, np.nan, 1.0], 2), [0.0, np.nan, 1.0])
    assert np.isnan(equal_width_bins([np.nan], 2)).all()
    with pytest.raises(ValueError, match="at least 1"):
        equal_width_bins([1.0], 0)


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
