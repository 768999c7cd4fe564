"""Kendall's τ_b over the judged scores of whole groups of hybrids, whichever scores are swapped.

A draw divides the scores into kept and taken ones, the same for all metrics. A hybrid's pairs are those among what it
keeps of metric a, those among what is taken from b, and those of a kept with a taken score; the first two depend on
one metric each. The last are looked up: for the taken scores in the order of b tables hold how many humans put below a
human score less how many above, one after the other (`digit_tables`), and the place of a score among b's never changes.
A row of a table has the numbers of all draws of a block, so that one look serves them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import pair_counts
from metaeval.kernels.agreement.tau import average, group_mean, tau_b
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.arrays.grouping import judged_groups
from metaeval.kernels.resampling.permutation import Swap, SwapStatistic, mask_shape, standardise

from .digit_tables import Digit, Whole, accumulate, digits_of

#: Draws that share tables.
AT_ONCE = 32
#: Numbers looked up at a time.
LOOKED_UP = 1 << 19


@dataclass(frozen=True)
class AllPairsSwap(SwapStatistic):
    """Kendall's τ_b of groups of judged scores, averaged over groups; segments, systems or single scores are swapped.

    members: (n,) flat numbers of the judged scores, group after group, in each by human score. starts: (G + 1,) where
    groups begin. order: (M, n) members of each group by score. digits: of the human ranks. runs: of equal scores, for
    each metric. balance: (M, G) concordant less discordant pairs, and own, (M,) value, of each metric. human_untied:
    (G,) pairs that humans tell apart.
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
        """See `permutation.SwapStatistic`."""
        return self.wanted_hybrids(swaps, np.ones((self.n_metrics, self.n_metrics), dtype=np.bool_))

    def wanted_hybrids(self, swaps: Bools, wanted: Bools) -> Floats:
        """See `permutation.SwapStatistic`; others have any value."""
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
        """Concordant less discordant pairs of a kept member of a with a taken one of b, (G, a, b, n_draws), and pairs
        among the taken ones of b, (G, b, n_draws).
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
        """Pairs of a kept member of a with a taken one of b whose scores differ, (G, a, b, n_draws)."""
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
        """Groups in pieces whose numbers are looked up together."""
        step = max(1, LOOKED_UP // (self.n_metrics * AT_ONCE))
        for group, (begin, end) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            for start in range(begin, end, step):
                yield group, slice(start, min(start + step, end))


@dataclass(frozen=True)
class Runs:
    """Members of a group that share their score with others: run after run, where each begins, and its group."""

    members: Ints
    starts: Ints
    groups: Ints

    @classmethod
    def of(cls, order: Ints, ranks: Ints, group: Ints) -> Runs:
        """order: (n,) the members of each group by score; ranks, group: (n,) of the members."""
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
    """Kendall's τ_b of groups, without a tie threshold, prepared for `permutation_test`; made for large groups.

    human: (N, S), NaN = not judged; metrics: (M, N, S), standardised before the swaps. labels: (N, S) group of each
    score, see `grouping.group_labels`; None = one group. Groups where τ_b is not defined are excluded from a mean.
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
