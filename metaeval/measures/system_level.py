"""Measures of system scores: pearson (also of the top systems), spearman, kendall, weighted_tau and tau_ap."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.correlation import Correlation
from metaeval.kernels.agreement.systems import tau_ap, top_systems, weighted_tau
from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.kernels.resampling.draws import Origins
from metaeval.kernels.resampling.prepared import (
    LEAST_FOR_WILLIAMS,
    IntervalMethod,
    Kind,
    ResampleStatistic,
    Swap,
    SwapStatistic,
)
from metaeval.measures.applicable import HOLDING_OF_SYSTEMS, SYSTEMS_RESAMPLED
from metaeval.measures.judged import judged_segments
from metaeval.measures.measure import Definition, Measure, Values
from metaeval.measures.options import Options, Population, Test
from metaeval.measures.parameters import Parameter, whole_number
from metaeval.measures.system_scores import SystemScores, system_scores
from queries.blocks import Block
from warehouse import QuestionError


class SystemMeasure(Measure):
    """A measure of one score per system, human and from each metric."""

    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = HOLDING_OF_SYSTEMS
    why_tests: ClassVar[str] = (
        "segments are resampled where system scores are means over judged ones; submitted scores only swap with their "
        "systems"
    )

    kind: ClassVar[Kind] = "pairs"  # what its error over systems is like

    @property
    def tests(self) -> tuple[Test, ...]:
        return ("perm-systems", "perm-inputs", "perm-both", *SYSTEMS_RESAMPLED)

    def interval_over_systems(self, block: Block, options: Options) -> tuple[Floats, Floats]:
        """(M,) ends of 95% intervals of the values over the population from which the block's systems are a sample."""
        from metaeval.kernels.resampling.system_intervals import interval_over_systems

        n_counted = int(np.count_nonzero(~np.isnan(self.scores(block, options).human)))
        statistic = self.resampled_systems(block, options)
        return interval_over_systems(statistic, self.kind, is_share=self.definition.limits[0] == 0, n_counted=n_counted)

    def included(self, human: Floats) -> Bools:
        """(N,) the systems that count, by their human system scores (NaN = not judged)."""
        return ~np.isnan(human)

    def scores(self, block: Block, options: Options) -> SystemScores:
        found = super().scores(block, options)
        return replace(found, human=np.where(self.included(found.human), found.human, np.nan))

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        if swap == "systems":
            found = self.scores(block, options)
            return self.swap_of(found.human, found.metrics, swap, options, found.human)
        judged = judged_segments(block)
        human = system_scores(block, "judged-mean").human
        of_included = np.where(self.included(human)[:, np.newaxis], judged.human, np.nan)
        return self.swap_of(of_included, judged.scores, swap, options, human)

    def resamples_segments(self, test: Test) -> bool:
        return test != "jackknife-systems" and super().resamples_segments(test)

    def swap_of(self, human: Floats, metrics: Floats, swap: Swap, options: Options, truth: Floats) -> SwapStatistic:
        """The kernel that swaps, on human (N,) and metrics (M, N), or (N, S) and (M, N, S).

        truth: (N,) human system scores.
        """
        from metaeval.kernels.resampling.permutation_system import system_swap

        return system_swap(human, metrics, self.name, swap, truth=truth)

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        judged = judged_segments(block)
        return self.resample_of(judged.human, judged.scores)

    def resampled_systems(self, block: Block, options: Options) -> ResampleStatistic:
        found = self.scores(block, options)
        judged = ~np.isnan(found.human)
        return self.resample_of(found.human[judged, np.newaxis], found.metrics[:, judged, np.newaxis])

    def resample_of(self, human: Floats, metrics: Floats) -> ResampleStatistic:
        """The kernel that resamples, on human (N, S) and metrics (M, N, S)."""
        from metaeval.kernels.resampling.resampled_statistics import system_resample

        return system_resample(human, metrics, self.name)


def unless_tied(value: Floats, human: Floats) -> Floats:
    """The values; NaN if all systems have the same human score, because there is nothing to agree with."""
    return np.full_like(value, np.nan) if len(human) > 1 and np.ptp(human) == 0 else value


def scores_all_alike(human: Floats, metrics: Floats) -> Bools:
    """(M,) whether each metric scores all judged systems the same. human: (N,), metrics: (M, N)."""
    judged = ~np.isnan(human)
    return np.array([len(np.unique(scores[judged])) == 1 for scores in metrics], dtype=bool)


def only_ties(block: Block, rewarded: Bools) -> dict[str, str]:
    """Why metrics that score all systems alike have no value if humans tie some systems.

    Their value would come from these ties alone, and would be highest where humans tie most. If humans tie no systems,
    the value stays as published: no pair is right.
    """
    names = (metric.name for metric, is_one in zip(block.metrics, rewarded, strict=True) if is_one)
    return dict.fromkeys(
        names, "gives all systems the same score, so it could agree only on pairs with tied human scores"
    )


def n_pairs(block: Block) -> int:
    """Pairs of the systems of a block."""
    return len(block.systems) * (len(block.systems) - 1) // 2


class SystemCorrelation(SystemMeasure):
    """Spearman's correlation over systems."""

    kind: ClassVar[Kind] = "ranks"
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


class SystemPearson(SystemCorrelation):
    """Pearson's r over systems, for which Williams' test was designed."""

    kind: ClassVar[Kind] = "linear"
    z_of: ClassVar[float] = 1.0
    has_pairs: ClassVar[bool] = False
    takes_few_values: ClassVar[bool] = False
    interval: ClassVar[IntervalMethod] = "normal"
    is_sensitive: ClassVar[bool] = True
    why_tests: ClassVar[str] = f"{SystemMeasure.why_tests}; Williams' test is exact for normal scores"

    @property
    def tests(self) -> tuple[Test, ...]:
        return ("perm-systems", "perm-inputs", "perm-both", "williams", "jackknife-segments", *SYSTEMS_RESAMPLED)


class SystemKendall(SystemCorrelation):
    """Kendall's τ_b over systems, computed from pairs."""

    kind: ClassVar[Kind] = "pairs"
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
        from metaeval.kernels.resampling.permutation_groups import any_swap

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


CORRELATIONS = (
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


class TopPearson(SystemMeasure):
    """Pearson's r over the n best systems by human score, which are chosen again in every resample."""

    kind: ClassVar[Kind] = "linear"
    z_of: ClassVar[float] = 1.0
    has_pairs: ClassVar[bool] = False
    why_tests: ClassVar[str] = (
        f"{SystemMeasure.why_tests}; Williams' test is exact for normal scores, from {LEAST_FOR_WILLIAMS} systems on"
    )

    def included(self, human: Floats) -> Bools:
        return top_systems(human, self["top"])

    def value(self, block: Block, options: Options) -> Values:
        found = self.scores(block, options)
        value = kernels.system_correlation(found.human, found.metrics, "pearson")
        return Values(value, n_systems=int(np.count_nonzero(~np.isnan(found.human))), system_score=found.used)

    @property
    def tests(self) -> tuple[Test, ...]:
        williams: tuple[Test, ...] = ("williams",) if self["top"] >= LEAST_FOR_WILLIAMS else ()
        return ("perm-systems", "perm-inputs", "perm-both", *williams, *SYSTEMS_RESAMPLED)

    def resample_of(self, human: Floats, metrics: Floats) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_statistics import system_resample

        return system_resample(human, metrics, partial(_of_top, self["top"]))


def _of_top(top: int, human: Floats, metrics: Floats, origins: Origins) -> Floats:
    from metaeval.kernels.resampling.resampled_statistics import without_noise

    human = without_noise(human)
    best = np.where(top_systems(human, top), human, np.nan)
    return kernels.system_correlation(best, without_noise(metrics), "pearson")


TOP_PEARSON = Definition(
    TopPearson,
    "pearson",
    "sys",
    "linear correlation over the systems with the highest human scores",
    "Pearson's r over the top n systems",
    "Mathur et al. 2020",
    (
        Parameter(
            "top",
            10,
            "number of systems with the highest human scores; systems tied with the last of these are included",
            whole_number(2),
            always=True,
        ),
    ),
    needs_segments=False,
)


class TauAP(SystemMeasure):
    """Agreement on pairs of systems; pairs near the top of the metric's ranking have more weight.

    It is not pooled by pairs, because the weight of a pair depends on the number of systems.
    """

    takes_few_values: ClassVar[bool] = True
    why_tests: ClassVar[str] = (
        f"{SystemMeasure.why_tests}; Williams' test is for Pearson's r; pairs of a system with its own copy in a "
        "resample are excluded"
    )

    def value(self, block: Block, options: Options) -> Values:
        found = self.scores(block, options)
        value = unless_tied(tau_ap(found.human, found.metrics, raw_ties=options.raw_ties), found.human)
        rewarded = scores_all_alike(found.human, found.metrics) & (value > -1)
        value = np.where(rewarded, np.nan, value)
        why = only_ties(block, rewarded)
        return Values(value, n_pairs=n_pairs(block), system_score=found.used, why=why)


TAU_AP = Definition(
    TauAP,
    "tau_ap",
    "sys",
    "pair agreement of system scores in which pairs near the top of the metric's ranking weigh more; ties as in pa",
    "2/(N−1) · Σ over ranks i ≥ 2 of C(i)/(i−1), − 1; C(i): systems above rank i and rightly so",
    "Yilmaz, Aslam and Robertson 2008",
    needs_segments=False,
)
