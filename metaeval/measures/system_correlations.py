"""Correlations of system scores: pearson, spearman, kendall and weighted_tau."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.correlation import Correlation
from metaeval.kernels.agreement.systems import weighted_tau
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.bootstrap import IntervalMethod
from metaeval.kernels.resampling.permutation import Swap, SwapStatistic
from metaeval.kernels.resampling.permutation_groups import any_swap
from metaeval.kernels.resampling.permutation_system import SystemSwap, system_swap
from metaeval.kernels.resampling.resampled_statistics import ResampleStatistic, system_resample
from metaeval.measures.applicable import HOLDING_OF_PEARSON, SYSTEMS_RESAMPLED
from metaeval.measures.measure import Definition, Measure, Values
from metaeval.measures.system_level import SystemMeasure, n_pairs
from metaeval.options import Options, Population, Test
from queries.blocks import Block
from warehouse import QuestionError


class SystemCorrelation(SystemMeasure):
    """Spearman's correlation over systems."""

    z_of: ClassVar[float] = 0.9  # it is often 1
    takes_few_values: ClassVar[bool] = True

    @property
    def correlation(self) -> Correlation:
        name: Correlation = self.name  # type: ignore[assignment]
        return name

    def value(self, block: Block, options: Options) -> Values:
        found = self.scores(block, options)
        value = kernels.system_correlation(found.human, found.metrics, self.correlation)
        return Values(value, system_score=found.used)

    def swap_of(self, human: Floats, metrics: Floats, swap: Swap, options: Options, truth: Floats) -> SystemSwap:
        return system_swap(human, metrics, self.correlation, swap, truth=truth)

    def resample_of(self, human: Floats, metrics: Floats) -> ResampleStatistic:
        return system_resample(human, metrics, self.correlation)


class SystemPearson(SystemCorrelation):
    """Pearson's r over systems, for which Williams' test was made."""

    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = HOLDING_OF_PEARSON
    z_of: ClassVar[float] = 1.0
    has_pairs: ClassVar[bool] = False
    takes_few_values: ClassVar[bool] = False
    interval: ClassVar[IntervalMethod] = "normal"
    why_tests: ClassVar[str] = f"{SystemMeasure.why_tests}; Williams' test is exact for normal scores"

    @property
    def tests(self) -> tuple[Test, ...]:
        return ("perm-systems", "perm-inputs", "perm-both", "williams", "jackknife-segments", *SYSTEMS_RESAMPLED)


class SystemKendall(SystemCorrelation):
    """Kendall's τ_b over systems, which is made of pairs."""

    z_of: ClassVar[float] = 0.0

    def value(self, block: Block, options: Options) -> Values:
        found = super().value(block, options)
        return Values(found.value, n_pairs=n_pairs(block), system_score=found.system_score)


class WeightedTau(Measure):
    """Vigna's weighted τ over systems."""

    takes_few_values: ClassVar[bool] = True
    why_tests: ClassVar[str] = "only whole systems are swapped: there is no kernel for swapped or resampled segments"

    def value(self, block: Block, options: Options) -> Values:
        found = self.scores(block, options)
        return Values(weighted_tau(found.human, found.metrics), n_pairs=n_pairs(block), system_score=found.used)

    @property
    def tests(self) -> tuple[Test, ...]:
        return ("perm-systems",)

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        self.check_applies("perm-systems" if swap == "systems" else "perm-inputs")
        found = self.scores(block, options)
        judged = ~np.isnan(found.human)
        human, metrics = found.human[judged, np.newaxis], found.metrics[:, judged, np.newaxis]
        return any_swap(human, metrics, _of_columns, swap)

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        raise QuestionError(f"measure {str(self)!r} has no bootstrap")


def _of_columns(human: Floats, metrics: Floats) -> Floats:
    """weighted_tau of human (N, 1) and metrics (M, N, 1)."""
    return weighted_tau(human[:, 0], metrics[:, :, 0])


DEFINITIONS = (
    Definition(
        SystemPearson,
        "pearson",
        "sys",
        "linear correlation of system scores",
        "Pearson's r over systems",
        "Pearson 1895",
        needs_segments=False,
    ),
    Definition(
        SystemCorrelation,
        "spearman",
        "sys",
        "rank correlation of system scores",
        "Spearman's ρ over systems",
        "Spearman 1904",
        needs_segments=False,
    ),
    Definition(
        SystemKendall,
        "kendall",
        "sys",
        "pair agreement of system scores",
        "Kendall's τ_b over systems",
        "Kendall 1945",
        needs_segments=False,
    ),
)
WEIGHTED_TAU = Definition(
    WeightedTau,
    "weighted_tau",
    "sys",
    "pair agreement of system scores in which pairs of high-ranked systems weigh more",
    "weighted τ, hyperbolic weights, mean of both rankings",
    "Vigna 2015 (scipy.stats.weightedtau)",
    needs_segments=False,
)
