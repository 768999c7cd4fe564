"""Tie calibration: the tie threshold of each metric at which it agrees best with the human scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import (
    PairCounts,
    differences,
    group_batches,
    grouped_pair_counts,
    human_order,
    pair_counts_over,
    sorted_members,
)
from metaeval.kernels.agreement.tau import acc23, group_mean, tau_23
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.arrays.cores import n_cores
from metaeval.kernels.arrays.grouping import GroupedScores, Groups, group_scores
from metaeval.kernels.arrays.sorted_scores import HumanOrder, SortedScores
from metaeval.kernels.calibration.gap_search import Bins, GapSearch, GapSource, Histogram, bits_of, float_of

Ints32 = npt.NDArray[np.integer[Any]]
BLOCK_PAIRS = 1 << 17  # pairs looked at together, so that they stay in the processor's cache
CHUNK_PAIRS = 1 << 20  # pairs gathered together from windows


class ListedPairs:
    """Pairs that are all held in memory.

    gaps: (n,) sizes of metric differences of the pairs that matter. tied: (n,) True where humans tie the pair.
    weights: (n,) positive weight of each pair, or None where all are 1.
    """

    n_enumerable = 1 << 13
    n_bins = 1 << 11

    def __init__(self, gaps: Floats, tied: Bools, weights: Ints | None) -> None:
        self.n_pairs = gaps.size
        self._gaps = gaps
        self._tied = tied
        self._weights = weights
        bits = gaps.view(np.int64)
        self._span = (int(bits.min()), int(bits.max()) + 1) if gaps.size else (0, 0)

    def _inside(self, low: int, high: int) -> Bools:
        bits = self._gaps.view(np.int64)
        inside: Bools = (bits >= low) & (bits < high)
        return inside

    def _signed(self, chosen: slice | Bools) -> Ints:
        signs = 2 * self._tied[chosen].astype(np.int64) - 1
        return signs if self._weights is None else signs * self._weights[chosen]

    def span(self, low: int, high: int) -> tuple[int, int]:
        if low <= self._span[0] and high >= self._span[1]:
            return self._span
        bits = self._gaps.view(np.int64)
        inside = self._inside(low, high)
        if not inside.any():
            return low, low
        smallest = np.min(bits, initial=high, where=inside)
        return int(smallest), int(np.max(bits, initial=low, where=inside)) + 1

    def events(self, low: int, high: int) -> tuple[Floats, Ints]:
        inside = self._inside(low, high)
        return self._gaps[inside], self._signed(inside)

    def bins(self, low: int, high: int, n_pairs: int) -> Bins:
        return Bins.divide(low, high, self.n_bins)

    def histogram(self, bins: Bins) -> Histogram:
        is_whole = bins.low <= self._span[0] and bins.high >= self._span[1]
        chosen = slice(None) if is_whole else self._inside(bins.low, bins.high)
        places = bins.of(self._gaps[chosen])
        places <<= 1
        places += self._tied[chosen]
        counts: Ints = np.bincount(places, minlength=2 * bins.n).reshape(-1, 2)
        weights = counts
        if self._weights is not None:
            totals = np.zeros(2 * bins.n, dtype=np.int64)
            np.add.at(totals, places, self._weights[chosen])
            weights = totals.reshape(-1, 2)
        return Histogram(bins, weights[:, 1], weights[:, 0], counts.sum(axis=1))

    def level(self, threshold: float) -> int:
        return int(self._signed(self._gaps <= threshold).sum())


class ScorePairs:
    """Too many pairs to hold in memory: they are found in the sorted members whenever they are needed.

    weights: (n_groups,) positive weight of the pairs of each group.
    """

    n_enumerable = 1 << 16
    n_bins = 1 << 14
    n_gathered = 1 << 7  # pairs a member up to which a window's pairs are looked at one by one
    n_counted = 8  # bins of larger windows, counted at their edges in n log n

    def __init__(self, members: SortedScores, weights: Ints) -> None:
        self._members = members
        self._weights = weights
        self.n_pairs = int(members.order.n_pairs.sum())
        self._n_concordant = members.count(0.0).n_concordant
        low, high = self.span(0, bits_of(np.inf))
        self._narrowest, self._widest = low, high - 1

    def level(self, threshold: float) -> int:
        counted = self._members.count(threshold)
        gained = self._members.order.n_tied - counted.n_tied_human
        lost = self._n_concordant - counted.n_concordant
        return int((self._weights * (gained - lost)).sum())

    def _partners(self, low: int, high: int) -> tuple[Ints, Ints]:
        """For each member, the range of later members whose gap to it lies in the window: two arrays (n,)."""
        return self._members.first_beyond(float_of(low), inclusive=True), self._members.first_beyond(
            float_of(high), inclusive=True
        )

    def span(self, low: int, high: int) -> tuple[int, int]:
        metric = self._members.metric
        start, stop = self._partners(low, high)
        some = np.flatnonzero(stop > start)
        if not some.size:
            return low, low
        smallest = (metric[start[some]] - metric[some]).min()
        largest = (metric[stop[some] - 1] - metric[some]).max()
        return bits_of(float(smallest)), bits_of(float(largest)) + 1

    def events(self, low: int, high: int) -> tuple[Floats, Ints]:
        gaps, weights = [], []
        for first, second in self._pairs(low, high):
            order = self._members.human[second] - self._members.human[first]
            matters = order >= 0
            first, second = first[matters], second[matters]
            gaps.append(self._members.metric[second] - self._members.metric[first])
            signs = np.where(order[matters] == 0, 1, -1)
            weights.append(signs * self._weights[self._members.order.group[first]])
        if not gaps:
            return np.zeros(0), np.zeros(0, dtype=np.int64)
        return np.concatenate(gaps), np.concatenate(weights)

    def _pairs(self, low: int, high: int) -> Iterator[tuple[Ints, Ints]]:
        """The pairs of a window in pieces of bounded size: first and second member, (n,) each."""
        start, stop = self._partners(low, high)
        filled = np.concatenate([[0], np.cumsum(stop - start)])
        row = 0
        while row < start.size:
            end = max(row + 1, int(np.searchsorted(filled, filled[row] + CHUNK_PAIRS, side="right")) - 1)
            lengths = (stop - start)[row:end]
            first = np.repeat(np.arange(row, end), lengths)
            second = np.arange(first.size) + np.repeat(start[row:end] - (filled[row:end] - filled[row]), lengths)
            if first.size:
                yield first, second
            row = end

    def bins(self, low: int, high: int, n_pairs: int) -> Bins:
        is_large = n_pairs > self.n_gathered * self._members.metric.size
        return Bins.divide(low, high, self.n_counted if is_large else self.n_bins)

    def histogram(self, bins: Bins) -> Histogram:
        if bins.n <= self.n_counted:
            return self._counted(bins)
        total = np.zeros((bins.n, 3), dtype=np.int64)  # n_pairs, tied and concordant weight
        if bins.low <= self._narrowest and bins.high > self._widest:
            for group, weight in enumerate(self._weights.tolist()):
                self._add(total, self._bin_group(group, bins), weight)
        elif self._weights.min() == self._weights.max():
            for first, second in self._pairs(bins.low, bins.high):
                self._add(total, self._bin_pairs(first, second, bins), int(self._weights[0]))
        else:
            for first, second in self._pairs(bins.low, bins.high):
                for group in np.unique(self._members.order.group[first]).tolist():
                    own = self._members.order.group[first] == group
                    counts = self._bin_pairs(first[own], second[own], bins)
                    self._add(total, counts, int(self._weights[group]))
        return Histogram(bins, total[:, 1], total[:, 2], total[:, 0])

    def _counted(self, bins: Bins) -> Histogram:
        """The histogram, from the pairs beyond each edge."""
        edges = [float_of(bins.edge(k)) for k in range(bins.n + 1)]
        beyond = [self._members.beyond(self._members.first_beyond(edge, inclusive=True)) for edge in edges]
        n_pairs, tied, concordant = (-np.diff(counts, axis=0) for counts in map(np.array, zip(*beyond, strict=True)))
        return Histogram(bins, tied @ self._weights, concordant @ self._weights, n_pairs.sum(axis=1))

    @staticmethod
    def _add(total: Ints, counts: Ints, weight: int) -> None:
        # counts: (n_bins, 4) discordant, tied, concordant, never
        total[:, 0] += counts.sum(axis=1)
        total[:, 1:] += weight * counts[:, 1:3]

    def _bin_pairs(self, first: Ints, second: Ints, bins: Bins) -> Ints:
        gaps = self._members.metric[second] - self._members.metric[first]
        return _bin_gaps(gaps, self._members.human[first], self._members.human[second], bins)

    def _bin_group(self, group: int, bins: Bins) -> Ints:
        """All pairs of a group, block of rows by block of rows."""
        start, stop = (int(place) for place in self._members.order.starts[group : group + 2])
        metric = self._members.metric[start:stop]
        human = self._members.human[start:stop].astype(np.int32)
        n = stop - start
        n_rows = min(max(2 * BLOCK_PAIRS // n, 1), 64)
        counts = self._bin_pairs(*self._near_pairs(start, stop, n_rows), bins)
        for row in range(0, n - n_rows, n_rows):
            rows, columns = slice(row, row + n_rows), slice(row + n_rows, n)
            gaps = metric[np.newaxis, columns] - metric[rows, np.newaxis]
            counts += _bin_gaps(gaps, human[rows, np.newaxis], human[np.newaxis, columns], bins)
        return counts

    @staticmethod
    def _near_pairs(start: int, stop: int, n_rows: int) -> tuple[Ints, Ints]:
        # the pairs with both members in the same block of rows
        first, second = np.triu_indices(n_rows, 1)
        blocks = np.arange(start, stop, n_rows)[:, np.newaxis]
        first, second = (blocks + first).ravel(), (blocks + second).ravel()
        return first[second < stop], second[second < stop]


def _bin_gaps(gaps: Floats, human_first: Ints32, human_second: Ints32, bins: Bins) -> Ints:
    """Pairs by bin and outcome, (n_bins, 4): discordant, tied by humans, concordant, none."""
    places = bins.of(gaps)
    places <<= 2
    places += (human_second >= human_first).view(np.int8)
    places += (human_second > human_first).view(np.int8)
    counts: Ints = np.bincount(places.ravel(), minlength=4 * bins.n)
    return counts.reshape(-1, 4)


CalibratedStatistic = Literal["acc23", "tau_23"]
Advance = Callable[[int, int], None]  # how much is done, how much there is
LISTED_PAIRS = 1 << 24  # up to so many pairs all are held in memory, in about half a gigabyte
LARGEST = 1 << 62


@dataclass(frozen=True)
class Calibration:
    """Result of `calibrate`; arrays (n_metrics,).

    value: the statistic at epsilon, mean over groups. epsilon: the smallest optimal threshold, in the metric's units.
    epsilon_high: every threshold in [epsilon, epsilon_high) gives the same value; infinity if every larger threshold
    does. counts: the pair counts at epsilon. n_groups: groups in the mean.
    """

    statistic: CalibratedStatistic
    value: Floats
    epsilon: Floats
    epsilon_high: Floats
    counts: PairCounts
    n_groups: int


def calibrate(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    labels: npt.ArrayLike,
    statistic: CalibratedStatistic = "acc23",
    progress: Advance | None = None,
) -> Calibration:
    """For each metric, the exact tie threshold that maximises the mean of acc23 or tau_23 over groups.

    human: (n_systems, n_segments), NaN = not judged. metrics: (n_metrics, n_systems, n_segments), finite where
        judged. labels: see `grouping.group_labels`; groups with fewer than 2 judged scores are excluded.
    All pairs with the same metric difference become ties together; no pairs are sampled, whatever the size of the data.
    If several thresholds are optimal, the smallest wins. Values are compared as whole numbers over a common denominator
    of the groups' numbers of pairs, or as fractions if that exceeds 64 bits. The threshold is 0 or the difference of a
    human-tied pair. tau_23 = 2 acc23 − 1, so both have the same threshold. Without groups, value and thresholds are
    NaN. progress: called with the number of metrics done.
    Raises ValueError: as `pair_counts`, or an unknown statistic.
    Source: Deutsch et al. 2023, section 6, algorithms 1 and 2. Differs from them by not sampling pairs.
    >>> found = calibrate([[0.0], [0.0], [1.0]], [[[1.0], [1.5], [3.0]]], [[0], [0], [0]])
    >>> found.value.tolist(), found.epsilon.tolist(), found.epsilon_high.tolist()
    ([1.0], [0.5], [1.5])
    """
    scores = group_scores(human, metrics, labels)
    mean = _mean_of(statistic)
    n_metrics, n_groups = len(scores.metrics), len(scores.groups.labels)
    epsilon, epsilon_high = np.full(n_metrics, np.nan), np.full(n_metrics, np.nan)
    if n_groups:
        weights, error = pair_weights(scores.groups.n_pairs)
        source_of = _source_of(scores, weights)

        def optimum(metric: int) -> tuple[int, float, float]:
            exact = partial(_exact_value, scores, metric) if error else None
            return GapSearch(source_of(metric), error, exact).run()

        with _at_once(int(scores.groups.n_pairs.sum())) as run:
            for metric, found in enumerate(run(optimum, range(n_metrics))):
                if progress is not None:
                    progress(metric, n_metrics)
                _, epsilon[metric], epsilon_high[metric] = found
    counts = grouped_pair_counts(scores, np.nan_to_num(epsilon))
    return Calibration(statistic, mean(counts), epsilon, epsilon_high, counts, n_groups)


def calibration_curve(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    labels: npt.ArrayLike,
    epsilons: npt.ArrayLike,
    statistic: CalibratedStatistic = "acc23",
    progress: Advance | None = None,
) -> Floats:
    """Mean of acc23 or tau_23 over groups at the thresholds `epsilons`, (n_metrics, n_thresholds).

    epsilons: (n_thresholds,) for all metrics, or (n_metrics, n_thresholds), each at least 0. progress: called with the
    number of metrics done. All else as in `calibrate`. Raises ValueError: as in `calibrate`, or thresholds of
    another shape.
    """
    scores = group_scores(human, metrics, labels)
    mean = _mean_of(statistic)
    n_metrics = len(scores.metrics)
    thresholds = np.asarray(epsilons, dtype=np.float64)
    if thresholds.ndim == 1:
        thresholds = np.broadcast_to(thresholds, (n_metrics, thresholds.size))
    if thresholds.ndim != 2 or len(thresholds) != n_metrics:
        raise ValueError(f"epsilons must be (n_thresholds,) or ({n_metrics}, n_thresholds), got {thresholds.shape}")
    checks.thresholds(thresholds.ravel(), thresholds.size)
    values = np.empty(thresholds.shape)
    large_groups = sorted_members(scores)
    for metric, row in enumerate(thresholds):
        if progress is not None:
            progress(metric, n_metrics)
        values[metric] = mean(pair_counts_over(scores, metric, row, large_groups[metric] if large_groups else None))
    return values


def pair_weights(n_pairs: Ints) -> tuple[Ints, int]:
    """Whole-number weight of one pair in each group of a mean over groups, and the weights' rounding error.

    n_pairs: (n_groups,). Weights are exactly proportional to 1 / n_pairs if that fits into 64 bits; the error is then
    0. Otherwise they are rounded down; the error is an upper bound on the total loss over all pairs.
    """
    common = math.lcm(*set(n_pairs.tolist()))
    if common * len(n_pairs) <= LARGEST:
        return common // n_pairs, 0
    return LARGEST // len(n_pairs) // n_pairs, int(n_pairs.sum())


def exact_mean(counts: PairCounts) -> Fraction:
    """Mean of one metric's acc23 over groups, as a fraction."""
    n_pairs = counts.n_pairs[0]
    right = counts.n_concordant[0] + counts.n_tied_both[0]
    total = Fraction(0)
    for size in np.unique(n_pairs).tolist():
        total += Fraction(int(right[n_pairs == size].sum()), size)
    return total / len(n_pairs)


def _exact_value(scores: GroupedScores, metric: int, threshold: float) -> Fraction:
    one = GroupedScores(scores.human, scores.metrics[metric : metric + 1], scores.groups)
    return exact_mean(grouped_pair_counts(one, np.array([threshold])))


def _mean_of(statistic: CalibratedStatistic) -> Callable[[PairCounts], Floats]:
    checks.known(statistic, get_args(CalibratedStatistic), "statistic")
    function = acc23 if statistic == "acc23" else tau_23
    return lambda counts: group_mean(function(counts)).value


@contextmanager
def _at_once(n_pairs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """`map`, in threads where metrics have many pairs; together they list no more pairs than one may."""
    threads = min(LISTED_PAIRS // n_pairs, n_cores()) if n_pairs > BLOCK_PAIRS else 1
    if threads < 2:
        yield map
        return
    with ThreadPoolExecutor(threads) as pool:
        yield pool.map


def _source_of(scores: GroupedScores, weights: Ints) -> Callable[[int], GapSource]:
    """Makes the pairs of a metric."""
    if int(scores.groups.n_pairs.sum()) <= LISTED_PAIRS:
        listed = _PairList.of(scores.human, scores.groups, weights)
        return lambda metric: listed.source(scores.metrics[metric])
    order = HumanOrder.of(scores.human, scores.groups)
    return lambda metric: ScorePairs(SortedScores.sort(order, scores.metrics[metric]), weights)


@dataclass(frozen=True)
class _PairList:
    """The pairs of all groups, batch by batch: scores (g, size), the best human score of a group first; which pairs
    (n_pairs, g) humans do not tie, the places of those that they tie, and weights."""

    batches: list[tuple[Ints, Bools, Ints, Ints]]
    is_uniform: bool

    @classmethod
    def of(cls, human: Floats, groups: Groups, weights: Ints) -> _PairList:
        batches = []
        for bucket in groups.buckets():
            for batch in group_batches(bucket):
                members = bucket.members[batch]
                by_human = np.argsort(-human[members], axis=1)
                members = np.take_along_axis(members, by_human, axis=1)
                is_untied = human_order(human, members) != 0
                batches.append((members, is_untied, np.flatnonzero(~is_untied), weights[bucket.groups[batch]]))
        return cls(batches, bool((weights == 1).all()))

    def source(self, values: Floats) -> ListedPairs:
        gaps, tied, weights = [], [], []
        for members, is_untied, ties, weight in self.batches:
            gap = differences(values, members)
            is_concordant = (gap > 0) & is_untied
            gaps += [gap[is_concordant], np.abs(gap.ravel()[ties])]
            tied += [np.full(one.size, is_tied) for one, is_tied in zip(gaps[-2:], (False, True), strict=True)]
            if not self.is_uniform:
                weights += [np.broadcast_to(weight, gap.shape)[is_concordant], weight[ties % len(weight)]]
        all_weights = None if self.is_uniform else np.concatenate(weights)
        return ListedPairs(np.concatenate(gaps), np.concatenate(tied), all_weights)
