from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import (
    draw_signs,
    normal_p_values,
    pairwise_accuracy,
    sign_flip_p_values,
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
    assert soft_pairwise_accuracy(human, metric, binary=True) == pytest.approx(2 / 3)


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


def test_the_mean_is_over_the_counted_pairs_alone() -> None:
    human, metric = matrix(0.1, 0.5, 0.9), matrix(0.2, 0.1, 0.9)
    counted = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)  # the first and the third share no segment
    assert soft_pairwise_accuracy(human, metric, counted=counted) == pytest.approx(1 - (0.1 + 0.0) / 2)
    assert soft_pairwise_accuracy(human, metric, counted=counted, binary=True) == 1
    with pytest.raises(ValueError, match="no pair of systems"):
        soft_pairwise_accuracy(human, metric, counted=np.eye(3, dtype=bool))
    with pytest.raises(ValueError, match="counted"):
        soft_pairwise_accuracy(human, metric, counted=np.ones((2, 2), dtype=bool))


def test_matrices_must_fit_and_be_defined_above_the_diagonal() -> None:
    with pytest.raises(ValueError, match="must have the same systems"):
        soft_pairwise_accuracy(matrix(0, 0, 0), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="p_metric has a value outside"):
        soft_pairwise_accuracy(matrix(0, 0, 0), matrix(0, NAN, 0))


def test_a_metric_equal_to_the_human_scores_gets_1() -> None:
    human = np.random.default_rng(2).normal(size=(4, 30))
    judged = np.ones(human.shape, dtype=bool)
    for p in (
        sign_flip_p_values([human, human], judged, draw_signs(np.random.default_rng(0), 1000, 30)),
        normal_p_values([human, human], judged),
    ):
        assert soft_pairwise_accuracy(p[0], p[1:]).tolist() == [1.0]


def test_binarised_values_are_pairwise_accuracy_of_the_means() -> None:
    rng = np.random.default_rng(3)
    effects = np.array([0.0, 1.0, 2.0, 3.0, 4.0])[:, np.newaxis]
    human = rng.normal(size=(5, 80)) + effects
    metrics = rng.normal(size=(6, 5, 80)) + effects * rng.choice([-1.0, 1.0], (6, 5, 1))
    signs = draw_signs(rng, 1000, 80)
    p = sign_flip_p_values(np.concatenate([human[np.newaxis], metrics]), np.ones((5, 80)), signs)
    binarised = soft_pairwise_accuracy(p[0], p[1:], binary=True)
    np.testing.assert_allclose(binarised, pairwise_accuracy(human.mean(1), metrics.mean(2)).accuracy)


def test_the_normal_approximation_is_near_the_drawn_value() -> None:
    rng = np.random.default_rng(4)
    human = rng.normal(size=(8, 400)) + 0.05 * np.arange(8)[:, np.newaxis]
    metrics = human + rng.normal(size=(5, 8, 400))
    scores, judged = np.concatenate([human[np.newaxis], metrics]), np.ones(human.shape, dtype=bool)
    p_drawn = sign_flip_p_values(scores, judged, draw_signs(rng, 1000, 400))
    p_limit = normal_p_values(scores, judged)
    drawn, limit = (soft_pairwise_accuracy(p[0], p[1:]) for p in (p_drawn, p_limit))
    assert np.abs(drawn - limit).max() < 0.01  # seeds differ by 0.002 at most at this number of draws
