"""Kendall's τ_b over all judged cells of hybrids, whichever scores are swapped.

A draw divides the cells into kept and taken ones, the same for all metrics. A hybrid's pairs are those among what it
keeps of metric a, those among what is taken from b, and those of a kept with a taken cell; the first two depend on one
metric each. The last are looked up: for the taken cells in the order of b a table holds, for each human score, how many
humans put below it less how many above, cell after cell, and a kept cell's place among b's scores never changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import pair_counts
from metaeval.kernels.agreement.tau import tau_b
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

from .permutation import SwapStatistic, standardise
from .swap_units import Swap, mask_shape

#: Entries of a table up to which looking up is worth it; with more human scores every hybrid is counted anew.
LARGEST_TABLE = 1 << 24


@dataclass(frozen=True)
class AllPairsSwap(SwapStatistic):
    """Kendall's τ_b over all judged cells of every hybrid; segments, systems or single scores are swapped.

    judged: (N, S). human: (n,) rank of each judged cell's human score, ties equal. order: (M, n) cells by score. ranks:
    (M, n) of the scores, ties equal. below: (M, M, n), [b, a, i] number of cells to which b gives less than a gives to
    i; not_above: the same with equal ones, by (b, a), where b gives some score of a's. balance, own: (M,) concordant
    less discordant pairs, and value, of each metric. human_untied: pairs that humans tell apart.
    """

    swap: Swap
    judged: Bools
    human: Ints
    order: Ints
    ranks: Ints
    below: Ints
    not_above: dict[tuple[int, int], Ints]
    balance: Ints
    own: Floats
    human_untied: int

    def hybrids(self, swaps: Bools) -> Floats:
        """See `permutation.SwapStatistic`."""
        mask = {"inputs": swaps[:, np.newaxis], "systems": swaps[:, :, np.newaxis]}.get(self.swap, swaps)
        mask = np.broadcast_to(mask, (len(swaps), *self.judged.shape))
        signs = np.sign(np.arange(self.human.max() + 1) - self.human[:, np.newaxis]).astype(np.int8)
        return np.stack([self._of_draw(taken, signs) for taken in mask[:, self.judged]])

    def _of_draw(self, is_taken: Bools, signs: npt.NDArray[np.int8]) -> Floats:
        """[a, b] of one draw; is_taken: (n,)."""
        n_metrics = self.n_metrics
        kept, taken = np.flatnonzero(~is_taken), np.flatnonzero(is_taken)
        balance, untied = (np.empty((n_metrics, n_metrics), dtype=np.int64) for _ in range(2))
        among_taken = np.empty(n_metrics, dtype=np.int64)
        for b in range(n_metrics):
            table = _Table.of(self.order[b], is_taken, signs)
            below = self.below[b][:, kept]
            balance[:, b] = table.balance(below, below, self.human[kept])
            untied[:, b] = kept.size * taken.size
            for a in range(n_metrics):
                if (b, a) in self.not_above:
                    not_above = self.not_above[b, a][kept]
                    balance[a, b] = table.balance(below[a], not_above, self.human[kept])
                    untied[a, b] -= int((table.n_before[not_above] - table.n_before[below[a]]).sum())
            own = self.below[b, b][taken], self.not_above[b, b][taken]
            among_taken[b] = table.balance(*own, self.human[taken]) // 2  # each pair twice
        among_kept = self.balance - among_taken - np.diagonal(balance)
        balance += among_kept[:, np.newaxis] + among_taken
        untied += _n_untied(self.ranks[:, kept])[:, np.newaxis] + _n_untied(self.ranks[:, taken])
        values = np.full(balance.shape, np.nan)
        divisor = np.sqrt(untied.astype(np.float64) * float(self.human_untied))
        np.divide(balance, divisor, out=values, where=divisor != 0)
        np.fill_diagonal(values, self.own)
        return values


@dataclass(frozen=True)
class _Table:
    """The taken cells in the order of one metric.

    n_before: (n + 1,) taken ones among the first cells. sums: (taken + 1, H), of the first taken cells how many humans
    put below a human score less how many above.
    """

    n_before: Ints
    sums: npt.NDArray[np.signedinteger]

    @classmethod
    def of(cls, order: Ints, is_taken: Bools, signs: npt.NDArray[np.int8]) -> _Table:
        """signs: (n, H) of every human score less each cell's."""
        n_before = np.zeros(order.size + 1, dtype=np.int64)
        np.cumsum(is_taken[order], out=n_before[1:])
        chosen = signs[order[is_taken[order]]]
        kind = np.int16 if len(chosen) <= np.iinfo(np.int16).max else np.int32
        sums = np.zeros((len(chosen) + 1, signs.shape[1]), dtype=kind)
        np.cumsum(chosen, axis=0, dtype=kind, out=sums[1:])
        return cls(n_before, sums)

    def balance(self, below: Ints, not_above: Ints, human: Ints) -> Ints:
        """Concordant less discordant pairs of some cells with the taken ones, (...); below, not_above: (..., m) places
        of the cells' scores in the order, human: (m,) their human ranks.
        """
        flat, width = self.sums.ravel(), self.sums.shape[1]
        lower = flat.take(self.n_before[below] * width + human).sum(axis=-1, dtype=np.int64)
        if not_above is below:
            upper = lower
        else:
            upper = flat.take(self.n_before[not_above] * width + human).sum(axis=-1, dtype=np.int64)
        return np.asarray(lower + upper - self.sums[-1, human].sum(dtype=np.int64))


def _n_untied(ranks: Ints) -> Ints:
    """Pairs of cells with different scores, for each metric; ranks: (M, m)."""
    m = ranks.shape[1]
    ties = [int((np.bincount(row) * (np.bincount(row) - 1) // 2).sum()) if m else 0 for row in ranks]
    untied: Ints = m * (m - 1) // 2 - np.array(ties, dtype=np.int64)
    return untied


def has_table(human: npt.ArrayLike) -> bool:
    """Whether human scores, NaN = not judged, are few enough in kind for `all_pairs_swap`."""
    values = np.asarray(human, dtype=np.float64)
    values = values[~np.isnan(values)]
    return values.size > 1 and values.size * np.unique(values).size <= LARGEST_TABLE


def all_pairs_swap(human: npt.ArrayLike, metrics: npt.ArrayLike, swap: Swap = "both") -> AllPairsSwap:
    """Kendall's τ_b over all judged cells, without a tie threshold, prepared for `permutation_test`.

    human: (N, S), NaN = not judged; metrics: (M, N, S), standardised before the swaps.
    Raises ValueError: arrays.
    """
    human = checks.human_scores(human)
    judged = ~np.isnan(human)
    metrics = checks.metric_scores(metrics, judged)
    scores = standardise(human, metrics)
    counts = pair_counts(human, scores, np.where(judged, 0, -1))
    cells = scores[:, judged] + 0.0  # -0.0 becomes 0.0
    order = np.argsort(cells, axis=1, kind="stable")
    kind = np.uint16 if cells.shape[1] <= np.iinfo(np.uint16).max else np.int64
    below = np.empty((len(cells), *cells.shape), dtype=kind)
    not_above = {}
    for b, places in enumerate(order):
        ordered = cells[b, places]
        below[b] = np.searchsorted(ordered, cells)
        upper = np.searchsorted(ordered, cells, side="right")
        for a in np.flatnonzero((upper != below[b]).any(axis=1)):
            not_above[b, int(a)] = upper[a]
    return AllPairsSwap(
        swap,
        judged,
        np.unique(human[judged], return_inverse=True)[1].astype(np.int64),
        order,
        np.stack([np.unique(row, return_inverse=True)[1] for row in cells]).astype(np.int64),
        below,
        not_above,
        (counts.n_concordant - counts.n_discordant)[:, 0],
        tau_b(counts)[:, 0],
        int((counts.n_concordant + counts.n_discordant + counts.n_tied_metric)[0, 0]),
        n_metrics=len(scores),
        mask_shape=mask_shape(swap, human.shape),
    )
