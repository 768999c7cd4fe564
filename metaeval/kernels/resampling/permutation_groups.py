"""Statistics of hybrids whose groups are swapped whole, F of error spans, and a slow way for any other statistic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import OUTCOMES, PairCounts, pair_counts
from metaeval.kernels.agreement.tau import TAUS
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.arrays.grouping import Grouping, group_labels
from metaeval.kernels.resampling.permutation import standardise
from metaeval.kernels.resampling.prepared import Swap, SwapStatistic, mask_shape
from metaeval.kernels.spans.precision_recall import Average, rates

Statistic = Callable[[Floats, Floats], Floats]
#: Whole numbers below this are exact in float64.
LARGEST_WHOLE = 1 << 53


@dataclass(frozen=True)
class GroupSwap(SwapStatistic):
    """Mean over groups of a statistic, if each group is swapped as a whole: a hybrid picks group values.

    values: (M, n_groups), NaN = not defined there; these groups are excluded from the hybrid's mean.
    units: (n_groups,) each group's unit.
    """

    values: Floats
    units: Ints

    def hybrids(self, swaps: Bools) -> Floats:
        """See `SwapStatistic`; NaN where no group has a value."""
        defined = ~np.isnan(self.values)
        columns = np.concatenate([np.where(defined, self.values, 0.0), defined])  # (2M, groups)
        total, n_groups = sums_of_hybrids(swaps[:, self.units], columns, 2)
        return ratio(total, n_groups, n_groups > 0.5)


@dataclass(frozen=True)
class RightPairsSwap(SwapStatistic):
    """acc23 or tau_23 averaged over groups that are swapped whole; `hybrids` are weighted counts, in whole numbers.

    right: (M, n_groups) right pairs of each group times the group's weight, so that a pair weighs 1 / its group's
    number of pairs.
    """

    right: Ints
    units: Ints

    def hybrids(self, swaps: Bools) -> Floats:
        """See `SwapStatistic`: one matrix product for all draws, exact below 2^53."""
        (total,) = sums_of_hybrids(swaps[:, self.units], self.right.astype(np.float64), 1)
        return total


@dataclass(frozen=True)
class PooledCountsSwap(SwapStatistic):
    """A tau from pair counts added up over groups, if each group is swapped as a whole.

    counts: (5, M, n_groups) in the order of `OUTCOMES`. statistic: a function of `tau`.
    """

    counts: Ints
    statistic: Callable[[PairCounts], Floats]
    template: PairCounts
    units: Ints

    def hybrids(self, swaps: Bools) -> Floats:
        columns = self.counts.reshape(-1, self.counts.shape[2]).astype(np.float64)
        sums = sums_of_hybrids(swaps[:, self.units], columns, len(OUTCOMES))
        rounded: dict[str, Any] = {
            name: np.rint(n).astype(np.int64).reshape(-1, 1) for name, n in zip(OUTCOMES, sums, strict=True)
        }
        counts = replace(self.template, **rounded)
        return self.statistic(counts).reshape(sums[0].shape)


@dataclass(frozen=True)
class AnySwap(SwapStatistic):
    """Any statistic of whole arrays, computed again for each hybrid: slow, with M calls per draw.

    statistic: (human (N, S), metrics (M, N, S)) -> (M,) values; scores: standardised metrics, with 0 for scores that
    are not judged.
    """

    statistic: Statistic
    human: Floats
    scores: Floats
    swap: Swap

    def hybrids(self, swaps: Bools) -> Floats:
        return np.stack([self._of_draw(swap) for swap in swaps])

    def _of_draw(self, swap: Bools) -> Floats:
        mask = swap[:, np.newaxis] if self.swap == "systems" else swap
        return np.stack([self.statistic(self.human, np.where(mask, self.scores, scores)) for scores in self.scores])


def any_swap(human: npt.ArrayLike, metrics: npt.ArrayLike, statistic: Statistic, swap: Swap = "inputs") -> AnySwap:
    """Any segment-level or system-level statistic prepared for `permutation_test`; slow.

    human: (N, S), NaN = not judged; metrics: (M, N, S), standardised before the swaps. statistic: takes both, with any
    number of metrics, and returns one value per metric, higher is better.
    """
    human = checks.human_scores(human)
    metrics = checks.metric_scores(metrics, ~np.isnan(human))
    scores = standardise(human, metrics)
    return AnySwap(statistic, human, scores, swap, n_metrics=len(scores), mask_shape=mask_shape(swap, human.shape))


def group_swap(values: npt.ArrayLike, units: npt.ArrayLike, shape: tuple[int, ...]) -> GroupSwap:
    """Group values of any statistic prepared for `permutation_test`.

    values: (M, n_groups), NaN = not defined; units: (n_groups,) index of each group's unit in a mask of this shape. Two
    groups may share a unit.
    """
    table, numbers = np.asarray(values, dtype=np.float64), np.asarray(units, dtype=np.int64)
    return GroupSwap(table, numbers, n_metrics=len(table), mask_shape=shape)


def pooled_counts_swap(
    counts: PairCounts, statistic: Callable[[PairCounts], Floats], shape: tuple[int, ...]
) -> PooledCountsSwap:
    """A tau of the pairs of all groups together; group labels are indices of units in a mask of this shape."""
    stacked = np.stack([getattr(counts, name) for name in OUTCOMES])
    return PooledCountsSwap(
        stacked, statistic, counts.pooled(), counts.labels, n_metrics=stacked.shape[1], mask_shape=shape
    )


def right_pairs_swap(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    statistic: Literal["acc23", "tau_23"],
    swap: Literal["inputs", "systems"] = "inputs",
    *,
    epsilon: npt.ArrayLike = 0.0,
) -> RightPairsSwap | GroupSwap:
    """acc23 or tau_23 by item with segments swapped, or by system with systems swapped; ties are exact.

    epsilon: each metric's own tie threshold, in its own units; it stays with its scores when they are swapped.
    Differences of two metrics are compared exactly, in whole numbers over the common denominator of all groups; if that
    denominator is too large for float64, they are compared within a tolerance.
    Raises ValueError: arrays, no group.
    """
    human = checks.human_scores(human)
    by: dict[str, Grouping] = {"inputs": "item", "systems": "system"}
    counts = pair_counts(human, metrics, group_labels(by[swap], human.shape), epsilon)
    shape = mask_shape(swap, human.shape)
    n_groups = counts.labels.size
    if not n_groups:
        raise ValueError("no group has two judged scores")
    n_pairs = counts.n_pairs[0]
    common = math.lcm(*np.unique(n_pairs).tolist())
    if common * n_groups >= LARGEST_WHOLE:
        return group_swap(TAUS[statistic](counts), counts.labels, shape)
    right = (counts.n_concordant + counts.n_tied_both) * (common // n_pairs)
    share = 1.0 / (common * n_groups)
    scale, offset = (share, 0.0) if statistic == "acc23" else (2.0 * share, -1.0)
    return RightPairsSwap(
        right, counts.labels, n_metrics=len(right), mask_shape=shape, scale=scale, offset=offset, tolerance=0.0
    )


def sums_of_hybrids(coins: Bools, columns: Floats, n_sums: int) -> list[Floats]:
    """n_sums sums over the groups of a hybrid: coins (k, groups), columns (n_sums·M, groups) -> (k, M, M)s."""
    part = coins.astype(np.float64) @ columns.T
    shape = (len(coins), n_sums, len(columns) // n_sums)
    kept, taken = (columns.sum(axis=1) - part).reshape(shape), part.reshape(shape)
    return [kept[:, q, :, np.newaxis] + taken[:, q, np.newaxis, :] for q in range(n_sums)]


@dataclass(frozen=True)
class RatioSwap(SwapStatistic):
    """F of metrics whose units (segments, systems or outputs) are swapped. sums: (4, M, n_units)."""

    sums: Floats
    average: Average

    def hybrids(self, swaps: Bools) -> Floats:
        columns = self.sums.reshape(-1, self.sums.shape[2])
        totals = np.stack(sums_of_hybrids(swaps.reshape(len(swaps), -1), columns, 4), axis=-1)
        return rates(totals, self.average)[2]


def ratio_swap(sums: Floats, average: Average, swap: Swap) -> RatioSwap:
    """F prepared for swapping. sums: (M, N, S, 4)."""
    of_units = {"inputs": sums.sum(axis=1), "systems": sums.sum(axis=2), "both": sums.reshape(len(sums), -1, 4)}[swap]
    columns = np.ascontiguousarray(np.moveaxis(of_units, 2, 0))
    return RatioSwap(columns, average, n_metrics=len(sums), mask_shape=mask_shape(swap, sums.shape[1:3]))
