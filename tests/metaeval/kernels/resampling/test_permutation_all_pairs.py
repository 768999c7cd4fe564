"""Kendall's τ_b over groups of hybrids: looked up against every hybrid counted anew."""

from typing import get_args

import numpy as np
import numpy.typing as npt
import pytest

from metaeval.kernels.agreement.pair_counts import pair_counts
from metaeval.kernels.agreement.tau import average, tau_b
from metaeval.kernels.arrays.grouping import Grouping, group_labels
from metaeval.kernels.resampling import permutation_all_pairs
from metaeval.kernels.resampling.permutation import draw_swaps, standardise
from metaeval.kernels.resampling.permutation_all_pairs import all_pairs_swap
from metaeval.kernels.resampling.permutation_groups import any_swap
from metaeval.kernels.resampling.prepared import Swap, mask_shape
from tests.helpers import sampled
from tests.metaeval.kernels.strategies import coarse_scores

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def _labels(by: Grouping, shape: tuple[int, ...]) -> Ints:
    documents = np.arange(shape[1]) // 4
    return group_labels(by, (shape[0], shape[1]), documents=documents)


def _counted_anew(labels: Ints, human: Floats, metrics: Floats) -> Floats:
    return average(tau_b, pair_counts(human, metrics, labels)).value


def _assert_as_counted_anew(human: Floats, metrics: Floats, labels: Ints, swap: Swap, n_draws: int = 6) -> None:
    swaps = draw_swaps(np.random.default_rng(1), n_draws, mask_shape(swap, human.shape))
    swaps[0], swaps[1] = False, True
    slow = any_swap(human, metrics, lambda h, m: _counted_anew(labels, h, m), swap).hybrids(swaps)
    np.testing.assert_array_equal(all_pairs_swap(human, metrics, swap, labels).hybrids(swaps), slow)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("by", "swap", "seed"), sampled(3, "each with each: 2 seconds", ["none", "system", "doc"], get_args(Swap), range(3))
)
def test_hybrids_have_the_values_of_counting_them_anew(swap: Swap, by: Grouping, seed: int) -> None:
    human, metrics = coarse_scores(seed)
    _assert_as_counted_anew(human, metrics, _labels(by, human.shape), swap)


@pytest.mark.every(3)
@pytest.mark.parametrize("n_human", [1, 2, 40, 1000])
@pytest.mark.parametrize("by", ["none", "system"])
def test_few_and_many_kinds_of_human_scores_are_counted_alike(by: Grouping, n_human: int) -> None:
    human, metrics = coarse_scores(5, (4, 30), n_human)
    _assert_as_counted_anew(human, metrics, _labels(by, human.shape), "both")


def test_pieces_and_parts_of_the_draws_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    human, metrics = coarse_scores(3, (4, 30), 40)
    monkeypatch.setattr(permutation_all_pairs, "AT_ONCE", 4)
    monkeypatch.setattr(permutation_all_pairs, "LOOKED_UP", 7 * 6 * 4)
    _assert_as_counted_anew(human, metrics, _labels("system", human.shape), "both")


def test_sums_beyond_16_bits_are_whole() -> None:
    """Nearly all of 17,000 cells are taken, and most of them lie below the best hundred, twice for one metric's own."""
    order = np.arange(17_000.0)[np.newaxis]
    human, metrics = (order >= 16_900).astype(float), np.stack([order, -order])
    swaps = order[np.newaxis] % 500 > 0
    (found,) = all_pairs_swap(human, metrics).hybrids(swaps)
    scores, labels = standardise(human, metrics), _labels("none", human.shape)
    expected = [_counted_anew(labels, human, np.where(swaps, b, a))[0] for a in scores for b in scores]
    np.testing.assert_array_equal(found.ravel(), expected)


def test_scores_outside_of_all_groups_are_not_used() -> None:
    human, metrics = coarse_scores(2)
    labels = _labels("system", human.shape)
    labels[1], labels[2, 4:] = -1, -1
    _assert_as_counted_anew(human, metrics, labels, "both")


def test_human_scores_that_are_all_equal_leave_no_value() -> None:
    human, metrics = coarse_scores(1)
    human[~np.isnan(human)] = 1.0
    assert np.isnan(all_pairs_swap(human, metrics).hybrids(np.ones((1, *human.shape), dtype=bool))).all()


def test_groups_of_one_score_leave_no_value() -> None:
    human, metrics = np.array([[1.0, np.nan, 2.0]]), np.arange(6.0).reshape(2, 1, 3)
    found = all_pairs_swap(human, metrics, "both", [[0, 1, 2]]).hybrids(np.ones((2, 1, 3), dtype=bool))
    assert found.shape == (2, 2, 2)
    assert np.isnan(found).all()


def test_a_hybrid_by_hand() -> None:
    """The second score of -1, 0, 1 comes from -1, 1, 0: two pairs of -1, 1, 1 are right and one is tied."""
    human = np.array([[1.0, 2.0, 3.0]])
    metrics = np.array([[[-1.0, 0.0, 1.0]], [[-1.0, 1.0, 0.0]]])
    (found,) = all_pairs_swap(human, metrics).hybrids(np.array([[[False, True, False]]]))
    np.testing.assert_allclose(found, [[1.0, 2 / np.sqrt(6)], [2 / np.sqrt(6), 1 / 3]])
