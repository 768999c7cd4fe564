"""Statistics averaged over segments, prepared for resampling with replacement, excluding pairs of copies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.correlation import CORRELATIONS
from metaeval.kernels.agreement.pair_counts import OUTCOMES, PairCounts, pair_counts
from metaeval.kernels.agreement.tau import STATISTICS, TAUS, CountStatistic, group_mean
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.arrays.grouping import group_labels, judged_groups
from metaeval.kernels.resampling.draws import ORIGINAL, Origins, times_drawn
from metaeval.kernels.resampling.prepared import ResampleStatistic
from metaeval.kernels.resampling.resampled_statistics import AnyResample, checked_scores
from metaeval.kernels.spans.precision_recall import Average, rates


def pair_counts_without_copies(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    labels: npt.ArrayLike,
    epsilon: npt.ArrayLike = 0.0,
    *,
    relative: bool = False,
    origins: Origins = ORIGINAL,
) -> PairCounts:
    """`pair_counts` of a resample, excluding pairs of copies of one system or of one segment.

    Arguments as in `pair_counts`; labels count from 0. Two scores make no pair if their rows are copies of one system
    or their columns are copies of one segment. Groups without pairs are excluded, like groups with one score. n_scores
    and n_distinct are still those of the whole group.
    """
    human = checks.human_scores(human)
    groups = checks.group_labels(labels, human.shape)
    counts = pair_counts(human, metrics, groups, epsilon, relative=relative)
    if origins.systems is None and origins.segments is None:
        return counts
    rows, columns = (np.arange(n, dtype=np.int64) for n in human.shape)
    row, column = rows[:, np.newaxis], columns[np.newaxis]
    system = row if origins.systems is None else origins.systems[:, np.newaxis]
    segment = column if origins.segments is None else origins.segments[np.newaxis]

    def within(*parts: Ints) -> Ints:
        """Outcomes (5, M, n_groups) of the pairs inside each group whose scores agree in all parts."""
        finer = groups
        for part in parts:
            finer = np.where(groups >= 0, finer * (int(part.max(initial=0)) + 1) + part, -1)
        found = pair_counts(human, metrics, finer, counts.epsilon)
        group_of = np.full(int(finer.max(initial=0)) + 1, -1, dtype=np.int64)
        group_of[finer[groups >= 0]] = groups[groups >= 0]
        places = np.searchsorted(counts.labels, group_of[found.labels])
        by_group = np.zeros((counts.labels.size, len(OUTCOMES), len(counts.epsilon)), dtype=np.int64)
        np.add.at(by_group, places, _outcomes(found).transpose(2, 0, 1))
        return by_group.transpose(1, 2, 0)

    excluded = np.zeros((len(OUTCOMES), *counts.n_concordant.shape), dtype=np.int64)
    if origins.systems is not None:
        excluded += within(system) - within(row)
    if origins.segments is not None:
        excluded += within(segment) - within(column)
    if origins.systems is not None and origins.segments is not None:
        excluded -= within(system, segment) - within(row, segment) - within(system, column)
    return _with_outcomes(counts, _outcomes(counts) - excluded)


def _outcomes(counts: PairCounts) -> Ints:
    return np.stack([getattr(counts, name) for name in OUTCOMES])


def _with_outcomes(counts: PairCounts, outcomes: Ints) -> PairCounts:
    """The counts with other outcomes, excluding groups without pairs."""
    kept = outcomes.sum(axis=0).any(axis=0)
    return replace(
        counts,
        **dict(zip(OUTCOMES, outcomes[:, :, kept], strict=True)),
        n_scores=counts.n_scores[kept],
        labels=counts.labels[kept],
        n_distinct=counts.n_distinct[:, kept],
    )


@dataclass(frozen=True)
class GroupResample:
    """Mean over segments of a statistic by item: with segments resampled, a weighted mean of a table.

    table: (M, n_groups), NaN = not defined, excluded from the mean; segments: (n_groups,) each group's segment.
    redrawn: used if systems are resampled.
    """

    table: Floats
    segments: Ints
    redrawn: ResampleStatistic

    @property
    def shape(self) -> tuple[int, int]:
        return self.redrawn.shape

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
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

    The weight of a pair is the product of how often its two systems were drawn; copies of a system make no pair.
    outcomes: (5, n_pairs, M, S), in the order of `OUTCOMES`; template: counts of the data themselves.
    """

    statistic: str
    outcomes: Bools
    template: PairCounts
    shape: tuple[int, int]

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
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
class PooledCountsResample:
    """A statistic of the pairs of all segments together, without resampling systems.

    counts: labelled by index among n_segments.
    """

    statistic: CountStatistic
    counts: PairCounts
    n_systems: int
    n_segments: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_systems, self.n_segments

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`. Raises ValueError: systems are resampled."""
        if systems is not None:
            raise ValueError("preferences are resampled by segments only")
        drawn = times_drawn(segments, n_draws, self.n_segments)[:, self.counts.labels]
        sums = {
            name: np.rint(drawn @ getattr(self.counts, name).T.astype(np.float64)).astype(np.int64).reshape(-1, 1)
            for name in OUTCOMES
        }  # each (k * M, 1)
        return self.statistic(replace(self.counts.pooled(), **sums)).reshape(n_draws, -1)


def _correlation(statistic: str, human: Floats, metrics: Floats, origins: Origins) -> Floats:
    """Mean over segments of a correlation; a system drawn twice counts twice."""
    return group_mean(CORRELATIONS[statistic](human, metrics, group_labels("item", human.shape))).value


def _stuarts_tau(human: Floats, metrics: Floats, origins: Origins) -> Floats:
    """Mean of tau_c over segments; its denominator counts scores and distinct values, and copies add no pairs to it."""
    return group_mean(TAUS["tau_c"](pair_counts(human, metrics, group_labels("item", human.shape)))).value


def item_resample(
    human: npt.ArrayLike, metrics: npt.ArrayLike, statistic: str, epsilon: npt.ArrayLike = 0.0
) -> GroupResample:
    """A correlation or tau by item, groups averaged, prepared for `bootstrap`.

    statistic: a name of `correlation.CORRELATIONS` or `tau.STATISTICS`; epsilon: each metric's tie threshold, kept in
    every resample (taus only). Raises ValueError: arrays, an unknown statistic.
    """
    checks.known(statistic, [*CORRELATIONS, *STATISTICS], "statistic")
    human, metrics = checked_scores(human, metrics)
    labels = group_labels("item", human.shape)
    if statistic in CORRELATIONS:
        redrawn = AnyResample(partial(_correlation, statistic), human, metrics)
        table = CORRELATIONS[statistic](human, metrics, labels)
        return GroupResample(table, judged_groups(human, labels).labels, redrawn)
    thresholds = checks.thresholds(epsilon, len(metrics))
    counts = pair_counts(human, metrics, labels, thresholds)
    table = STATISTICS[statistic](counts)
    if statistic == "tau_c":
        return GroupResample(table, counts.labels, AnyResample(_stuarts_tau, human, metrics))
    outcomes = _pair_outcomes(human, metrics, thresholds)
    shape = (int(human.shape[0]), int(human.shape[1]))
    return GroupResample(table, counts.labels, PairsResample(statistic, outcomes, counts, shape))


def _pair_outcomes(human: Floats, metrics: Floats, thresholds: Floats) -> Bools:
    """(5, n_pairs, M, S) the outcome of each pair of systems on each segment; none if either is not judged."""
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


@dataclass(frozen=True)
class RatioResample:
    """F on resampled systems and segments. sums: (M, N, S, 4), 0 where nothing is compared."""

    sums: Floats
    average: Average

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.sums.shape[1]), int(self.sums.shape[2])

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        n_systems, n_segments = self.shape
        drawn = times_drawn(segments, n_draws, n_segments)
        if systems is None:
            totals = np.einsum("ds,msk->dmk", drawn, self.sums.sum(axis=1), optimize=True)
        else:
            of_systems = times_drawn(systems, n_draws, n_systems)
            totals = np.einsum("dn,ds,mnsk->dmk", of_systems, drawn, self.sums, optimize=True)
        return rates(totals, self.average)[2]
