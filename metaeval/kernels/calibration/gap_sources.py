"""Where the gaps of a metric come from: a list of all pairs, or the sorted members of large groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.arrays.sorted_scores import SortedScores

from .gap_search import Bins, Events, Histogram, bits_of, float_of

Ints32 = npt.NDArray[np.integer[Any]]
BLOCK_PAIRS = 1 << 17  # pairs looked at together, so that they stay in the processor's cache
CHUNK_PAIRS = 1 << 20  # pairs gathered together from windows


class ListedPairs:
    """Pairs that are all held in memory.

    gaps: (n,) sizes of metric differences of the pairs that matter. tied: (n,) True where humans are tied.
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

    def events(self, low: int, high: int) -> Events:
        inside = self._inside(low, high)
        return Events(self._gaps[inside], self._signed(inside))

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
    """Pairs that are too many to be held in memory: found in the sorted members whenever they are needed.

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
        """For each member the range of later members whose gap to it lies in the window, (n,) and (n,)."""
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

    def events(self, low: int, high: int) -> Events:
        gaps, weights = [], []
        for first, second in self._pairs(low, high):
            order = self._members.human[second] - self._members.human[first]
            matters = order >= 0
            first, second = first[matters], second[matters]
            gaps.append(self._members.metric[second] - self._members.metric[first])
            signs = np.where(order[matters] == 0, 1, -1)
            weights.append(signs * self._weights[self._members.order.group[first]])
        if not gaps:
            return Events(np.zeros(0), np.zeros(0, dtype=np.int64))
        return Events(np.concatenate(gaps), np.concatenate(weights))

    def _pairs(self, low: int, high: int) -> Iterator[tuple[Ints, Ints]]:
        """The pairs of a window in bounded pieces: first and second member, (n,) each."""
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
        """By the pairs beyond each edge."""
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
    """Pairs by bin and outcome, (n_bins, 4): discordant, tied for humans, concordant, none."""
    places = bins.of(gaps)
    places <<= 2
    places += (human_second >= human_first).view(np.int8)
    places += (human_second > human_first).view(np.int8)
    counts: Ints = np.bincount(places.ravel(), minlength=4 * bins.n)
    return counts.reshape(-1, 4)
