"""Ablation of systems and of segments, and noise of counts: by hand, against plain loops, and limits."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from metaeval import kernels
from metaeval.kernels.resampling.stability import count_noise, segment_ablation, system_ablation


def _agreements(rng: np.random.Generator, n_metrics: int, n_systems: int) -> np.ndarray:
    return rng.uniform(0, 1, (n_metrics, n_systems, n_systems))


def test_all_systems_correlate_perfectly_with_themselves() -> None:
    found = system_ablation(_agreements(np.random.default_rng(0), 4, 5), [5], np.random.default_rng(1), 3)
    np.testing.assert_allclose(found, 1.0)


def test_subsets_of_two_of_three_systems_have_the_three_correlations_that_there_are() -> None:
    given = np.zeros((3, 3, 3))
    upper = np.triu_indices(3, 1)  # pairs (0, 1), (0, 2), (1, 2)
    given[:, *upper] = [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0], [0.2, 0.1, 0.9]]
    whole = given[:, *upper].mean(axis=1)  # .5, .5, .4
    expected = {
        round(float(np.corrcoef(given[:, i, j], whole)[0, 1]), 9)
        for i, j in combinations(range(3), 2)
        if i != 0 or j != 2
    }
    expected.add(round(float(np.corrcoef(given[:, 0, 2], whole)[0, 1]), 9))
    found = system_ablation(given, [2], np.random.default_rng(0), 200)
    assert {round(float(value), 9) for value in found[0]} == expected


def test_a_subset_in_which_all_metrics_are_equal_has_no_correlation() -> None:
    given = np.ones((3, 3, 3))
    given[:, 0, 1] = [0.0, 0.5, 1.0]
    found = system_ablation(given, [2], np.random.default_rng(0), 50)[0]
    assert np.isnan(found).any()
    np.testing.assert_allclose(found[~np.isnan(found)], 1.0)


def _scores(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    human = np.round(rng.normal(0, 1, (4, 12)) + np.arange(4)[:, np.newaxis] / 3, 1)
    return human, human + rng.normal(0, 1, (2, 4, 12))


def test_one_segment_drawn_again_and_again_is_that_segment() -> None:
    rng = np.random.default_rng(3)
    human, metrics = _scores(rng)
    found = segment_ablation(human[:, :1], metrics[:, :, :1], [5], np.random.default_rng(0), 4)
    expected = kernels.pairwise_accuracy(human[:, 0], metrics[:, :, 0]).accuracy
    np.testing.assert_allclose(found[0][0], np.broadcast_to(expected, (4, 2)))


def test_drawn_segments_give_what_a_plain_loop_over_the_same_draws_gives() -> None:
    human, metrics = _scores(np.random.default_rng(4))
    human[1, 3] = human[2, 5] = np.nan
    found = segment_ablation(human, metrics, [6, 20], np.random.default_rng(9), 3)
    streams = np.random.default_rng(9).spawn(2)
    for place, size in enumerate((6, 20)):
        (stream,) = streams[place].spawn(1)
        for draw, picks in enumerate(stream.integers(0, 12, size=(3, size))):
            people, automatic = human[:, picks], metrics[:, :, picks]
            judged = ~np.isnan(people)
            p = kernels.normal_p_values(np.concatenate([people[np.newaxis], automatic]), judged)
            means = [np.nanmean(np.where(judged, one, np.nan), axis=1) for one in (people, *automatic)]
            expected = kernels.pairwise_accuracy(means[0], means[1:]).accuracy
            np.testing.assert_allclose(found[place][0][draw], expected)
            np.testing.assert_allclose(found[place][1][draw], kernels.soft_pairwise_accuracy(p[0], p[1:]))


def test_pairs_far_from_the_level_add_no_noise() -> None:
    null = np.array([[0.0] * 99 + [5.0], [0.0] * 99 + [5.0], [9.0] * 100])
    found = count_noise(null, [3.0, 1.0, 0.0], np.random.default_rng(0), alpha=0.5)
    assert found == (0.0, 0.0)


def test_one_pair_at_the_level_is_a_coin() -> None:
    # 50 of 1000 draws are as extreme: of redrawn ones Bin(1000, .05) <= 50 is significant, about 54%: sd near .5
    null = np.array([[2.0] * 50 + [0.0] * 950])
    of_pairs, of_clusters = count_noise(null, [1.0, 0.0], np.random.default_rng(1), alpha=0.05, n_resamples=2000)
    assert of_pairs == pytest.approx(0.498, abs=0.01)
    assert of_clusters == pytest.approx(of_pairs)


@pytest.mark.slow
def test_pairs_that_share_their_draws_move_together() -> None:
    one = np.array([2.0] * 50 + [0.0] * 950)
    values = [2.0, 1.0, 1.0]  # the third pair is equal: never significant
    together, _ = count_noise(np.array([one, one, one]), values, np.random.default_rng(1), n_resamples=2000)
    apart, _ = count_noise(np.array([one, one[::-1], one]), values, np.random.default_rng(1), n_resamples=2000)
    assert together == pytest.approx(2 * 0.498, abs=0.02)
    assert apart < together


def test_values_of_other_seeds_add_their_own_variance() -> None:
    null = np.array([[1.0] * 10 + [0.0] * 90])
    still, _ = count_noise(null, [0.5, 0.0], np.random.default_rng(2), alpha=0.05)
    moved, _ = count_noise(
        null, [0.5, 0.0], np.random.default_rng(2), alpha=0.05, other_values=[[2.0, 0.0], [0.0, 2.0]]
    )
    # one of three runs finds nothing, two find the pair (in either direction): sd of 0, 1, 1
    assert moved**2 - still**2 == pytest.approx(np.var([0, 1, 1], ddof=1))
