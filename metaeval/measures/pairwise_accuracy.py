"""Pairwise accuracy: pa."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from metaeval import kernels
from metaeval.kernels.agreement.pair_counts import PairCounts
from metaeval.kernels.agreement.systems import pair_agreements
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.permutation import Swap, SwapStatistic
from metaeval.kernels.resampling.permutation_system import SystemSwap, accuracy_swap, pooled_swap
from metaeval.kernels.resampling.resampled_statistics import ResampleStatistic, accuracy_resample
from metaeval.measures.measure import Definition, Values
from metaeval.measures.parameters import Parameter, choice
from metaeval.measures.system_level import SystemMeasure, unless_tied
from metaeval.options import Options, Population, Test
from queries.blocks import Block


class PairwiseAccuracy(SystemMeasure):
    """The share of system pairs whose difference has the same sign by metric and people."""

    takes_few_values: ClassVar[bool] = True
    has_bca: ClassVar[bool] = False  # the share of draws below the value says little of a bias
    why_tests: ClassVar[str] = (
        f"{SystemMeasure.why_tests}; the bootstrap resamples pairs of systems (Kocmi et al. 2021)"
    )

    def value(self, block: Block, options: Options) -> Values:
        found = self.scores(block, options)
        agreement = kernels.pairwise_accuracy(found.human, found.metrics, self["ties"], raw_ties=options.raw_ties)
        return Values(unless_tied(agreement.accuracy, found.human), n_pairs=agreement.n_pairs, system_score=found.used)

    def swap_of(self, human: Floats, metrics: Floats, swap: Swap, options: Options, truth: Floats) -> SystemSwap:
        return accuracy_swap(human, metrics, swap, ties=self["ties"], raw_ties=options.raw_ties, truth=truth)

    def pooled_swap(self, blocks: Sequence[Block], options: Options) -> SwapStatistic:
        found = [self.scores(block, options) for block in blocks]
        return pooled_swap([(one.human, one.metrics) for one in found], ties=self["ties"], raw_ties=options.raw_ties)

    def resample_of(self, human: Floats, metrics: Floats) -> ResampleStatistic:
        return accuracy_resample(human, metrics, self["ties"])

    def resamples_segments(self, test: Test) -> bool:
        return test != "bootstrap" and super().resamples_segments(test)

    def claims(self, test: Test) -> Population:
        return "systems" if test == "bootstrap" else super().claims(test)

    def pair_agreements(self, block: Block, options: Options) -> Bools:
        found = self.scores(block, options)
        return pair_agreements(found.human, found.metrics, self["ties"], raw_ties=options.raw_ties)

    @property
    def adds_up(self) -> bool:
        return True

    def pooled(self, values: Floats, n_pairs: Ints, counts: Sequence[PairCounts]) -> Floats:
        return over_all_pairs(values, n_pairs)


def over_all_pairs(values: Floats, n_pairs: Ints) -> Floats:
    """Means over pairs (n_sets, M), each of n_pairs, as the mean over the pairs of all sets, (M,).

    A set without pairs adds none; NaN where no set has any, and where the value of a set with pairs is NaN.
    >>> over_all_pairs(np.array([0.8, np.nan]), np.array([10, 0])).tolist()
    0.8
    """
    total = n_pairs.sum(axis=0)
    agreements = np.where(n_pairs > 0, values * n_pairs, 0.0).sum(axis=0)
    mean: Floats = np.divide(agreements, total, out=np.full(np.shape(total), np.nan), where=total > 0)
    return mean


DEFINITION = Definition(
    PairwiseAccuracy,
    "pa",
    "sys",
    "share of system pairs that metric and humans rank in the same order",
    "agreements / pairs",
    "Kocmi et al. 2021, section 4",
    (
        Parameter(
            "ties",
            "organisers",
            "organisers: zero differences agree with zero only; tship: human zeros are excluded",
            choice("organisers", "tship"),
        ),
    ),
    "[0, 1]",
    is_correlation=False,
    needs_segments=False,
)
