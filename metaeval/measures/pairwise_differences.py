"""Pairwise difference Pearson: pdp."""

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.resampling.permutation import Swap, SwapStatistic
from metaeval.kernels.resampling.permutation_pearson import pairwise_difference_swap
from metaeval.kernels.resampling.resampled_statistics import ResampleStatistic, pairwise_difference_resample
from metaeval.measures.applicable import PERMUTATIONS, RESAMPLED
from metaeval.measures.judged import judged_segments
from metaeval.measures.measure import Definition, Measure, Values
from metaeval.options import Options, Test
from queries.blocks import Block


class PairwiseDifferencePearson(Measure):
    """Pearson's r of differences between systems on the same segment."""

    has_pairs: ClassVar[bool] = False
    why_tests: ClassVar[str] = "differences are within segments, so whole segments are swapped"

    def value(self, block: Block, options: Options) -> Values:
        n = block.judged.sum(axis=0)
        n_pairs = int((n * (n - 1) // 2).sum())
        if not n_pairs:
            return Values(np.full(len(block.metrics), np.nan), n_pairs=0)
        return Values(kernels.pairwise_difference_pearson(block.human, block.scores), n_pairs=n_pairs)

    @property
    def tests(self) -> tuple[Test, ...]:
        return (*PERMUTATIONS, *RESAMPLED)

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        judged = judged_segments(block)
        return pairwise_difference_swap(judged.human, judged.scores, swap)

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        judged = judged_segments(block)
        return pairwise_difference_resample(judged.human, judged.scores)


DEFINITION = Definition(
    PairwiseDifferencePearson,
    "pdp",
    "seg",
    "Pearson correlation of differences between systems on the same segment",
    "Pearson's r of (h_i − h_k, m_i − m_k) within segments",
    "DiIanni and Deutsch 2025",
)
