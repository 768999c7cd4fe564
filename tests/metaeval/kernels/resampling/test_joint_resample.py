"""A weighted sum of statistics whose shared units are drawn together."""

import numpy as np
import pytest

from metaeval.kernels.resampling.bootstrap import bootstrap
from metaeval.kernels.resampling.joint_resample import JointResample
from metaeval.kernels.resampling.resampled_statistics import AnyResample


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


@pytest.mark.parametrize("places", [[0, 1], [0, 1, 5], [-1, 0, 1]])
def test_places_are_those_of_the_segments(places: list[int]) -> None:
    with pytest.raises(ValueError, match="places among 5 units for 3 segments"):
        JointResample([_part(np.zeros((2, 1, 3)))], [1.0], [np.array(places)], 5)


def test_systems_cannot_be_resampled_together_and_something_is_to_be_added() -> None:
    joint = JointResample([_part(np.zeros((2, 1, 3)))], [1.0], [np.arange(3)], 3)
    with pytest.raises(ValueError, match="systems of their own"):
        joint.values(np.zeros((1, 1), dtype=np.int64), None, 1)
    with pytest.raises(ValueError, match="0 statistics"):
        JointResample([], [], [], 3)
