"""Kendall's τ_b over all cells of hybrids: looked up against every hybrid counted anew."""

from typing import get_args

import numpy as np
import numpy.typing as npt
import pytest

from metaeval.kernels.agreement.pair_counts import pair_counts
from metaeval.kernels.agreement.tau import average, tau_b
from metaeval.kernels.arrays.grouping import cell_labels
from metaeval.kernels.resampling.permutation import draw_swaps
from metaeval.kernels.resampling.permutation_all_pairs import all_pairs_swap, has_table
from metaeval.kernels.resampling.permutation_groups import any_swap
from metaeval.kernels.resampling.swap_units import Swap, mask_shape

Floats = npt.NDArray[np.float64]


def _scores(seed: int, shape: tuple[int, int] = (5, 9)) -> tuple[Floats, Floats]:
    """Coarse scores with missing judgements; two metrics are equal, one is constant, one shares some scores."""
    rng = np.random.default_rng(seed)
    human = rng.integers(-3, 1, shape).astype(float)
    human[rng.random(shape) < 0.3] = np.nan
    metrics = np.round(rng.normal(0, 1, (6, *shape)), 1)
    metrics[1] = metrics[0]
    metrics[2] = 7.0
    metrics[4] = np.where(rng.random(shape) < 0.8, metrics[3], metrics[3].max())
    return human, metrics


def _counted_anew(human: Floats, metrics: Floats) -> Floats:
    labels = cell_labels("none", (len(human), human.shape[1]))
    return average(tau_b, pair_counts(human, metrics, labels)).value


@pytest.mark.parametrize("swap", get_args(Swap))
@pytest.mark.parametrize("seed", range(4))
def test_hybrids_have_the_values_of_counting_them_anew(swap: Swap, seed: int) -> None:
    human, metrics = _scores(seed)
    swaps = draw_swaps(np.random.default_rng(seed), 6, mask_shape(swap, human.shape))
    swaps[0], swaps[1] = False, True
    found = all_pairs_swap(human, metrics, swap).hybrids(swaps)
    np.testing.assert_array_equal(found, any_swap(human, metrics, _counted_anew, swap).hybrids(swaps))


def test_human_scores_that_are_all_equal_leave_no_value() -> None:
    human, metrics = _scores(1)
    human[~np.isnan(human)] = 1.0
    assert np.isnan(all_pairs_swap(human, metrics).hybrids(np.ones((1, *human.shape), dtype=bool))).all()


def test_a_hybrid_by_hand() -> None:
    """The second score of -1, 0, 1 comes from -1, 1, 0: two pairs of -1, 1, 1 are right and one is tied."""
    human = np.array([[1.0, 2.0, 3.0]])
    metrics = np.array([[[-1.0, 0.0, 1.0]], [[-1.0, 1.0, 0.0]]])
    (found,) = all_pairs_swap(human, metrics).hybrids(np.array([[[False, True, False]]]))
    np.testing.assert_allclose(found, [[1.0, 2 / np.sqrt(6)], [2 / np.sqrt(6), 1 / 3]])


def test_a_table_is_for_few_kinds_of_human_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    human = np.array([[1.0, 1.0, 2.0, np.nan]])
    monkeypatch.setattr("metaeval.kernels.resampling.permutation_all_pairs.LARGEST_TABLE", 6)
    assert has_table(human)
    assert not has_table(np.array([[1.0, 2.0, 3.0]]))
    assert not has_table(np.array([[1.0, np.nan]]))
