"""Kendall's τ_b of hybrids over all judged scores of a group, for any swap.

A draw divides the scores into kept and taken scores, in the same way for all metrics. A hybrid has three kinds of
pairs: between scores kept from metric a, between scores taken from b, and between a kept and a taken score. The first
two kinds depend on one metric each. The third kind is looked up in tables. These hold, for the first scores taken in
the order of b, how many humans place below a human score minus how many above; the position of a score in the order of
b never changes. A row of a table has the numbers of all draws of a block, so one lookup serves all draws.

Human ranks are written as a few digits. Two scores whose ranks first differ at some digit are compared there, so each
digit has its own tables, one per node: the members of a group that agree in all earlier digits. A table then has one
column per value of the digit instead of one per human score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import pair_counts
from metaeval.kernels.agreement.tau import average, group_mean, tau_b
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.arrays.grouping import judged_groups
from metaeval.kernels.resampling.permutation import standardise
from metaeval.kernels.resampling.prepared import Swap, SwapStatistic, mask_shape

Whole = npt.NDArray[np.signedinteger]

#: Most digits of a rank.
MOST_DIGITS = 6


@dataclass(frozen=True)
class Digit:
    """One digit of the human ranks of n members, ordered by group and then by human rank.

    base: number of values the digit can have. values: (n,). node: (n,) number of each member's node. starts: (n_nodes,)
    where nodes begin. places: (M, n + n_nodes) rows of a table in the order of each metric: a node's own row (n + its
    number), then its members. first_row: (n,) row of each member's node. below: (M, n, M) [b, i, a] members of i's node
    that b scores lower than a scores i. not_above: (n,) the same including equal scores, by (b, a), if b gives some
    score that a also gives.
    """

    base: int
    values: Ints
    node: Ints
    starts: Ints
    places: Ints
    first_row: Ints
    below: Ints
    not_above: dict[tuple[int, int], Ints]

    def changes(self, taken: Whole) -> tuple[Whole, Whole]:
        """Amount each row adds to its table, (n + n_nodes, base, n_draws), and sums of nodes; taken: (n, n_draws)."""
        signs = np.sign(np.arange(self.base) - self.values[:, np.newaxis]).astype(taken.dtype)
        members = signs[:, :, np.newaxis] * taken[:, np.newaxis]
        totals = np.add.reduceat(members, self.starts, axis=0, dtype=taken.dtype)
        starts = np.zeros_like(totals)
        np.negative(totals[:-1], out=starts[1:])  # a node's table begins at 0
        return np.concatenate([members, starts]), totals

    def table(self, metric: int, changes: Whole) -> Whole:
        """(rows · base, n_draws) sums over the first members of each node in the order of a metric."""
        rows: Whole = changes.reshape(len(changes), -1).take(self.places[metric], axis=0)
        accumulate(rows)
        return rows.reshape(-1, changes.shape[2])

    def rows(self, metric: int, others: Ints, members: slice) -> Ints:
        """(members, others) rows of a metric's tables that hold the sums below the scores of other metrics."""
        below = self.below[metric, members]
        return self._rows(below if others.size == below.shape[1] else below[:, others], members)

    def rows_up_to(self, metric: int, other: int, members: slice) -> Ints:
        """(members, 1) the same including equal scores, for one other metric that has some."""
        return self._rows(self.not_above[metric, other][members, np.newaxis], members)

    def _rows(self, before: Ints, members: slice) -> Ints:
        rows = np.multiply(before, self.base, dtype=np.intp)
        rows += (self.first_row[members] * self.base + self.values[members])[:, np.newaxis]
        return rows


def accumulate(rows: Whole) -> None:
    """Running sums of rows (n, width), in place: many times faster than numpy's cumsum along the first axis."""
    n, width = rows.shape
    size = max(1, isqrt(n))
    n_whole = n // size * size
    blocks = rows[:n_whole].reshape(-1, size, width)
    for place in range(1, size):
        blocks[:, place] += blocks[:, place - 1]
    for block in range(1, len(blocks)):
        blocks[block] += blocks[block - 1, -1]
    for place in range(max(1, n_whole), n):
        rows[place] += rows[place - 1]


def digits_of(group: Ints, rank: Ints, metrics: Ints) -> tuple[Digit, ...]:
    """The digits, from the first, with every metric's order; their number makes the tables cheapest.

    group, rank: (n,) ascending, n ≥ 1. metrics: (M, n) ranks of the scores of all metrics together, ties equal.
    """
    n_values = int(rank.max()) + 1
    n_digits = min(range(1, MOST_DIGITS + 1), key=lambda n: n * (base_of(n_values, n) + len(metrics)))
    base = base_of(n_values, n_digits)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    below, not_above = _within_groups(starts, metrics)
    return tuple(
        _digit(base, base ** (n_digits - 1 - place), group, rank, metrics, starts, below, not_above)
        for place in range(n_digits)
    )


def base_of(n_values: int, n_digits: int) -> int:
    """The smallest base in which this many digits can write this many values.

    >>> base_of(64, 2), base_of(65, 2), base_of(1, 3)
    (8, 9, 1)
    """
    base = 1
    while base**n_digits < n_values:
        base += 1
    return base


def _digit(
    base: int,
    weight: int,
    group: Ints,
    rank: Ints,
    metrics: Ints,
    groups: Ints,
    below: Ints,
    not_above: dict[tuple[int, int], Ints],
) -> Digit:
    is_new: Bools = np.diff(group, prepend=-1) != 0
    is_new |= np.diff(rank // (weight * base), prepend=-1) != 0
    starts, node = np.flatnonzero(is_new), np.cumsum(is_new) - 1
    n_scores, n_nodes = group.size, starts.size
    places = np.empty((len(metrics), n_scores + n_nodes), dtype=np.intp)
    in_nodes = below if n_nodes == groups.size else np.empty_like(below)
    up_to = dict(not_above)
    for b, scores in enumerate(metrics):
        ordered = np.lexsort((scores, node))
        places[b] = np.insert(ordered, starts, n_scores + np.arange(n_nodes))
        if n_nodes != groups.size:
            counts = _NodeCounts.of(group, node, groups, scores)
            in_nodes[b] = counts.among_first(below[b])
            for a in range(len(metrics)):
                if (b, a) in not_above:
                    up_to[b, a] = counts.among_first(not_above[b, a][:, np.newaxis])[:, 0]
    first_row = (starts + np.arange(n_nodes))[node]
    return Digit(base, rank // weight % base, node, starts, places, first_row, in_nodes, up_to)


@dataclass(frozen=True)
class _NodeCounts:
    """How many members of each node are among the first members of their group in a metric's order.

    counts: for each node 0, then one number per member of its group. first: (n,) where the counts of the member's node
    begin.
    """

    counts: Ints
    first: Ints

    @classmethod
    def of(cls, group: Ints, node: Ints, groups: Ints, scores: Ints) -> _NodeCounts:
        ordered = np.lexsort((scores, group))
        counts, first, n_counts = [], np.empty(node.size, dtype=np.intp), 0
        for begin, end in zip(groups, [*groups[1:], node.size], strict=True):
            own = node[begin:end] - node[begin]
            of_nodes = np.zeros((own[-1] + 1, end - begin + 1), dtype=np.int32)
            of_nodes[node[ordered[begin:end]] - node[begin], np.arange(1, end - begin + 1)] = 1
            counts.append(np.cumsum(of_nodes, axis=1, dtype=np.int32).ravel())
            first[begin:end] = n_counts + own * of_nodes.shape[1]
            n_counts += of_nodes.size
        return cls(np.concatenate(counts), first)

    def among_first(self, n_first: Ints) -> Ints:
        """n_first: (n, ...) first members of each member's group. Returns how many of them are in its node."""
        return self.counts.take(self.first[:, np.newaxis] + n_first)


def _within_groups(starts: Ints, metrics: Ints) -> tuple[Ints, dict[tuple[int, int], Ints]]:
    """`below` and `not_above` among the members of a group."""
    n_metrics, n_scores = metrics.shape
    kind = np.uint16 if n_scores <= np.iinfo(np.uint16).max else np.int64
    below = np.empty((n_metrics, n_scores, n_metrics), dtype=kind)
    upper: dict[tuple[int, int], Ints] = {}
    for begin, end in zip(starts, [*starts[1:], n_scores], strict=True):
        places = np.argsort(metrics[:, begin:end], axis=1, kind="stable")
        ordered = np.take_along_axis(metrics[:, begin:end], places, axis=1)
        for b, scores in enumerate(ordered):
            lower = scores.searchsorted(ordered)  # sorted scores are found faster
            below[b, begin + places, np.arange(n_metrics)[:, np.newaxis]] = lower
            is_there = scores[np.minimum(lower, scores.size - 1)] == ordered
            for a in np.flatnonzero(is_there.any(axis=1)).tolist():
                found = upper.setdefault((b, a), np.full(n_scores, -1, dtype=np.int64))
                found[begin + places[a]] = scores.searchsorted(ordered[a], side="right")
    for (b, a), found in upper.items():
        np.copyto(found, below[b, :, a], where=found < 0)
    return below, upper


#: Draws that share tables.
AT_ONCE = 32
#: Numbers looked up at a time.
LOOKED_UP = 1 << 19


@dataclass(frozen=True)
class AllPairsSwap(SwapStatistic):
    """Kendall's τ_b of groups of judged scores, averaged over groups; segments, systems or single scores are swapped.

    members: (n,) flat indices of the judged scores, group after group, each by human score. starts: (G + 1,) where
    groups begin. order: (M, n) members of each group by score. digits: digits of the human ranks. runs: runs of equal
    scores, for each metric. balance: (M, G) concordant minus discordant pairs of each metric. own: (M,) value of each
    metric. human_untied: (G,) pairs that humans do not tie.
    """

    swap: Swap
    shape: tuple[int, int]
    members: Ints
    starts: Ints
    order: Ints
    digits: tuple[Digit, ...]
    runs: tuple[Runs, ...]
    balance: Ints
    own: Floats
    human_untied: Ints

    def hybrids(self, swaps: Bools) -> Floats:
        return self.wanted_hybrids(swaps, np.ones((self.n_metrics, self.n_metrics), dtype=np.bool_))

    def wanted_hybrids(self, swaps: Bools, wanted: Bools) -> Floats:
        """See `SwapStatistic`; others have any value."""
        mask = {"inputs": swaps[:, np.newaxis], "systems": swaps[:, :, np.newaxis]}.get(self.swap, swaps)
        flat = np.broadcast_to(mask, (len(swaps), *self.shape)).reshape(len(swaps), -1)
        taken = np.ascontiguousarray(flat[:, self.members].T)
        wanted = wanted | np.diag(wanted.any(axis=0) | wanted.any(axis=1))
        parts = [self._of_draws(taken[:, start : start + AT_ONCE], wanted) for start in range(0, len(swaps), AT_ONCE)]
        return np.concatenate(parts)

    @property
    def _kind(self) -> type[np.signedinteger]:
        return np.int16 if 2 * self.members.size <= np.iinfo(np.int16).max else np.int32

    def _of_draws(self, is_taken: Bools, wanted: Bools) -> Floats:
        """(n_draws, M, M); is_taken: (n, n_draws)."""
        n_draws, n_metrics, n_groups = is_taken.shape[1], self.n_metrics, self.starts.size - 1
        if not n_groups:
            return np.full((n_draws, n_metrics, n_metrics), np.nan)
        taken = np.ascontiguousarray(is_taken, dtype=self._kind)
        kept = np.asarray(1 - taken, dtype=self._kind)
        balance, among_taken = self._mixed_pairs(taken, kept, wanted)
        own = np.diagonal(balance, axis1=1, axis2=2).transpose(0, 2, 1)  # (G, M, n_draws)
        balance += (self.balance.T[:, :, np.newaxis] - among_taken - own)[:, :, np.newaxis]
        balance += among_taken[:, np.newaxis]
        untied = self._mixed_untied(taken, kept, wanted)
        untied += np.stack([self._untied(runs, kept) for runs in self.runs], axis=1)[:, :, np.newaxis]
        untied += np.stack([self._untied(runs, taken) for runs in self.runs], axis=1)[:, np.newaxis]
        divisor = np.sqrt(untied.astype(np.float64) * self.human_untied.astype(np.float64)[:, *[np.newaxis] * 3])
        by_draw = np.ascontiguousarray(ratio(balance, divisor).transpose(3, 1, 2, 0))
        means = group_mean(by_draw.reshape(-1, n_groups)).value.reshape(by_draw.shape[:3])
        means[:, np.arange(n_metrics), np.arange(n_metrics)] = self.own
        return means

    def _mixed_pairs(self, taken: Whole, kept: Whole, wanted: Bools) -> tuple[Ints, Ints]:
        """Concordant minus discordant pairs of a kept member of a with a taken member of b, (G, a, b, n_draws), and
        pairs among the taken members of b, (G, b, n_draws).
        """
        n_metrics, n_groups, n_draws = self.n_metrics, self.starts.size - 1, taken.shape[1]
        balance = np.zeros((n_groups, n_metrics, n_metrics, n_draws), dtype=np.int64)
        twice_taken = np.zeros((n_groups, n_metrics, n_draws), dtype=np.int64)
        for digit in self.digits:
            changes, totals = digit.changes(taken)
            whole = totals[digit.node, digit.values] * kept
            balance -= self._per_group(whole)[:, np.newaxis, np.newaxis]
            for b in np.flatnonzero(wanted.diagonal()).tolist():
                table = digit.table(b, changes)
                others = np.flatnonzero(wanted[:, b])
                tied = [(place, a) for place, a in enumerate(others.tolist()) if (b, a) in digit.not_above]
                for group, members in self._pieces():
                    lower = table.take(digit.rows(b, others, members), axis=0)  # (members, others, n_draws)
                    own = lower[:, others == b][:, 0] * taken[members]
                    lower *= kept[members, np.newaxis]
                    sums = 2 * np.add.reduce(lower, axis=0, dtype=np.int64)
                    for place, a in tied:
                        upper = table.take(digit.rows_up_to(b, a, members), axis=0)[:, 0]
                        sums[place] += np.add.reduce(upper * kept[members] - lower[:, place], axis=0, dtype=np.int64)
                        if a == b:
                            own += upper * taken[members]
                    balance[group, others, b] += sums
                    twice_taken[group, b] += np.add.reduce(own, axis=0, dtype=np.int64)
        return balance, twice_taken // 2

    def _mixed_untied(self, taken: Whole, kept: Whole, wanted: Bools) -> Ints:
        """Pairs of a kept member of a and a taken member of b with different scores, (G, a, b, n_draws)."""
        n_metrics, n_draws = self.n_metrics, taken.shape[1]
        mixed = self._per_group(kept) * self._per_group(taken)
        untied = np.empty((len(mixed), n_metrics, n_metrics, n_draws), dtype=np.int64)
        untied[:] = mixed[:, np.newaxis, np.newaxis]
        first = self.digits[0]
        before = np.repeat(self.starts[:-1], np.diff(self.starts))
        for b in np.flatnonzero(wanted.diagonal()).tolist():
            n_before = np.zeros((len(taken) + 1, n_draws), dtype=self._kind)
            n_before[1:] = taken[self.order[b]]
            accumulate(n_before)
            for a in np.flatnonzero(wanted[:, b]).tolist():
                if (b, a) in first.not_above:
                    equal = n_before[before + first.not_above[b, a]] - n_before[before + first.below[b, :, a]]
                    untied[:, a, b] -= self._per_group(equal * kept)
        return untied

    def _untied(self, runs: Runs, chosen: Whole) -> Ints:
        """Pairs of chosen members with different scores, (G, n_draws); chosen: (n, n_draws)."""
        n_chosen = self._per_group(chosen)
        untied = n_chosen * (n_chosen - 1) // 2
        if runs.members.size:
            n_equal = np.add.reduceat(chosen[runs.members], runs.starts, axis=0, dtype=np.int64)
            np.subtract.at(untied, runs.groups, n_equal * (n_equal - 1) // 2)
        return untied

    def _per_group(self, numbers: Whole) -> Ints:
        return np.asarray(np.add.reduceat(numbers, self.starts[:-1], axis=0, dtype=np.int64))

    def _pieces(self) -> Iterator[tuple[int, slice]]:
        """Groups in batches whose numbers are looked up together."""
        step = max(1, LOOKED_UP // (self.n_metrics * AT_ONCE))
        for group, (begin, end) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            for start in range(begin, end, step):
                yield group, slice(start, min(start + step, end))


@dataclass(frozen=True)
class Runs:
    """Members that share their score with others of their group: run after run, where each begins, and its group."""

    members: Ints
    starts: Ints
    groups: Ints

    @classmethod
    def of(cls, order: Ints, ranks: Ints, group: Ints) -> Runs:
        """order: (n,) the members of each group by score; ranks, group: (n,) rank and group of each member."""
        is_new = np.diff(ranks[order], prepend=-1) != 0
        is_new |= np.diff(group, prepend=-1) != 0
        lengths = np.diff(np.append(np.flatnonzero(is_new), order.size))
        members = order[np.repeat(lengths > 1, lengths)]
        lengths = lengths[lengths > 1]
        starts = np.cumsum(lengths) - lengths
        return cls(members, starts, group[members[starts]])


def all_pairs_swap(
    human: npt.ArrayLike, metrics: npt.ArrayLike, swap: Swap = "both", labels: npt.ArrayLike | None = None
) -> AllPairsSwap:
    """Kendall's τ_b of groups, without a tie threshold, prepared for `permutation_test`; efficient for large groups.

    human: (N, S), NaN = not judged; metrics: (M, N, S), standardised before the swaps. labels: (N, S) group of each
    score, see `grouping.group_labels`; None = one group. Groups in which τ_b is not defined are excluded from the mean.
    Raises ValueError: arrays.
    """
    human = checks.human_scores(human)
    labels = np.zeros(human.shape, dtype=np.int64) if labels is None else checks.group_labels(labels, human.shape)
    metrics = checks.metric_scores(metrics, ~np.isnan(human))
    scores = standardise(human, metrics)
    counts = pair_counts(human, scores, labels)
    groups = judged_groups(human, labels)
    group = np.repeat(np.arange(groups.sizes.size), groups.sizes)
    by_human = np.lexsort((human.ravel()[groups.members], group))
    members = groups.members[by_human]
    values = scores.reshape(len(scores), -1)[:, members] + 0.0  # -0.0 becomes 0.0
    ranks = np.unique(values, return_inverse=True)[1].reshape(values.shape).astype(np.int64)
    order = np.stack([np.lexsort((row, group)) for row in ranks])
    untied = counts.n_concordant + counts.n_discordant
    return AllPairsSwap(
        swap,
        (int(human.shape[0]), int(human.shape[1])),
        members,
        groups.starts,
        order,
        digits_of(group, _ranks_in_groups(human.ravel()[members], group), ranks) if members.size else (),
        tuple(Runs.of(places, row, group) for places, row in zip(order, ranks, strict=True)),
        counts.n_concordant - counts.n_discordant,
        average(tau_b, counts).value,
        (untied + counts.n_tied_metric)[0],
        n_metrics=len(scores),
        mask_shape=mask_shape(swap, human.shape),
    )


def _ranks_in_groups(human: Floats, group: Ints) -> Ints:
    """(n,) dense ranks from 0 of human scores that ascend in each group."""
    is_first = np.diff(group, prepend=-1) != 0
    is_higher = np.diff(human, prepend=human[:1]) != 0
    steps = np.cumsum(is_higher & ~is_first)
    return np.asarray(steps - steps[is_first][group], dtype=np.int64)
