"""Pair counts in n log n time, from the members of each group sorted by one metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .checks import Bools, Floats, Ints
from .grouping import Groups


@dataclass(frozen=True)
class HumanOrder:
    """The members of all groups, group after group, each by descending human score; the same for all metrics.

    members: (n,) flat indices of the scores. ranks: (n,) ranks of the human scores over all members; equal scores have
    equal ranks. group: (n,) number of the member's group. starts: (n_groups + 1,). n_pairs, n_tied, n_distinct:
    (n_groups,) pairs, pairs tied by humans, distinct human scores.
    """

    members: Ints
    ranks: Ints
    group: Ints
    starts: Ints
    n_pairs: Ints
    n_tied: Ints
    n_distinct: Ints

    @classmethod
    def of(cls, human: Floats, groups: Groups) -> HumanOrder:
        """Sort the members of `groups` (at least one group); human: flat scores of all members."""
        group = np.repeat(np.arange(len(groups.labels)), groups.sizes)
        ranks = np.unique(human[groups.members], return_inverse=True)[1].astype(np.int64)
        order = np.lexsort((-ranks, group))
        ranks = ranks[order]
        is_new = _changes(group, ranks)
        n_tied = np.add.reduceat(_place_in_run(is_new), groups.starts[:-1])
        n_distinct = np.add.reduceat(is_new.astype(np.int64), groups.starts[:-1])
        members = groups.members[order]
        return cls(members, ranks, group, groups.starts, groups.n_pairs, n_tied, n_distinct)


@dataclass(frozen=True)
class SortedPairCounts:
    """Pairs of each group by outcome, (n_groups,); the rest are tied on the metric."""

    n_concordant: Ints
    n_discordant: Ints
    n_tied_human: Ints


@dataclass(frozen=True)
class SortedScores:
    """The members of all groups, group after group, each by ascending metric, then descending human score.

    In this order a pair (i, j), i < j, of one group is concordant if human[i] < human[j]; for a pair tied on the metric
    this is never true. metric: (n,) scores. human: (n,) ranks. ends: (n,) where the member's group ends.
    """

    metric: Floats
    human: Ints
    ends: Ints
    order: HumanOrder

    @classmethod
    def sort(cls, order: HumanOrder, metric: Floats) -> SortedScores:
        """The members sorted by metric (flat scores of all members)."""
        values = metric[order.members] + 0.0  # -0.0 becomes 0.0
        # both sorts are stable and keep the order of the human scores
        places = np.argsort(values, kind="stable")
        if len(order.n_pairs) > 1:
            group = order.group[places]
            if len(order.n_pairs) <= 1 << 16:
                group = group.astype(np.uint16)  # sorted by radix, many times faster
            places = places[np.argsort(group, kind="stable")]
        ends = np.repeat(order.starts[1:], np.diff(order.starts))
        return cls(values[places], order.ranks[places], ends, order)

    def first_beyond(self, gap: float, *, inclusive: bool = False) -> Ints:
        """For each member i, the first j > i of its group with metric[j] - metric[i] > gap, (n,).

        inclusive: >= gap. The group's end if there is no such j. The difference is the rounded float64 one; rounding
        preserves order, so bisection finds j exactly.
        """
        if gap == 0 and not inclusive:
            return self._ends_of_ties()
        n = self.metric.size
        low = np.arange(1, n + 1)
        high = self.ends.copy()
        for _ in range(int(np.diff(self.order.starts).max()).bit_length()):
            middle = (low + high) >> 1
            # where low == high, middle may lie one past the last member: its outcome is not used
            apart = self.metric[np.minimum(middle, n - 1)] - self.metric
            beyond = apart >= gap if inclusive else apart > gap
            is_open = low < high
            high = np.where(is_open & beyond, middle, high)
            low = np.where(is_open & ~beyond, middle + 1, low)
        return low

    def _ends_of_ties(self) -> Ints:
        # where the run of equal scores of each member ends
        starts = np.flatnonzero(self._metric_changes())
        lengths = np.diff(np.append(starts, self.metric.size))
        return np.repeat(starts + lengths, lengths)

    def _metric_changes(self) -> Bools:
        return _changes(self.order.group, self.metric)

    def count(self, epsilon: float) -> SortedPairCounts:
        """Pairs of each group by outcome at the tie threshold epsilon."""
        beyond = self.first_beyond(epsilon)
        n_untied_metric = self._per_group(self.ends - beyond)
        n_concordant = self._per_group(self.n_above(beyond))
        if epsilon == 0:
            together = _place_in_run(self._metric_changes() | _changes(self.human))
            n_tied_human = self.order.n_tied - self._per_group(together)
        else:
            n_tied_human = self._per_group(self._n_same_human(beyond))
        return SortedPairCounts(
            n_concordant=n_concordant,
            n_discordant=n_untied_metric - n_tied_human - n_concordant,
            n_tied_human=n_tied_human,
        )

    def beyond(self, start: Ints) -> tuple[Ints, Ints, Ints]:
        """Pairs of each group whose second member is at start[first] or later: all, tied by humans, concordant.

        Each (n_groups,).
        """
        counts = self.ends - start, self._n_same_human(start), self.n_above(start)
        return self._per_group(counts[0]), self._per_group(counts[1]), self._per_group(counts[2])

    def n_distinct(self) -> Ints:
        """Distinct metric scores of each group, (n_groups,)."""
        return self._per_group(self._metric_changes().astype(np.int64))

    def _per_group(self, values: Ints) -> Ints:
        return np.add.reduceat(values, self.order.starts[:-1])

    def _n_same_human(self, start: Ints) -> Ints:
        # members of the same group and human rank at place >= start, for each member
        kind, places, last = self._kinds
        same: Ints = last - np.searchsorted(places, kind + start)
        return same

    @cached_property
    def _kinds(self) -> tuple[Ints, Ints, Ints]:
        # of each member: where those of its group and human rank begin; all places, sorted; where its kind ends
        n = self.metric.size
        kind = (self.order.group * (int(self.human.max()) + 1) + self.human) * n
        places = np.sort(kind + np.arange(n))
        return kind, places, np.searchsorted(places, kind + n)

    def n_above(self, start: Ints) -> Ints:
        """For each member i, the number of members j with start[i] <= j < ends[i] and human[j] > human[i], (n,).

        Uses a wavelet matrix over the human ranks: one pass per bit, from the highest, for all members at once.
        """
        total = np.zeros(self.metric.size, dtype=np.int64)
        level, low, high = self.human, start, self.ends
        ones = np.zeros(level.size + 1, dtype=np.int64)
        for bit in reversed(range(int(self.human.max()).bit_length())):
            is_one = (level >> bit & 1).astype(bool)
            np.cumsum(is_one, out=ones[1:])
            n_zeros = level.size - int(ones[-1])
            low_ones, high_ones = ones[low], ones[high]
            is_below = (self.human >> bit & 1) == 0  # the members with a 1 here are above those
            total += (high_ones - low_ones) * is_below
            low = np.where(is_below, low - low_ones, n_zeros + low_ones)
            high = np.where(is_below, high - high_ones, n_zeros + high_ones)
            level = np.concatenate([level[~is_one], level[is_one]])
        return total


def _changes(*keys: Floats | Ints) -> Bools:
    """True for the first member, and for each that differs in any key from the member before it."""
    is_new = np.zeros(keys[0].size, dtype=bool)
    is_new[0] = True
    for key in keys:
        is_new[1:] |= key[1:] != key[:-1]
    return is_new


def _place_in_run(is_new: Bools) -> Ints:
    """For each member, how many members of its run come before it; the sum is the number of pairs inside runs."""
    places = np.arange(is_new.size)
    return places - np.maximum.accumulate(np.where(is_new, places, 0))
