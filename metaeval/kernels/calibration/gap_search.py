"""The best tie threshold over all pairs without sorting them all: histograms, upper bounds, and a closer look.

A pair affects acc23 in only two ways. If it is tied by humans, it becomes right when the threshold reaches the size of
its metric difference (its *gap*); if it is concordant, it becomes wrong there. So with weights w, the value at a
threshold e is, up to a constant,

    level(e) = Σ w over human-tied pairs with gap <= e  −  Σ w over concordant pairs with gap <= e.

Histograms of the gaps give the level at the bins' edges, and the level before a bin plus the weight of its tied pairs
is an upper bound inside the bin. Bins that cannot contain the maximum are dropped; the others are searched pair by pair
(or by finer bins, down to single floats). Bins are ranges of float64 bit patterns, which are ordered like the numbers,
so edges are exact, and fine where the numbers are small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints

OCTAVE = 1 << 52  # bit patterns from one power of two to the next
N_OCTAVES = 16  # what lies further below the window's upper end shares the first bin


def bits_of(gap: float) -> int:
    """The bit pattern of a float >= 0 as a whole number; larger floats have larger bit patterns."""
    return int(np.float64(gap).view(np.int64))


def float_of(bits: int) -> float:
    """The inverse of `bits_of`."""
    return float(np.int64(bits).view(np.float64))


@dataclass(frozen=True)
class Bins:
    """Bins over the gaps whose bit patterns lie in [low, high): bin k begins at base + (k << shift).

    The first bin begins at `low`, the last ends at `high`.
    """

    low: int
    high: int
    base: int
    shift: int

    @classmethod
    def divide(cls, low: int, high: int, n_bins: int) -> Bins:
        """At most n_bins bins for the window [low, high)."""
        base = max(low, high - N_OCTAVES * OCTAVE)
        shift = 0
        while (high - 1 - base) >> shift >= n_bins:
            shift += 1
        return cls(low, high, base, shift)

    @property
    def n(self) -> int:
        """Number of bins."""
        return ((self.high - 1 - self.base) >> self.shift) + 1

    def edge(self, k: int) -> int:
        """Bit pattern at which bin k begins, or at which the last bin ends."""
        if k == 0:
            return self.low
        return min(self.base + (k << self.shift), self.high)

    def of(self, gaps: Floats) -> Ints:
        """The bin of each gap inside the window."""
        bits: Ints = np.maximum(gaps, float_of(self.base)).view(np.int64)
        bits -= self.base
        bits >>= self.shift
        return bits


@dataclass(frozen=True)
class Histogram:
    """For each bin: weight of human-tied and of concordant pairs, and the number of all pairs searched."""

    bins: Bins
    tied: Ints
    concordant: Ints
    n_pairs: Ints


class GapSource(Protocol):
    """The pairs of one metric, seen through windows of gap bit patterns [low, high)."""

    n_pairs: int  # all of them
    n_enumerable: int  # pairs that may be listed at a time

    def span(self, low: int, high: int) -> tuple[int, int]:
        """The narrowest window with the same pairs; [low, low) if there are none."""
        ...

    def events(self, low: int, high: int) -> tuple[Floats, Ints]:
        """Gaps (n,) of the pairs that matter in the window, in any order, and weights (n,): positive if tied by humans,
        else negative."""
        ...

    def bins(self, low: int, high: int, n_pairs: int) -> Bins:
        """Bins for a window with this many pairs."""
        ...

    def histogram(self, bins: Bins) -> Histogram:
        """The pairs of the bins' window, counted."""
        ...

    def level(self, threshold: float) -> int:
        """The level at one threshold."""
        ...


class GapSearch:
    """One search: `GapSearch(source).run()`.

    tolerance: possible error in the difference of two levels because weights were rounded; 0 if none was. exact:
    computes the true value at a threshold, called when levels differ by no more than the tolerance.
    """

    def __init__(self, source: GapSource, tolerance: int = 0, exact: Callable[[float], Fraction] | None = None) -> None:
        self.source = source
        self.tolerance = tolerance
        self.best = 0  # the highest level known to be reached; at threshold 0 it is at least 0
        self._exact = exact
        self._candidates: list[tuple[float, int]] = []  # thresholds that may be the smallest optimum
        self._histograms: dict[tuple[int, int], Histogram] = {}
        self._last: tuple[tuple[int, int], tuple[Floats, Ints]] | None = None

    def run(self) -> tuple[int, float, float]:
        """The highest level over all thresholds from 0, the smallest threshold that reaches it, and the next one with a
        lower level (infinity if there is none): every threshold from the one to below the other is as good."""
        low, high = self.source.span(0, bits_of(np.inf))
        self._offer(0.0, self.source.level(0.0))  # threshold 0 is allowed, also where no pair has gap 0
        self._look(low, high, 0, self.source.n_pairs)
        reached = [(gap, level) for gap, level in self._candidates if level >= self.best - self.tolerance]
        if self._exact is not None:
            exact = {gap: self._exact(gap) for gap, _ in reached}
            self._best_exact = max(exact.values())
            reached = [(gap, level) for gap, level in reached if exact[gap] == self._best_exact]
        epsilon, level = min(reached)
        end = self._first_drop(low, high, 0, self.source.n_pairs, epsilon)
        return level, epsilon, np.inf if end is None else end

    def _offer(self, gap: float, level: int) -> None:
        self.best = max(self.best, level)
        self._candidates.append((gap, level))

    def _is_worse(self, gap: float, level: int) -> bool:
        """Whether the value at this gap is below the best."""
        if self._exact is None or level < self.best - self.tolerance:
            return level < self.best
        return self._exact(gap) < self._best_exact

    def _look(self, low: int, high: int, before: int, n_pairs: int) -> None:
        """Collect the candidates of a window; before: the level just below the window."""
        if n_pairs <= self.source.n_enumerable:
            self._offer_records(*self._levels(low, high, before))
            return
        low, high = self.source.span(low, high)
        if high - low <= 1:
            if high > low:
                self._offer(float_of(low), self.source.level(float_of(low)))
            return
        seen = self._histogram(low, high, n_pairs)
        after = before + np.cumsum(seen.tied - seen.concordant)
        starts = np.concatenate([[before], after[:-1]])
        self.best = max(self.best, int(after.max()))
        bounds = np.where(seen.tied > 0, starts + seen.tied, np.iinfo(np.int64).min)
        for first, last in self._runs(np.flatnonzero(bounds >= self.best - self.tolerance), seen.n_pairs):
            if bounds[first:last].max() >= self.best - self.tolerance:
                n = int(seen.n_pairs[first:last].sum())
                self._look(seen.bins.edge(first), seen.bins.edge(last), int(starts[first]), n)

    def _runs(self, alive: Ints, n_pairs: Ints) -> list[tuple[int, int]]:
        """Runs [first, last) of bins that together contain all of `alive`; each may be listed, or is a single bin."""
        runs: list[tuple[int, int]] = []
        total = np.concatenate([[0], np.cumsum(n_pairs)])
        for k in alive.tolist():
            if runs and total[k + 1] - total[runs[-1][0]] <= self.source.n_enumerable:
                runs[-1] = (runs[-1][0], k + 1)
            else:
                runs.append((k, k + 1))
        return runs

    def _offer_records(self, gaps: Floats, levels: Ints) -> None:
        if not gaps.size:
            return
        self.best = max(self.best, int(levels.max()))
        high = levels >= self.best - self.tolerance
        # the first of equal ones is enough where levels are exact
        places = np.flatnonzero(high) if self.tolerance else [int(np.argmax(high))] if high.any() else []
        for place in places:
            self._offer(float(gaps[place]), int(levels[place]))

    def _levels(self, low: int, high: int, before: int) -> tuple[Floats, Ints]:
        """The distinct gaps of a window, ascending, and the level at each; of the last window they are kept."""
        if self._last is not None and self._last[0] == (low, high):
            return self._last[1]
        gaps, weights = self.source.events(low, high)
        order = np.argsort(gaps)
        gaps = gaps[order]
        levels = before + np.cumsum(weights[order])
        last = np.ones(gaps.size, dtype=bool)
        last[:-1] = gaps[1:] != gaps[:-1]
        self._last = (low, high), (gaps[last], levels[last])
        return self._last[1]

    def _histogram(self, low: int, high: int, n_pairs: int) -> Histogram:
        if (low, high) not in self._histograms:
            self._histograms[low, high] = self.source.histogram(self.source.bins(low, high, n_pairs))
        return self._histograms[low, high]

    def _first_drop(self, low: int, high: int, before: int, n_pairs: int, epsilon: float) -> float | None:
        """The smallest gap above epsilon in the window at which the level is below the best."""
        if n_pairs <= self.source.n_enumerable:
            gaps, levels = self._levels(low, high, before)
            for place in np.flatnonzero((gaps > epsilon) & (levels < self.best + self.tolerance)).tolist():
                if self._is_worse(float(gaps[place]), int(levels[place])):
                    return float(gaps[place])
            return None
        low, high = self.source.span(low, high)
        if high <= bits_of(epsilon) + 1:
            return None
        if high - low == 1:
            return float_of(low) if self._is_worse(float_of(low), self.source.level(float_of(low))) else None
        seen = self._histogram(low, high, n_pairs)
        starts = before + np.concatenate([[0], np.cumsum(seen.tied - seen.concordant)])
        own = int(seen.bins.of(np.array([epsilon]))[0]) if bits_of(epsilon) >= low else 0
        falls = own + np.flatnonzero(seen.concordant[own:])
        for first, last in self._runs(falls, seen.n_pairs):
            n = int(seen.n_pairs[first:last].sum())
            edges = seen.bins.edge(first), seen.bins.edge(last)
            drop = self._first_drop(*edges, int(starts[first]), n, epsilon)
            if drop is not None:
                return drop
        return None
