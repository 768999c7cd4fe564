"""How many scores humans put below one less how many above, among the first ones in a metric's order: by digits.

Human ranks are written with a few digits. Two scores whose ranks first differ at some digit are compared there, so
each digit has tables of its own, one for each node: the members of a group that agree in all digits before. A table
then has a column for each value of the digit instead of one for each human score.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Ints

Whole = npt.NDArray[np.signedinteger]

#: Most digits of a rank.
MOST_DIGITS = 6


@dataclass(frozen=True)
class Digit:
    """One digit of the human ranks of n members that stand group after group, in each by human rank.

    base: values that it can have. values: (n,). node: (n,) number of each member's node. starts: (n_nodes,) where nodes
    begin. places: (M, n + n_nodes) rows of a table in the order of each metric: a node's own row (n + its number), then
    its members. first_row: (n,) row of each member's node. below: (M, n, M) [b, i, a] members of i's node to which b
    gives less than a gives to i. not_above: (n,) the same with equal ones, by (b, a), where b gives some score of a's.
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
        """What each row adds to its table, (n + n_nodes, base, n_draws), and the sums of nodes; taken: (n, n_draws)."""
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
        """(members, others) where the tables of a metric hold the sums below the scores of other metrics."""
        below = self.below[metric, members]
        return self._rows(below if others.size == below.shape[1] else below[:, others], members)

    def rows_up_to(self, metric: int, other: int, members: slice) -> Ints:
        """(members, 1) the same with equal scores, for one other metric, with which there are some."""
        return self._rows(self.not_above[metric, other][members, np.newaxis], members)

    def _rows(self, before: Ints, members: slice) -> Ints:
        rows = np.multiply(before, self.base, dtype=np.intp)
        rows += (self.first_row[members] * self.base + self.values[members])[:, np.newaxis]
        return rows


def accumulate(rows: Whole) -> None:
    """Running sums of rows (n, width), in place: many times faster than numpy's along the first axis."""
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
    """The digits, from the first, with every metric's order; as many as make the tables cheapest.

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
    """The smallest base in which so many values have so many digits.

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
    """How many of each node are among the first members of their group in a metric's order.

    counts: for each node 0, then one number for each member of its group. first: (n,) where those of its node begin.
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
        """n_first: (n, ...) members of each member's group; of these, those of its node."""
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
