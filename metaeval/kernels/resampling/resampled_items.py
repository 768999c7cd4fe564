"""Statistics by item, averaged over segments, prepared for resampling with replacement."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.correlation import CORRELATIONS
from metaeval.kernels.agreement.pair_counts import PairCounts, pair_counts
from metaeval.kernels.agreement.tau import STATISTICS, TAUS
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.arrays.grouping import group_labels, judged_groups

from .copies import OUTCOMES, Origins
from .draws import times_drawn
from .resampled_statistics import AnyResample, ResampleStatistic, checked_scores, ratio


@dataclass(frozen=True)
class GroupResample:
    """Mean over segments of a statistic by item: with segments resampled, a weighted mean of a table.

    table: (M, n_groups), NaN = not defined, excluded from the mean; segments: (n_groups,) each group's segment.
    redrawn: used where systems are resampled.
    """

    table: Floats
    segments: Ints
    redrawn: ResampleStatistic

    @property
    def shape(self) -> tuple[int, int]:
        """See `ResampleStatistic`."""
        return self.redrawn.shape

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`."""
        if systems is not None:
            return self.redrawn.values(systems, segments, n_draws)
        counts = times_drawn(segments, n_draws, self.shape[1])[:, self.segments]
        defined = ~np.isnan(self.table)
        total = counts @ np.where(defined, self.table, 0.0).T
        n_groups = counts @ defined.T.astype(np.float64)
        return ratio(total, n_groups)


@dataclass(frozen=True)
class PairsResample:
    """Mean over segments of a tau by item, from the outcome of every pair of systems on every segment.

    A pair counts as often as both its systems were drawn, multiplied; copies of one system are no pair.
    outcomes: (5, n_pairs, M, S), in the order of `copies.OUTCOMES`; template: counts of the data themselves.
    """

    statistic: str
    outcomes: Bools
    template: PairCounts
    shape: tuple[int, int]

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`."""
        n_systems, n_segments = self.shape
        drawn = times_drawn(systems, n_draws, n_systems)
        first, second = np.triu_indices(n_systems, 1)
        weights = drawn[:, first] * drawn[:, second]  # (k, n_pairs)
        _, n_pairs, n_metrics, _ = self.outcomes.shape
        sums = [
            np.rint(weights @ outcome.reshape(n_pairs, -1).astype(np.float64)).astype(np.int64).reshape(-1, n_segments)
            for outcome in self.outcomes
        ]  # each (k * M, S)
        counts = replace(self.template, **dict(zip(OUTCOMES, sums, strict=True)))
        values = STATISTICS[self.statistic](counts).reshape(n_draws, n_metrics, n_segments)
        defined = ~np.isnan(values)
        times = times_drawn(segments, n_draws, n_segments)[:, :, np.newaxis]
        total = (np.where(defined, values, 0.0) @ times)[:, :, 0]
        return ratio(total, (defined.astype(np.float64) @ times)[:, :, 0])


@dataclass(frozen=True)
class _Correlation:
    """Mean over segments of a correlation; a system drawn twice counts twice."""

    statistic: str

    def table(self, human: Floats, metrics: Floats) -> tuple[Floats, Ints]:
        labels = group_labels("item", (int(human.shape[0]), int(human.shape[1])))
        return CORRELATIONS[self.statistic](human, metrics, labels), judged_groups(human, labels).labels

    def __call__(self, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        values, _ = self.table(human, metrics)
        return _mean(values)


@dataclass(frozen=True)
class _StuartsTau:
    """Mean over segments of tau_c, whose denominator counts scores and distinct values: copies add no pair to it."""

    def __call__(self, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        return _mean(TAUS["tau_c"](_counts(human, metrics, np.zeros(len(metrics)))))


def item_resample(
    human: npt.ArrayLike, metrics: npt.ArrayLike, statistic: str, epsilon: npt.ArrayLike = 0.0
) -> GroupResample:
    """A correlation or tau by item, groups averaged, prepared for `bootstrap`.

    statistic: a name of `correlation.CORRELATIONS` or `tau.STATISTICS`; epsilon: each metric's tie threshold, kept in
    every resample (taus only). Raises ValueError: arrays, an unknown statistic.
    """
    if statistic not in CORRELATIONS and statistic not in STATISTICS:
        known = ", ".join([*CORRELATIONS, *STATISTICS])
        raise ValueError(f"unknown statistic {statistic!r}; expected one of {known}")
    human, metrics = checked_scores(human, metrics)
    if statistic in CORRELATIONS:
        correlation = _Correlation(statistic)
        return GroupResample(*correlation.table(human, metrics), AnyResample(correlation, human, metrics))
    thresholds = checks.thresholds(epsilon, len(metrics))
    counts = _counts(human, metrics, thresholds)
    table = STATISTICS[statistic](counts)
    if statistic == "tau_c":
        return GroupResample(table, counts.labels, AnyResample(_StuartsTau(), human, metrics))
    outcomes = _outcomes(human, metrics, thresholds)
    shape = (int(human.shape[0]), int(human.shape[1]))
    return GroupResample(table, counts.labels, PairsResample(statistic, outcomes, counts, shape))


def _counts(human: Floats, metrics: Floats, thresholds: Floats) -> PairCounts:
    return pair_counts(human, metrics, group_labels("item", (int(human.shape[0]), int(human.shape[1]))), thresholds)


def _outcomes(human: Floats, metrics: Floats, thresholds: Floats) -> Bools:
    """(5, n_pairs, M, S) which outcome each pair of systems has on each segment; none where one is not judged."""
    first, second = np.triu_indices(len(human), 1)
    gap = human[first] - human[second]  # (n_pairs, S), NaN where one is not judged
    judged = ~np.isnan(gap)[:, np.newaxis]
    human_sign = np.sign(np.where(np.isnan(gap), 0.0, gap))[:, np.newaxis]
    gaps = (metrics[:, first] - metrics[:, second]).transpose(1, 0, 2)  # (n_pairs, M, S)
    bound = thresholds[:, np.newaxis]
    metric_sign = np.where(gaps > bound, 1.0, np.where(gaps < -bound, -1.0, 0.0))
    product = human_sign * metric_sign
    tied = human_sign == 0
    flat = metric_sign == 0
    outcomes: Bools = np.stack([product > 0, product < 0, tied & ~flat, ~tied & flat, tied & flat])
    return outcomes & judged


def _mean(values: Floats) -> Floats:
    """Mean over groups, (M, n_groups) -> (M,); NaN groups are excluded."""
    defined = ~np.isnan(values)
    return ratio(np.where(defined, values, 0.0).sum(axis=1), defined.sum(axis=1).astype(np.float64))
