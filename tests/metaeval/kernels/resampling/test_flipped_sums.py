"""Inner counts of soft pairwise accuracy against whole numbers, where sums tie or nearly do."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from metaeval.kernels.resampling import flipped_sums
from metaeval.kernels.resampling.permutation import draw_swaps
from metaeval.kernels.resampling.permutation_spa import soft_pairwise_swap
from metaeval.kernels.resampling.prepared import Swap, mask_shape
from metaeval.kernels.resampling.system_tests import draw_signs

Ints = npt.NDArray[np.int64]
N_METRICS, SHAPE, N_FLIPS = 3, (3, 12), 40


def shuffled_scores(seed: int, kinds: list[int]) -> tuple[Ints, Ints]:
    """human (N, S), and metrics (M, N, S) that give the same scores in other orders: one scale for all hybrids."""
    rng = np.random.default_rng(seed)
    human = rng.integers(-3, 1, SHAPE)
    scores = rng.choice(kinds, SHAPE)
    scores.flat[:2] = min(kinds), max(kinds)
    return human, np.stack([rng.permutation(scores.ravel()).reshape(SHAPE) for _ in range(N_METRICS)])


def counted(human: Ints, metrics: Ints, signs: npt.NDArray[np.int8], mask: npt.NDArray[np.bool_]) -> Ints:
    """(M, M) −Σ |human count − hybrid count| in whole numbers; [a, b]: a with the masked scores of b."""
    flips = (signs < 0).astype(np.int64)
    pairs = list(zip(*np.triu_indices(len(human), 1), strict=True))

    def counts(scores: Ints) -> list[int]:
        return [int(np.sum(flips @ (scores[i] - scores[j]) <= 0)) for i, j in pairs]

    of_human = counts(human)
    found = np.zeros((N_METRICS, N_METRICS), dtype=np.int64)
    for a, b in np.ndindex(found.shape):
        hybrid = counts(np.where(mask, metrics[b], metrics[a]))
        found[a, b] = -sum(abs(one - other) for one, other in zip(of_human, hybrid, strict=True))
    return found


@pytest.mark.parametrize("swap", ["inputs", "both"])
@given(seed=st.integers(0, 2**32 - 1), kinds=st.sampled_from([[0, 1], [0, 1, 10_000_000, 10_000_001]]))
@example(seed=0, kinds=[0, 1, 10_000_000, 10_000_001])
@settings(max_examples=20)
def test_ties_and_sums_next_to_them_are_told_apart(swap: Swap, seed: int, kinds: list[int]) -> None:
    """Sums of ten millions that differ by 1 are no ties (in 32 bits some would be); equal ones are."""
    human, metrics = shuffled_scores(seed, kinds)
    signs = draw_signs(np.random.default_rng(seed), N_FLIPS, SHAPE[1])
    statistic = soft_pairwise_swap(human, metrics, signs, swap)
    swaps = draw_swaps(np.random.default_rng(seed), 2, mask_shape(swap, SHAPE))
    expected = [counted(human, metrics, signs, mask) for mask in swaps]
    np.testing.assert_array_equal(statistic.hybrids(swaps), expected)


@pytest.mark.parametrize(("chunk", "outcomes", "at_once"), [(8, 1, 1), (16, 200, 1 << 18), (2040, 1 << 22, 300)])
def test_the_size_of_the_pieces_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, chunk: int, outcomes: int, at_once: int
) -> None:
    human, metrics = shuffled_scores(1, [0, 1, 2])
    judged = human.astype(np.float64)
    judged[0, 3] = judged[1, 5] = np.nan
    signs = draw_signs(np.random.default_rng(1), 37, SHAPE[1])
    swaps = draw_swaps(np.random.default_rng(1), 2, SHAPE)
    statistic = soft_pairwise_swap(judged, metrics, signs, "both")
    expected = statistic.hybrids(swaps)
    for name, value in (("CHUNK", chunk), ("OUTCOMES", outcomes), ("AT_ONCE", at_once)):
        monkeypatch.setattr(flipped_sums, name, value)
    np.testing.assert_array_equal(statistic.hybrids(swaps), expected)


@pytest.mark.parametrize("swap", ["inputs", "both"])
def test_sums_of_all_segments_are_the_same_kept_or_computed_in_each_draw(
    monkeypatch: pytest.MonkeyPatch, swap: Swap
) -> None:
    human, metrics = shuffled_scores(2, [0, 1, 2])
    judged = human.astype(np.float64)
    judged[0, 3] = judged[1, 5] = np.nan
    signs = draw_signs(np.random.default_rng(1), 37, SHAPE[1])
    swaps = draw_swaps(np.random.default_rng(1), 3, mask_shape(swap, SHAPE))
    expected = soft_pairwise_swap(judged, metrics, signs, swap).hybrids(swaps)
    monkeypatch.setattr(flipped_sums, "GAPS_KEPT", 0)
    np.testing.assert_array_equal(soft_pairwise_swap(judged, metrics, signs, swap).hybrids(swaps), expected)
