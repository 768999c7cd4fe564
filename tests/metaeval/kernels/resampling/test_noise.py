"""Noise in a metric: what each kind leaves alone, its size, and the same draws at every strength."""

import numpy as np
import pytest

from metaeval.kernels.resampling.noise import KINDS, Kind, noisy_scores

RNG = np.random.default_rng(5)
SCORES = RNG.normal(3, 2, (6, 50))
USED = RNG.random((6, 50)) < 0.9


def drawn(kind: Kind, strength: float, n_draws: int = 4) -> np.ndarray:
    return noisy_scores(SCORES, USED, kind, strength, seed=1, n_draws=n_draws)


@pytest.mark.parametrize("kind", KINDS)
def test_no_strength_is_no_noise(kind: Kind) -> None:
    np.testing.assert_array_equal(drawn(kind, 0.0), np.stack([SCORES] * 4))


def test_a_segment_bias_leaves_differences_of_systems_and_a_system_bias_those_of_segments() -> None:
    np.testing.assert_allclose(np.diff(drawn("segment", 2.0), axis=1), np.stack([np.diff(SCORES, axis=0)] * 4))
    np.testing.assert_allclose(np.diff(drawn("system", 2.0), axis=2), np.stack([np.diff(SCORES, axis=1)] * 4))


@pytest.mark.parametrize("kind", ["independent", "segment", "system"])
def test_noise_of_twice_the_strength_is_the_same_draw_twice_as_large(kind: Kind) -> None:
    np.testing.assert_allclose(drawn(kind, 1.0) - SCORES, 2 * (drawn(kind, 0.5) - SCORES), atol=1e-12)


def test_independent_noise_has_the_standard_deviation_asked_for() -> None:
    added = drawn("independent", 0.5, 200) - SCORES  # 60,000 normal numbers: the relative error of their sd is .003
    assert added.std() == pytest.approx(0.5 * SCORES[USED].std(), rel=0.015)
    assert abs(added.mean()) < 0.02


def test_outliers_are_a_share_of_what_is_used_ten_deviations_from_the_mean() -> None:
    mean, deviation = SCORES[USED].mean(), SCORES[USED].std()
    for found in drawn("outliers", 0.1):
        changed = found != SCORES
        assert changed.sum() == round(0.1 * USED.sum())
        assert not (changed & ~USED).any()
        np.testing.assert_allclose(np.abs(found[changed] - mean), 10 * deviation)


def test_fewer_outliers_are_among_more() -> None:
    few, many = drawn("outliers", 0.02), drawn("outliers", 0.1)
    changed = few != SCORES
    np.testing.assert_array_equal(few[changed], many[changed])


def test_draws_differ_by_seed_and_not_by_their_number() -> None:
    np.testing.assert_array_equal(drawn("independent", 1.0, 2), drawn("independent", 1.0, 4)[:2])
    assert not np.array_equal(drawn("independent", 1.0)[0], drawn("independent", 1.0)[1])
    other = noisy_scores(SCORES, USED, "independent", 1.0, seed=2, n_draws=1)
    assert not np.array_equal(drawn("independent", 1.0, 1), other)


@pytest.mark.parametrize(
    ("scores", "used", "kind", "strength", "message"),
    [
        (SCORES, USED[:2], "segment", 1.0, "n_systems"),
        (SCORES, np.zeros_like(USED), "segment", 1.0, "at least one"),
        (np.where(USED, np.nan, SCORES), USED, "segment", 1.0, "finite"),
        (SCORES, USED, "segment", -1.0, "strength -1.0"),
        (SCORES, USED, "outliers", 1.5, "share up to 1"),
    ],
)
def test_what_makes_no_sense_is_refused(
    scores: np.ndarray, used: np.ndarray, kind: Kind, strength: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        noisy_scores(scores, used, kind, strength, seed=0, n_draws=1)
