"""Correlations of segment scores (pearson, spearman and kendall with `by`) and of differences between systems (pdp)."""

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.correlation import CORRELATIONS, Correlation
from metaeval.kernels.agreement.tau import CountStatistic
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.draws import Origins
from metaeval.kernels.resampling.prepared import ResampleStatistic, Swap, SwapStatistic
from metaeval.measures.applicable import PERMUTATIONS, RESAMPLED
from metaeval.measures.in_groups import GroupMeasure, group_labels
from metaeval.measures.judged import JudgedSegments, judged_segments, labels
from metaeval.measures.measure import Definition, Measure, Values
from metaeval.measures.options import Options, Population, Test
from metaeval.measures.parameters import BY, ON_NAN
from queries.blocks import Block


class GroupCorrelation(GroupMeasure):
    """Spearman's correlation in each group."""

    has_pairs: ClassVar[bool] = False

    @property
    def correlation(self) -> Correlation:
        name: Correlation = self.name  # type: ignore[assignment]
        return name

    def value(self, block: Block, options: Options) -> Values:
        values = CORRELATIONS[self.correlation](block.human, block.scores, labels(block, self.by))
        mean = kernels.group_mean(values, self["on_nan"])
        return Values(mean.value, n_groups=values.shape[1], n_groups_nan=mean.n_groups_nan)

    def of_groups(self, labels: Ints, human: Floats, metrics: Floats) -> Floats:
        return kernels.group_mean(CORRELATIONS[self.correlation](human, metrics, labels), self["on_nan"]).value

    def table(self, judged: JudgedSegments) -> tuple[Floats, Ints]:
        assert judged.labels is not None
        return CORRELATIONS[self.correlation](judged.human, judged.scores, judged.labels), group_labels(judged)

    def resample_of(self, judged: JudgedSegments) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_items import item_resample

        if self.by == "item" and self.on_nan == "drop":
            return item_resample(judged.human, judged.scores, self.correlation)
        return super().resample_of(judged)


class GroupKendall(GroupCorrelation):
    """Kendall's τ_b in each group, computed from pairs."""

    has_pairs: ClassVar[bool] = True

    @property
    def count_statistic(self) -> CountStatistic | None:
        return kernels.tau_b

    def of_resample(self, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        from metaeval.kernels.resampling.resampled_items import pair_counts_without_copies

        counts = pair_counts_without_copies(human, metrics, self.labels_of(human), origins=origins)
        return kernels.average(kernels.tau_b, counts, "groups", self["on_nan"]).value


class GroupPearson(GroupCorrelation):
    """Pearson's r in each group, computed from sums."""

    def swap_of(self, judged: JudgedSegments, swap: Swap) -> SwapStatistic:
        from metaeval.kernels.resampling.permutation_pearson import pearson_swap

        if self.on_nan == "drop":
            assert judged.labels is not None
            return pearson_swap(judged.human, judged.scores, judged.labels, swap)
        return super().swap_of(judged, swap)

    def resample_of(self, judged: JudgedSegments) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_statistics import pearson_resample

        if self.by == "none" and self.on_nan == "drop":
            return pearson_resample(judged.human, judged.scores)
        return super().resample_of(judged)

    @property
    def is_quick_to_resample(self) -> bool:
        return self.is_aligned("inputs") or (self.by == "none" and self.on_nan == "drop")

    @property
    def tests(self) -> tuple[Test, ...]:
        return (*super().tests, *(("williams",) if self.by == "none" else ()))

    def claims(self, test: Test) -> Population:
        return "both" if test == "williams" else super().claims(test)

    def correlated(self, block: Block, options: Options) -> tuple[Floats, Floats]:
        judged = block.judged
        return block.human[judged], block.scores[:, judged]


def _definition(family: type[GroupCorrelation], name: str, meaning: str, formula: str, source: str) -> Definition:
    return Definition(family, name, "seg", meaning, formula, source, (BY, ON_NAN))


DEFINITIONS = (
    _definition(
        GroupPearson, "pearson", "linear correlation of segment scores, per group", "mean Pearson's r", "Pearson 1895"
    ),
    _definition(
        GroupCorrelation,
        "spearman",
        "rank correlation of segment scores, per group",
        "mean Spearman's ρ",
        "Spearman 1904",
    ),
    _definition(
        GroupKendall, "kendall", "pair agreement of segment scores, per group", "mean Kendall's τ_b", "Kendall 1945"
    ),
)


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
        from metaeval.kernels.resampling.permutation_pearson import pairwise_difference_swap

        judged = judged_segments(block)
        return pairwise_difference_swap(judged.human, judged.scores, swap)

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_statistics import pairwise_difference_resample

        judged = judged_segments(block)
        return pairwise_difference_resample(judged.human, judged.scores)


PDP = Definition(
    PairwiseDifferencePearson,
    "pdp",
    "seg",
    "Pearson correlation of differences between systems on the same segment",
    "Pearson's r of (h_i − h_k, m_i − m_k) within segments",
    "DiIanni and Deutsch 2025",
)
