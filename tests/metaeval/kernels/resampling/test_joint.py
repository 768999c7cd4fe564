"""Weighted sums of statistics whose shared units are swapped, or drawn, together."""

import numpy as np
import pytest

from metaeval.kernels.resampling.bootstrap import bootstrap
from metaeval.kernels.resampling.joint import JointResample, joint_swap
from metaeval.kernels.resampling.permutation import permutation_test
from metaeval.kernels.resampling.permutation_groups import group_swap
from metaeval.kernels.resampling.resampled_statistics import AnyResample
from tests.helpers import refused

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


def _means(human: np.ndarray, metrics: np.ndarray, origins: object) -> np.ndarray:
    return np.asarray(metrics.mean(axis=(1, 2)))


def _part(metrics: np.ndarray) -> AnyResample:
    return AnyResample(_means, np.zeros(metrics.shape[1:]), metrics)


def test_a_unit_that_is_drawn_twice_counts_twice_in_every_part_by_hand() -> None:
    """Two metrics, one system. Part one has the units 0 and 1, part two unit 1 alone, of weights 1 and 10."""
    one = _part(np.array([[[1.0, 3.0]], [[2.0, 2.0]]]))
    two = _part(np.array([[[5.0]], [[7.0]]]))
    joint = JointResample([one, two], [1.0, 10.0], [np.array([0, 1]), np.array([1])], 2)
    assert joint.shape == (1, 2)
    assert joint.values(None, None, 1).tolist() == [[2.0 + 50.0, 2.0 + 70.0]]
    drawn = joint.values(None, np.array([[1, 1], [0, 0]]), 2)
    assert drawn[0].tolist() == [3.0 + 50.0, 2.0 + 70.0]  # unit 1 twice
    assert np.isnan(drawn[1]).all()  # no segment of part two


def test_it_is_the_weighted_sum_of_the_parts_on_the_same_draws() -> None:
    rng = np.random.default_rng(1)
    metrics = rng.normal(size=(3, 4, 6))
    units = np.array([2, 0, 1, 1, 4, 3])  # two segments are of unit 1
    whole = _part(rng.normal(size=(3, 4, 5)))
    picks = rng.integers(5, size=(7, 5))
    joint = JointResample([whole, _part(metrics)], [0.3, 0.7], [np.arange(5), units], 5)
    for row, found in zip(picks, joint.values(None, picks, 7), strict=True):
        columns = [place for unit in row for place in range(6) if units[place] == unit]
        if columns:
            naive = 0.3 * whole.metrics[:, :, row].mean(axis=(1, 2)) + 0.7 * metrics[:, :, columns].mean(axis=(1, 2))
            assert np.allclose(found, naive, rtol=0, atol=1e-12)


def test_parts_that_err_alike_vary_more_together_than_apart() -> None:
    """The variance of the sum of a part and itself is four times its own, not twice."""
    part = _part(np.random.default_rng(2).normal(size=(2, 3, 40)))
    places = np.arange(40)
    rng = {"rng": np.random.default_rng(3), "n_draws": 200}
    twice = bootstrap(JointResample([part, part], [1.0, 1.0], [places, places], 40), "inputs", **rng).draws
    assert twice.var(axis=1) == pytest.approx(
        4 * bootstrap(part, "inputs", rng=np.random.default_rng(3), n_draws=200).draws.var(axis=1)
    )


def test_systems_cannot_be_resampled_together() -> None:
    joint = JointResample([_part(np.zeros((2, 1, 3)))], [1.0], [np.arange(3)], 3)
    refused("systems of their own", joint.values, np.zeros((1, 1), dtype=np.int64), None, 1)
