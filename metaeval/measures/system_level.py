"""What measures of system scores share: which scores they take, and how these are swapped and resampled."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.kernels.resampling.permutation import Swap
from metaeval.kernels.resampling.permutation_system import SystemSwap
from metaeval.kernels.resampling.resampled_statistics import ResampleStatistic
from metaeval.measures.applicable import HOLDING_OF_SYSTEMS, SYSTEMS_RESAMPLED
from metaeval.measures.judged import judged_segments
from metaeval.measures.measure import Measure
from metaeval.options import Options, Population, Test
from metaeval.system_scores import SystemScores, system_scores
from queries.blocks import Block


class SystemMeasure(Measure):
    """A measure of one score for each system, by people and by each metric."""

    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = HOLDING_OF_SYSTEMS
    why_tests: ClassVar[str] = (
        "segments are resampled where system scores are means over judged ones; submitted scores only swap with their "
        "systems"
    )

    @property
    def tests(self) -> tuple[Test, ...]:
        return ("perm-systems", "perm-inputs", "perm-both", *SYSTEMS_RESAMPLED)

    def included(self, human: Floats) -> Bools:
        """(N,) the systems that count, by their human system scores (NaN = not judged)."""
        return ~np.isnan(human)

    def scores(self, block: Block, options: Options) -> SystemScores:
        found = super().scores(block, options)
        return replace(found, human=np.where(self.included(found.human), found.human, np.nan))

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SystemSwap:
        if swap == "systems":
            found = self.scores(block, options)
            return self.swap_of(found.human, found.metrics, swap, options, found.human)
        judged = judged_segments(block)
        human = system_scores(block, "judged-mean").human
        of_included = np.where(self.included(human)[:, np.newaxis], judged.human, np.nan)
        return self.swap_of(of_included, judged.scores, swap, options, human)

    def resamples_segments(self, test: Test) -> bool:
        return test != "jackknife-systems" and super().resamples_segments(test)

    @abstractmethod
    def swap_of(self, human: Floats, metrics: Floats, swap: Swap, options: Options, truth: Floats) -> SystemSwap:
        """The kernel that swaps, on human (N,) and metrics (M, N), or (N, S) and (M, N, S).

        truth: (N,) human system scores.
        """

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        judged = judged_segments(block)
        return self.resample_of(judged.human, judged.scores)

    def resampled_systems(self, block: Block, options: Options) -> ResampleStatistic:
        found = self.scores(block, options)
        judged = ~np.isnan(found.human)
        return self.resample_of(found.human[judged, np.newaxis], found.metrics[:, judged, np.newaxis])

    @abstractmethod
    def resample_of(self, human: Floats, metrics: Floats) -> ResampleStatistic:
        """The kernel that resamples, on human (N, S) and metrics (M, N, S)."""


def unless_tied(value: Floats, human: Floats) -> Floats:
    """The values; NaN where all systems have one human score, as there is nothing to agree with."""
    return np.full_like(value, np.nan) if len(human) > 1 and np.ptp(human) == 0 else value


def n_pairs(block: Block) -> int:
    """Pairs of the systems of a block."""
    return len(block.systems) * (len(block.systems) - 1) // 2
