from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import (
    binarised_pairwise_accuracy,
    draw_signs,
    pairwise_accuracy,
    sign_flip_p_values,
    soft_pairwise_accuracies,
    soft_pairwise_accuracy,
)

NAN = np.nan


def matrix(*upper: float) -> np.ndarray:
    p = np.full((3, 3), NAN)
    p[np.triu_indices(3, 1)] = upper
    return p


def test_three_pairs_are_worked_out_by_hand() -> None:
    human, metric = matrix(0.1, 0.5, 0.9), matrix(0.2, 0.1, 0.9)
    assert soft_pairwise_accuracy(human, metric) == pytest.approx(1 - (0.1 + 0.4 + 0.0) / 3)
    # binarised: 0 1 1 and 0 0 1
    assert binarised_pairwise_accuracy(human, metric) == pytest.approx(2 / 3)


def test_many_metrics_are_compared_with_one_human_matrix() -> None:
    human = matrix(0.1, 0.5, 0.9)
    values = soft_pairwise_accuracy(human, np.stack([human, 1 - human]))
    assert values == pytest.approx([1.0, 1 - (0.8 + 0.0 + 0.8) / 3])


P = st.lists(st.floats(0, 1), min_size=3, max_size=3)


@given(P, P)
def test_values_lie_between_0_and_1_and_do_not_care_which_side_is_human(a: list[float], b: list[float]) -> None:
    value = soft_pairwise_accuracy(matrix(*a), matrix(*b))
    assert 0 <= value <= 1
    assert value == soft_pairwise_accuracy(matrix(*b), matrix(*a))
    assert soft_pairwise_accuracy(matrix(*a), matrix(*a)) == 1


def test_matrices_must_fit_and_be_defined_above_the_diagonal() -> None:
    with pytest.raises(ValueError, match="must have the same systems"):
        soft_pairwise_accuracy(matrix(0, 0, 0), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="p_metric has a value outside"):
        soft_pairwise_accuracy(matrix(0, 0, 0), matrix(0, NAN, 0))


def test_all_metrics_at_once_equal_one_at_a_time_with_the_same_signs() -> None:
    rng = np.random.default_rng(1)
    human = -np.round(rng.gamma(0.5, 3, (5, 60)), 1)
    human[:, rng.random(60) < 0.3] = NAN
    metrics = rng.normal(size=(4, 5, 60)) + np.nan_to_num(human)
    values = soft_pairwise_accuracies(human, metrics, np.random.default_rng(7), n_draws=200)
    signs = draw_signs(np.random.default_rng(7), 200, 60)
    judged = ~np.isnan(human)
    p_human = sign_flip_p_values(human, judged, signs)[0]
    for metric, value in zip(metrics, values, strict=True):
        p_metric = sign_flip_p_values(metric, judged, signs)[0]
        assert value == pytest.approx(float(soft_pairwise_accuracy(p_human, p_metric)), abs=1e-15)


def test_a_metric_equal_to_the_human_scores_gets_1() -> None:
    human = np.random.default_rng(2).normal(size=(4, 30))
    assert soft_pairwise_accuracies(human, human[np.newaxis], np.random.default_rng(0)).tolist() == [1.0]
    assert soft_pairwise_accuracies(human, human[np.newaxis], n_draws=None).tolist() == [1.0]


def test_binarised_values_are_pairwise_accuracy_of_the_means() -> None:
    rng = np.random.default_rng(3)
    effects = np.array([0.0, 1.0, 2.0, 3.0, 4.0])[:, np.newaxis]
    human = rng.normal(size=(5, 80)) + effects
    metrics = rng.normal(size=(6, 5, 80)) + effects * rng.choice([-1.0, 1.0], (6, 5, 1))
    signs = draw_signs(rng, 1000, 80)
    p = sign_flip_p_values(np.concatenate([human[np.newaxis], metrics]), np.ones((5, 80)), signs)
    binarised = binarised_pairwise_accuracy(p[0], p[1:])
    np.testing.assert_allclose(binarised, pairwise_accuracy(human.mean(1), metrics.mean(2)).accuracy)


def test_the_normal_approximation_is_near_the_drawn_value() -> None:
    rng = np.random.default_rng(4)
    human = rng.normal(size=(8, 400)) + 0.05 * np.arange(8)[:, np.newaxis]
    metrics = human + rng.normal(size=(5, 8, 400))
    drawn = soft_pairwise_accuracies(human, metrics, rng, n_draws=1000)
    limit = soft_pairwise_accuracies(human, metrics, n_draws=None)
    assert np.abs(drawn - limit).max() < 0.01  # seeds differ by 0.002 at most at this number of draws


def test_drawing_needs_a_generator() -> None:
    with pytest.raises(ValueError, match="rng is needed"):
        soft_pairwise_accuracies(np.zeros((2, 3)), np.zeros((1, 2, 3)))
