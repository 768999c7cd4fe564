"""Several statistics whose shared units are swapped together."""

import numpy as np
import pytest

from metaeval.kernels.resampling.joint_swap import joint_swap
from metaeval.kernels.resampling.permutation import permutation_test
from metaeval.kernels.resampling.permutation_groups import group_swap

FIRST = np.array([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])  # two metrics, segments 0, 1, 2
SECOND = np.array([[5.0, 1.0], [2.0, 2.0]])  # segments 2 and 0


def parts() -> list[object]:
    return [group_swap(FIRST, np.arange(3), (3,)), group_swap(SECOND, np.arange(2), (2,))]


def test_a_swapped_segment_is_swapped_in_every_statistic_that_has_it() -> None:
    joint = joint_swap(parts(), [1.0, 0.5], [np.array([0, 1, 2]), np.array([2, 0])], 3)  # type: ignore[arg-type]
    swaps = np.array([[False, False, False], [True, False, False], [False, False, True]])
    found = joint.hybrids(swaps)
    # nothing swapped: 7/3 + 3/2; segment 0 swapped: (0 + 2 + 4)/3 + (5 + 2)/4; segment 2: (1 + 2 + 1)/3 + (2 + 1)/4
    assert found[:, 0, 1].tolist() == pytest.approx([7 / 3 + 1.5, 2 + 1.75, 4 / 3 + 0.75])
    # metric 1 with segments of metric 0: 4/3 + 1; (1 + 3 + 1)/3 + (2 + 1)/4; (0 + 3 + 4)/3 + (5 + 2)/4
    assert found[:, 1, 0].tolist() == pytest.approx([4 / 3 + 1, 5 / 3 + 0.75, 7 / 3 + 1.75])


def test_one_statistic_alone_is_tested_as_by_itself() -> None:
    rng = np.random.default_rng(3)
    alone = group_swap(rng.normal(size=(3, 20)), np.arange(20), (20,))
    joint = joint_swap([alone], [2.0], [np.arange(20)], 20)
    one, other = (permutation_test(s, rng=np.random.default_rng(1), n_draws=200) for s in (alone, joint))
    assert np.array_equal(one.p, other.p, equal_nan=True)
    np.testing.assert_allclose(other.values, 2 * one.values)


def test_what_two_tasks_share_is_not_counted_twice() -> None:
    """A task that comes twice is no more evidence: p is that of the task once, not that of two independent ones."""
    gaps = np.random.default_rng(5).normal(size=40)
    gaps += 0.2 * gaps.std() - gaps.mean()  # 1.3 standard errors above 0: p near .1 once, 1.8 and .04 as if independent
    task = group_swap(np.stack([gaps, np.zeros(40)]), np.arange(40), (40,))
    once = permutation_test(task, rng=np.random.default_rng(1), n_draws=500)
    twice = joint_swap([task, task], [0.5, 0.5], [np.arange(40)] * 2, 40)
    apart = joint_swap([task, task], [0.5, 0.5], [np.arange(40), np.arange(40, 80)], 80)
    together = permutation_test(twice, rng=np.random.default_rng(1), n_draws=500).p
    assert np.array_equal(together, once.p, equal_nan=True)
    assert 0 < permutation_test(apart, rng=np.random.default_rng(1), n_draws=500).p[0, 1] < once.p[0, 1] < 0.2


@pytest.mark.parametrize(
    ("weights", "places", "said"),
    [
        ([1.0], [np.arange(3), np.arange(2)], "2 statistics, 1 weights and 2 masks"),
        ([1.0, 1.0], [np.arange(3), np.arange(3)], "3 places among 3 units do not fit a mask of shape"),
        ([1.0, 1.0], [np.arange(3), np.array([2, 3])], "2 places among 3 units do not fit"),
    ],
)
def test_what_does_not_fit_is_refused(weights: list[float], places: list[np.ndarray], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        joint_swap(parts(), weights, places, 3)  # type: ignore[arg-type]


def test_other_numbers_of_metrics_are_refused() -> None:
    more = group_swap(np.zeros((3, 2)), np.arange(2), (2,))
    with pytest.raises(ValueError, match="2 and of 3 metrics cannot be added"):
        joint_swap([parts()[0], more], [1.0, 1.0], [np.arange(3), np.arange(2)], 3)  # type: ignore[list-item]
