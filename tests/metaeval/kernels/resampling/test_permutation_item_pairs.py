"""Taus by item of hybrids: pairs by matrix products against every hybrid counted anew."""

from functools import partial
from typing import get_args

import numpy as np
import numpy.typing as npt
import pytest

from metaeval.kernels.agreement.pair_counts import pair_counts
from metaeval.kernels.agreement.tau import TAUS, CountStatistic, OnNan, Pool, average
from metaeval.kernels.arrays.grouping import group_labels
from metaeval.kernels.resampling.permutation import draw_swaps
from metaeval.kernels.resampling.permutation_groups import any_swap
from metaeval.kernels.resampling.permutation_item_pairs import item_pairs_swap
from metaeval.kernels.resampling.prepared import Swap, mask_shape
from tests.helpers import sampled
from tests.metaeval.kernels.strategies import coarse_scores

Floats = npt.NDArray[np.float64]
ON_NAN: list[OnNan] = ["drop", "zero"]


def _scores(seed: int) -> tuple[Floats, Floats]:
    human, metrics = coarse_scores(seed, (5, 11))
    human[1:, 0] = np.nan  # a segment with a single judgement
    human[:, 1] = 0.0  # and one that humans don't tell apart
    return human, metrics


def _counted_anew(statistic: CountStatistic, pool: Pool, on_nan: OnNan, human: Floats, metrics: Floats) -> Floats:
    labels = group_labels("item", (len(human), human.shape[1]))
    return average(statistic, pair_counts(human, metrics, labels), pool, on_nan).value


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("swap", "pool", "on_nan"), sampled(2, "each with each: 3 seconds", get_args(Swap), get_args(Pool), ON_NAN)
)
def test_hybrids_have_the_values_of_counting_them_anew(swap: Swap, pool: Pool, on_nan: OnNan) -> None:
    for seed, name in enumerate(name for name in TAUS if name != "tau_c"):
        human, metrics = _scores(seed)
        swaps = draw_swaps(np.random.default_rng(seed), 2, mask_shape(swap, human.shape))
        found = item_pairs_swap(human, metrics, TAUS[name], swap, pool=pool, on_nan=on_nan).hybrids(swaps)
        expected = any_swap(human, metrics, partial(_counted_anew, TAUS[name], pool, on_nan), swap).hybrids(swaps)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14, err_msg=name)


def test_hybrids_are_the_same_in_however_many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    human, metrics = _scores(1)
    statistic = item_pairs_swap(human, metrics, TAUS["tau_b"])
    swaps = draw_swaps(np.random.default_rng(1), 3, human.shape)
    whole = statistic.hybrids(swaps)
    for n in (1, 3 * 36 * 2, 10**9):
        monkeypatch.setattr("metaeval.kernels.resampling.permutation_item_pairs.AT_ONCE", n)
        np.testing.assert_allclose(statistic.hybrids(swaps), whole, rtol=0, atol=1e-14)


def test_without_two_judgements_of_a_segment_there_is_no_value() -> None:
    human = np.array([[1.0, np.nan], [np.nan, 2.0]])
    metrics = np.arange(8.0).reshape(2, 2, 2)
    for pool in get_args(Pool):
        statistic = item_pairs_swap(human, metrics, TAUS["tau_b"], pool=pool)
        assert np.isnan(statistic.hybrids(np.ones((1, 2, 2), dtype=bool))).all()


def test_a_hybrid_by_hand() -> None:
    """The second score of -1, 0, 1 comes from -1, 1, 0: two pairs of -1, 1, 1 are right and one is tied."""
    human = np.array([[1.0], [2.0], [3.0]])
    metrics = np.array([[[-1.0], [0.0], [1.0]], [[-1.0], [1.0], [0.0]]])
    swaps = np.array([[[False], [True], [False]]])
    (found,) = item_pairs_swap(human, metrics, TAUS["tau_a"]).hybrids(swaps)
    np.testing.assert_allclose(found, [[1.0, 2 / 3], [2 / 3, 1 / 3]])
