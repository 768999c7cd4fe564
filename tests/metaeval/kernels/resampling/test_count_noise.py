"""Noise of the number of significant pairs."""

from __future__ import annotations

import numpy as np
import pytest

from metaeval.kernels.resampling.count_noise import count_noise


def test_pairs_far_from_the_level_add_no_noise() -> None:
    null = np.array([[0.0] * 99 + [5.0], [0.0] * 99 + [5.0], [9.0] * 100])
    found = count_noise(null, [3.0, 1.0, 0.0], np.random.default_rng(0), alpha=0.5)
    assert (found.n_significant, found.n_clusters) == (0.0, 0.0)


def test_one_pair_at_the_level_is_a_coin() -> None:
    # 50 of 1000 draws are as extreme: of redrawn ones Bin(1000, .05) <= 50 is significant, about 54%: sd near .5
    null = np.array([[2.0] * 50 + [0.0] * 950])
    found = count_noise(null, [1.0, 0.0], np.random.default_rng(1), alpha=0.05, n_resamples=2000)
    assert found.n_significant == pytest.approx(0.498, abs=0.01)
    assert found.n_clusters == pytest.approx(found.n_significant)


def test_pairs_that_share_their_draws_move_together() -> None:
    one = np.array([2.0] * 50 + [0.0] * 950)
    values = [2.0, 1.0, 1.0]  # the third pair is equal: never significant
    together = count_noise(np.array([one, one, one]), values, np.random.default_rng(1), n_resamples=2000)
    apart = count_noise(np.array([one, one[::-1], one]), values, np.random.default_rng(1), n_resamples=2000)
    assert together.n_significant == pytest.approx(2 * 0.498, abs=0.02)
    assert apart.n_significant < together.n_significant


def test_values_of_other_seeds_add_their_own_variance() -> None:
    null = np.array([[1.0] * 10 + [0.0] * 90])
    still = count_noise(null, [0.5, 0.0], np.random.default_rng(2), alpha=0.05)
    moved = count_noise(null, [0.5, 0.0], np.random.default_rng(2), alpha=0.05, other_values=[[2.0, 0.0], [0.0, 2.0]])
    # one of three runs finds nothing, two find the pair (in either direction): sd of 0, 1, 1
    assert moved.n_significant**2 - still.n_significant**2 == pytest.approx(np.var([0, 1, 1], ddof=1))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        count_noise(np.zeros((2, 5)), [1.0, 0.0], np.random.default_rng(0))
