"""Measures at each metric's own best tie threshold: acc_eq and tau_eq."""

from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.tau import TAUS, CountStatistic
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.draws import Origins
from metaeval.kernels.resampling.prepared import PairStatistic, ResampleStatistic, Swap, SwapStatistic
from metaeval.measures.in_groups import only_whole_groups
from metaeval.measures.judged import labels
from metaeval.measures.measure import Definition, Values
from metaeval.measures.options import Options, Test
from metaeval.measures.pair_counts import CountedPairs
from metaeval.measures.parameters import BY
from queries.blocks import Block
from warehouse import QuestionError
from warehouse.progress import Progress


class CalibratedMeasure(CountedPairs):
    """A share of pairs at the best tie threshold of each metric.

    Thresholds that are passed in are kept; otherwise they are calibrated on the block.
    """

    is_calibrated: ClassVar[bool] = True
    pair_statistic: ClassVar[PairStatistic]
    why_tests: ClassVar[str] = (
        "each metric keeps its own tie threshold, so whole segments are swapped with the outcomes of their pairs, "
        "and single scores cannot be swapped; if pairs span several segments, segments are left out instead; the "
        "organisers swap single "
        "pairs, which finds too many differences"
    )

    @property
    def statistic(self) -> CountStatistic:
        return TAUS[self.pair_statistic]

    def value(self, block: Block, options: Options) -> Values:
        return self.watched_value(block, options, None)

    def watched_value(self, block: Block, options: Options, progress: Progress | None) -> Values:
        advance = None
        if progress is not None:
            sizes = np.unique(labels(block, self.by)[block.judged], return_counts=True)[1]
            n_pairs = int((sizes * (sizes - 1) // 2).sum())
            advance = partial(progress, f"calibrating {self}, pairs: {n_pairs:,} a metric")
        found = kernels.calibrate(block.human, block.scores, labels(block, self.by), self.pair_statistic, advance)
        return Values(
            found.value,
            epsilon=found.epsilon,
            epsilon_high=found.epsilon_high,
            n_pairs=found.counts.n_pairs.sum(axis=1),
            n_groups=found.n_groups,
            n_groups_nan=0,
            counts=found.counts.pooled(),
        )

    @property
    def tests(self) -> tuple[Test, ...]:
        return ("pairs" if self.by == "item" else "jackknife-segments", *self._whole, *self._resampled)

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        from metaeval.kernels.resampling.permutation_groups import right_pairs_swap

        if not self.is_aligned(swap):
            raise QuestionError(only_whole_groups(self))
        judged = self.judged(block)
        kept = self._fixed_thresholds(block, options, epsilon)
        return right_pairs_swap(judged.human, judged.scores, self.pair_statistic, swap, epsilon=kept)  # type: ignore[arg-type]

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_items import item_resample
        from metaeval.kernels.resampling.resampled_statistics import any_resample

        self.check_resampled()
        judged, kept = self.judged(block), self._fixed_thresholds(block, options, epsilon)
        if self.by == "item":
            return item_resample(judged.human, judged.scores, self.pair_statistic, kept)
        return any_resample(judged.human, judged.scores, partial(self._at, tuple(kept.tolist())))

    def of_segments(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_statistics import any_resample

        judged, kept = self.judged(block), self._fixed_thresholds(block, options, epsilon)
        assert judged.labels is not None
        return any_resample(judged.human, judged.scores, partial(self._at_labels, kept, judged.labels))

    def _fixed_thresholds(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> Floats:
        found = self.value(block, options).epsilon if epsilon is None else epsilon
        return np.asarray(found, dtype=np.float64)

    def _at(self, epsilon: tuple[float, ...], human: Floats, metrics: Floats, origins: Origins) -> Floats:
        """(M,) the measure of a resample at given thresholds."""
        from metaeval.kernels.resampling.resampled_items import pair_counts_without_copies

        counts = pair_counts_without_copies(human, metrics, self.labels_of(human), np.array(epsilon), origins=origins)
        return kernels.average(self.statistic, counts).value

    def _at_labels(self, epsilon: Floats, labels: Ints, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        """(M,) the measure of some segments at given thresholds, grouped as all segments are."""
        kept = labels if origins.segments is None else labels[:, origins.segments]
        return kernels.average(self.statistic, kernels.pair_counts(human, metrics, kept, epsilon)).value


class AccEq(CalibratedMeasure):
    """acc23, calibrated."""

    pair_statistic: ClassVar[PairStatistic] = "acc23"


class TauEq(CalibratedMeasure):
    """tau_23, calibrated."""

    pair_statistic: ClassVar[PairStatistic] = "tau_23"

    @property
    def measured_as(self) -> str:
        return str(self).replace("tau_eq", "acc_eq")  # the same pairs are right, twice the share less 1


DEFINITIONS = (
    Definition(
        AccEq,
        "acc_eq",
        "seg",
        "acc23 at the tie threshold that suits each metric best (tie calibration)",
        "max over ε of the mean of acc23",
        "Deutsch et al. 2023, section 6",
        (BY,),
        "[0, 1]",
        is_correlation=False,
    ),
    Definition(
        TauEq,
        "tau_eq",
        "seg",
        "tau_23 at the tie threshold that suits each metric best (tie calibration)",
        "max over ε of the mean of tau_23",
        "Deutsch et al. 2023, section 6",
        (BY,),
    ),
)
