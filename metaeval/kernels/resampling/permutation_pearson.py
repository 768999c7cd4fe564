"""Segment-level Pearson and Pairwise Difference Pearson of hybrids, for permutation tests.

Both are ratios of sums that are linear in the swapped scores, so one product of the swap masks with each unit's sums
serves all pairs of metrics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.arrays.grouping import judged_groups
from metaeval.kernels.resampling.permutation import score_units, standardise
from metaeval.kernels.resampling.prepared import Swap, SwapStatistic, mask_shape

#: A variance that is a smaller share of the mean square than this is rounding noise: the hybrid is constant.
NOISE = 1e-12


@dataclass(frozen=True)
class PearsonSwap(SwapStatistic):
    """Pearson's r of every hybrid within groups of scores, averaged over the groups where it is defined.

    A row is a unit's share of one group. sums: (n_rows, 3M): Σ z·h, Σ z and Σ z² of each metric, h centred
    in its group. units: (n_rows,) the row's unit; starts: (n_groups + 1,) where each group's rows begin;
    n_scores, human_squares: (n_groups,) scores and Σ h² of each group; groups of constant h are not among them.
    """

    sums: Floats
    units: Ints
    starts: Ints
    n_scores: Ints
    human_squares: Floats

    def hybrids(self, swaps: Bools) -> Floats:
        """See `SwapStatistic`; NaN where no group has a correlation."""
        n_metrics = self.n_metrics
        coins = swaps.reshape(len(swaps), -1)
        total = np.zeros((len(swaps), n_metrics, n_metrics))
        n_groups = np.zeros(total.shape, dtype=np.int64)
        for group, n in enumerate(self.n_scores):
            rows = slice(self.starts[group], self.starts[group + 1])
            part = coins[:, self.units[rows]].astype(np.float64) @ self.sums[rows]  # (k, r) @ (r, 3M)
            whole = self.sums[rows].sum(axis=0)
            shape = (len(swaps), 3, n_metrics)
            kept, taken = (whole - part).reshape(shape), part.reshape(shape)
            product, mean, square = (kept[:, q, :, None] + taken[:, q, None, :] for q in range(3))
            mean *= mean
            mean /= n
            variance = square - mean
            constant = variance <= NOISE * square
            variance[constant] = 1.0
            product /= np.sqrt(variance * self.human_squares[group])
            product[constant] = 0.0
            total += product
            n_groups += ~constant
        return ratio(total, n_groups)


@dataclass(frozen=True)
class PairwiseDifferenceSwap(SwapStatistic):
    """Pairwise Difference Pearson of every hybrid, if whole segments are swapped.

    sums: (S, 2M): n Σ hc·zc and n Σ zc² of each metric, centred in the segment of n judged scores.
    human_squares: Σ n Σ hc². noise: if Σ n Σ zc² is at most this, it is rounding and the hybrid is constant.
    """

    sums: Floats
    human_squares: float
    noise: float

    def hybrids(self, swaps: Bools) -> Floats:
        """See `SwapStatistic`; 0 where one side is constant, never NaN."""
        part = swaps.astype(np.float64) @ self.sums  # (k, S) @ (S, 2M)
        shape = (len(swaps), 2, self.n_metrics)
        kept, taken = (self.sums.sum(axis=0) - part).reshape(shape), part.reshape(shape)
        product, square = (kept[:, q, :, None] + taken[:, q, None, :] for q in range(2))
        return _pairwise_difference(product, square, self.human_squares, self.noise)


@dataclass(frozen=True)
class PairwiseDifferenceScoreSwap(SwapStatistic):
    """Pairwise Difference Pearson of every hybrid, if systems or single scores are swapped.

    scores: (M, N, S) standardised, 0 where not judged; weighted_human: (N, S) n·hc; judged: (N, S).
    human_squares, noise: as in `PairwiseDifferenceSwap`.
    """

    scores: Floats
    weighted_human: Floats
    judged: Bools
    human_squares: float
    noise: float

    def hybrids(self, swaps: Bools) -> Floats:
        """See `SwapStatistic`; 0 where one side is constant, never NaN."""
        return np.stack([self._of_draw(swap) for swap in swaps])

    def _of_draw(self, swap: Bools) -> Floats:
        mask = swap if swap.ndim == 2 else swap[:, np.newaxis]
        taken = np.where(mask, self.scores, 0.0)
        kept = self.scores - taken
        n_judged = self.judged.sum(axis=0)
        product = _outer_sum(kept, taken, lambda part: np.tensordot(part, self.weighted_human, axes=2))
        square = _outer_sum(kept, taken, lambda part: (part**2).sum(axis=1) @ n_judged)
        kept_sums, taken_sums = kept.sum(axis=1), taken.sum(axis=1)  # (M, S): per segment over systems
        square -= _outer_sum(kept_sums, taken_sums, lambda part: (part**2).sum(axis=1))
        square -= 2.0 * kept_sums @ taken_sums.T
        return _pairwise_difference(product, square, self.human_squares, self.noise)


def pearson_swap(
    human: npt.ArrayLike, metrics: npt.ArrayLike, labels: npt.ArrayLike, swap: Swap = "inputs"
) -> PearsonSwap:
    """Segment-level Pearson with any grouping, prepared for `permutation_test`.

    human: (N, S), NaN = not judged; metrics: (M, N, S); labels: (N, S), see `grouping.group_labels`.
    Scores are standardised over the scores used. A group in which the human scores or the hybrid are constant is
    excluded from the mean. Raises ValueError: as `grouping.group_scores`.
    """
    human = checks.human_scores(human)
    labels = checks.group_labels(labels, human.shape)
    human = np.where(labels >= 0, human, np.nan)
    metrics = checks.metric_scores(metrics, ~np.isnan(human))
    groups = judged_groups(human, labels)
    varied = [
        np.ptp(human.ravel()[groups.members[start:end]]) > 0
        for start, end in zip(groups.starts[:-1], groups.starts[1:], strict=True)
    ]
    groups = groups.select(np.array(varied, dtype=np.bool_))
    group_of_score = np.repeat(np.arange(groups.sizes.size), groups.sizes)
    values = human.ravel()[groups.members]
    means = np.bincount(group_of_score, values, groups.sizes.size) / groups.sizes
    centred = values - means[group_of_score]
    scores = standardise(human, metrics).reshape(len(metrics), -1)[:, groups.members]
    units = score_units(swap, human.shape).ravel()[groups.members]
    n_units = int(units.max(initial=0)) + 1
    # one number a row: `unique` along an axis compares rows as bytes, which takes ten times as long
    rows, row_of_score = np.unique(group_of_score * n_units + units, return_inverse=True)
    row_groups, row_units = np.divmod(rows, n_units)
    score_sums = np.concatenate([scores * centred, scores, scores**2])  # (3M, scores)
    return PearsonSwap(
        n_metrics=len(metrics),
        mask_shape=mask_shape(swap, human.shape),
        sums=_sums_by_row(score_sums, row_of_score, rows.size),
        units=row_units,
        starts=np.searchsorted(row_groups, np.arange(groups.sizes.size + 1)).astype(np.int64),
        n_scores=groups.sizes,
        human_squares=np.bincount(group_of_score, centred**2, groups.sizes.size).astype(np.float64),
    )


def pairwise_difference_swap(
    human: npt.ArrayLike, metrics: npt.ArrayLike, swap: Swap = "inputs"
) -> PairwiseDifferenceSwap | PairwiseDifferenceScoreSwap:
    """Pairwise Difference Pearson prepared for `permutation_test`.

    human: (N, S), NaN = not judged; only pairs with both scores judged count. metrics: (M, N, S).
    Source: the closed form in per-segment centred sums.
    """
    human = checks.human_scores(human)
    judged = ~np.isnan(human)
    metrics = checks.metric_scores(metrics, judged)
    scores = standardise(human, metrics)
    n_judged = judged.sum(axis=0)  # (S,)
    centred_human = centred_in_segments(np.where(judged, human, 0.0), judged)
    human_squares = float((centred_human**2).sum(axis=0) @ n_judged)
    weighted_human = centred_human * n_judged
    noise = NOISE * float(n_judged @ n_judged)  # scores have unit variance over the scores used
    shape = mask_shape(swap, human.shape)
    if swap != "inputs":
        return PairwiseDifferenceScoreSwap(
            scores, weighted_human, judged, human_squares, noise, n_metrics=len(metrics), mask_shape=shape
        )
    centred = centred_in_segments(scores, judged)
    products = (centred * weighted_human).sum(axis=1)  # (M, S)
    squares = (centred**2).sum(axis=1) * n_judged
    sums = np.ascontiguousarray(np.concatenate([products, squares]).T)
    return PairwiseDifferenceSwap(sums, human_squares, noise, n_metrics=len(metrics), mask_shape=shape)


def _sums_by_row(score_sums: Floats, row_of_score: Ints, n_rows: int) -> Floats:
    # scores added up by row: (3M, scores) -> (rows, 3M)
    order = np.argsort(row_of_score, kind="stable")
    first = np.searchsorted(row_of_score[order], np.arange(n_rows))
    if n_rows == 0:
        return np.zeros((0, len(score_sums)))
    return np.ascontiguousarray(np.add.reduceat(score_sums[:, order], first, axis=1).T)


def centred_in_segments(scores: Floats, judged: Bools) -> Floats:
    """Scores minus the mean of their segment's judged scores; 0 where not judged. Shape (..., N, S)."""
    n_judged = np.maximum(judged.sum(axis=0), 1)
    means = np.where(judged, scores, 0.0).sum(axis=-2, keepdims=True) / n_judged
    centred: Floats = np.where(judged, scores - means, 0.0)
    return centred


def _outer_sum(kept: Floats, taken: Floats, of_metric: Callable[[Floats], Floats]) -> Floats:
    # a sum over a hybrid is the sum over what it kept plus the sum over what it took
    outer: Floats = np.add.outer(of_metric(kept), of_metric(taken))
    return outer


def _pairwise_difference(product: Floats, square: Floats, human_squares: float, noise: float) -> Floats:
    value = np.zeros_like(product)
    defined = (square > noise) & (human_squares > 0.0)
    np.divide(product, np.sqrt(np.where(defined, square, 1.0) * human_squares), out=value, where=defined)
    return value
