"""Ranges of ranks: by hand, their coverage by simulation, and stable rankings."""

import numpy as np
import pytest

from metaeval.kernels.resampling.rank_ranges import (
    is_stable,
    ranges_by_test,
    rank_ranges,
    ranks_of_draws,
    resampled_means,
    stable_ranking_probability,
)
from metaeval.kernels.resampling.system_tests import paired_t_p_values


def test_a_system_without_a_score_ranks_last() -> None:
    assert ranks_of_draws([[np.nan], [1.0], [0.0]]).tolist() == [[3], [1], [2]]


def test_means_of_all_segments_are_the_middle_of_resampled_ones() -> None:
    rng = np.random.default_rng(0)
    scores, judged = rng.normal(size=(3, 200)), rng.random((3, 200)) < 0.7
    found = resampled_means(scores, judged, rng, 2000)
    mean = np.array([one[of].mean() for one, of in zip(scores, judged, strict=True)])
    error = np.array([one[of].std() / np.sqrt(of.sum()) for one, of in zip(scores, judged, strict=True)])
    assert found.mean(axis=1) == pytest.approx(mean, abs=4 * error.max() / np.sqrt(2000))
    assert found.std(axis=1) == pytest.approx(error, rel=0.1)


def test_one_document_has_one_mean() -> None:
    scores = np.random.default_rng(0).normal(size=(2, 9))
    found = resampled_means(
        scores, np.ones((2, 9)), np.random.default_rng(1), 30, documents=np.zeros(9, dtype=np.int64)
    )
    assert found == pytest.approx(np.repeat(scores.mean(axis=1)[:, np.newaxis], 30, axis=1))


@pytest.mark.parametrize("by", ["resamples", "test"])
def test_ranges_hold_the_true_rank(by: str) -> None:
    """Of 8 systems with true means .1 of a deviation apart, over 120 simulated campaigns of 100 segments.

    960 ranges: with a true coverage of 95% a share below .93 has a probability below .01 (they are not independent, so
    that the binomial standard error, .007, is doubled).
    """
    rng = np.random.default_rng(4)
    truth = -0.1 * np.arange(8)
    n_held = []
    for _ in range(120):
        scores = truth[:, np.newaxis] + rng.normal(size=(8, 100)) + rng.normal(size=100)
        judged = np.ones(scores.shape, dtype=bool)
        if by == "resamples":
            low, high = rank_ranges(resampled_means(scores, judged, rng, 200))
        else:
            low, high = ranges_by_test(scores.mean(axis=1), paired_t_p_values(scores[np.newaxis], judged))
        n_held.append(((low <= np.arange(1, 9)) & (np.arange(1, 9) <= high)).mean())
    assert np.mean(n_held) > 0.93


def test_what_is_the_same_twice_is_stable_and_what_is_turned_round_is_not() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4, 60)) + 2 * np.arange(4)[:, np.newaxis]
    assert is_stable(scores, scores) == (True, 6)
    assert is_stable(scores, scores[::-1]) == (False, 6)
    assert is_stable(np.zeros((4, 60)), scores) == (True, 0)
    assert stable_ranking_probability([scores, scores], rng, 20) == (1.0, 6.0)


def test_more_noise_of_raters_makes_rankings_less_stable() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(6, 80)) + 0.2 * np.arange(6)[:, np.newaxis]
    found = [
        stable_ranking_probability([truth + noise * rng.normal(size=(6, 80)) for _ in range(3)], rng, 150)[0]
        for noise in (0.05, 2.0)
    ]
    assert found[0] > found[1]
