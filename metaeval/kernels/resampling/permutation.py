"""Permutation tests of metric A against metric B: one engine for every pair of metrics at once.

A draw swaps some units (segments, systems or single scores) between the two metrics, and both statistics are computed
again. The swap masks are shared by all pairs of metrics, so a statistic only needs the value of every *hybrid*: metric
a with the swapped units taken from metric b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.arrays.cores import n_cores
from metaeval.kernels.resampling.draws import (
    BLOCKS_BETWEEN_LOOKS,
    Advance,
    Alternative,
    blocks,
    outcomes_in_order,
    single_blas_thread,
)
from metaeval.kernels.resampling.prepared import TOLERANCE, Swap, SwapStatistic, mask_shape


def score_units(swap: Swap, shape: tuple[int, int]) -> Ints:
    """(n_systems, n_segments) index of each score's unit in a flattened mask."""
    mask_shape(swap, shape)
    n_systems, n_segments = shape
    if swap == "both":
        return np.arange(n_systems * n_segments, dtype=np.int64).reshape(shape)
    if swap == "systems":
        return np.repeat(np.arange(n_systems, dtype=np.int64)[:, np.newaxis], n_segments, axis=1)
    return np.repeat(np.arange(n_segments, dtype=np.int64)[np.newaxis], n_systems, axis=0)


@dataclass(frozen=True)
class PermutationTest:
    """Outcome of a permutation test for all pairs of M metrics.

    p: (M, M), [a, b] is the p-value of "a is better than b" (of "a and b differ" when two-sided, then
        symmetric); drawn, `>=` with a tolerance; NaN on the diagonal and where a value is undefined.
    values: (M,) the statistic of each metric. n_extreme, n_draws: (M, M) draws at least as extreme, and draws made
        (fewer than requested only with early stopping). n_tied: (M, M) extreme draws that count half; 0 without
        `mid_p`. Draws in which one of the two hybrids has no value count as extreme, so they never make a p-value
        smaller.
    null: (n_pairs, n_draws) differences a − b for a < b in row order (np.triu_indices(M, 1)), if kept.
    """

    p: Floats
    values: Floats
    n_extreme: Ints
    n_tied: Ints
    n_draws: Ints
    null: Floats | None


@dataclass(frozen=True)
class _Block:
    """A block of draws; wanted: (M, M) pairs of metrics, None = all."""

    statistic: SwapStatistic
    observed: Floats
    wanted: Bools | None
    stream: np.random.Generator
    size: int
    two_sided: bool
    mid_p: bool
    keep_null: bool


@dataclass(frozen=True)
class _BlockOutcome:
    n_draws: int
    n_extreme: Ints
    n_tied: Ints | int
    differences: Floats | None


def standardise(human: Floats, metrics: Floats) -> Floats:
    """z-scores of each metric over the judged scores: mean 0, standard deviation 1.

    human: (N, S) or (N,), NaN = not judged. metrics: (M, *human.shape). Scores that are not judged become 0 and so add
    nothing to a sum; a constant metric becomes 0 everywhere.
    Raises ValueError: shapes differ, no judged score, or a metric without a finite score where humans judged.
    >>> standardise(np.array([[1.0, np.nan, 2.0]]), np.array([[[3.0, 9.0, 5.0]], [[4.0, 9.0, 4.0]]]))
    array([[[-1.,  0.,  1.]],
    <BLANKLINE>
           [[ 0.,  0.,  0.]]])
    """
    if metrics.ndim != human.ndim + 1 or metrics.shape[1:] != human.shape:
        raise ValueError(f"human scores have shape {human.shape}, metrics {metrics.shape}: expected (M, *human)")
    judged = np.isfinite(human)
    if not judged.any():
        raise ValueError("no (system, segment) pair has a human score")
    there = np.asarray(metrics[:, judged], dtype=np.float64)
    if not np.isfinite(there).all():
        metric, place = np.argwhere(~np.isfinite(there))[0]
        where = tuple(int(axis[place]) for axis in np.nonzero(judged))
        raise ValueError(f"metric {metric} has no finite score at (system, segment) {where}, which humans judged")
    constant = there.min(axis=1) == there.max(axis=1)
    centred = there - there.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.mean(centred**2, axis=1, keepdims=True))
    centred[constant] = 0.0
    spread[constant] = 1.0
    standardised = np.zeros(metrics.shape)
    standardised[:, judged] = centred / spread
    return standardised


def draw_swaps(rng: np.random.Generator, n_draws: int, shape: tuple[int, ...]) -> Bools:
    """(n_draws, *shape) fair coin flips from one random stream; True = swap this unit."""
    n_units = math.prod(shape)
    n_bytes = -(-n_units // 8)
    coins = np.frombuffer(rng.bytes(n_draws * n_bytes), dtype=np.uint8).reshape(n_draws, n_bytes)
    return np.unpackbits(coins, axis=1, count=n_units).view(np.bool_).reshape(n_draws, *shape)


def permutation_test(
    statistic: SwapStatistic,
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
    alternative: Alternative = "greater",
    plus_one: bool = False,
    mid_p: bool = False,
    early_stop: tuple[float, float] | None = None,
    keep_null: bool = False,
    n_threads: int | None = None,
    progress: Advance | None = None,
) -> PermutationTest:
    """Is metric a better than metric b? A test of all pairs at once, by swapping units between the two.

    One-sided ("greater"): p[a, b] = share of draws with Δ ≥ Δ observed, Δ = statistic of a − statistic of b;
    "two-sided": |Δ| ≥ |Δ observed|. Drawn, `>=` with the statistic's tolerance, no + 1 unless `plus_one`
    ((n + 1) / (draws + 1)). p[b, a] comes from the same draws with −Δ.
    mid_p: draws that tie with Δ observed count half (Lancaster 1961), for statistics that take few values. Two-sided p
        is twice the smaller one-sided p if the draws are symmetric, so all draws count fully if Δ observed is 0.
    early_stop: (low, high); after each 100 draws, a pair whose p so far is below low or above high stops. Off by
        default.
    keep_null: keep every Δ. n_threads: by default as many as there are cores; the result is the same for any number.
    progress: called with (draws done, draws in all).
    Raises ValueError: fewer than 2 metrics, n_draws < 1, an unknown alternative, early_stop with keep_null.
    Source: Deutsch et al. 2021 (PERM-INPUTS, PERM-SYSTEMS, PERM-BOTH).
    """
    checks.several(statistic.n_metrics)
    checks.known(alternative, get_args(Alternative), "alternative")
    if early_stop is not None and keep_null:
        raise ValueError("the null distribution cannot be kept with an early stop: pairs would differ in length")
    two_sided = alternative == "two-sided"
    drawn = blocks(rng, n_draws)
    # with an early stop blocks are begun only until the next look
    at_once = len(drawn) if early_stop is None else max(BLOCKS_BETWEEN_LOOKS, n_threads or n_cores())
    with single_blas_thread():
        # (M,) in units of `hybrids`, by the arithmetic of the draws themselves
        nothing = np.zeros((1, *statistic.mask_shape), dtype=np.bool_)
        observed = np.ascontiguousarray(np.diagonal(statistic.hybrids(nothing)[0]))
        tally = _Tally(observed.size, early_stop)
        for start in range(0, len(drawn), at_once):
            wanted = tally.wanted
            tasks = [
                _Block(statistic, observed, wanted, stream, size, two_sided, mid_p, keep_null)
                for stream, size in drawn[start : start + at_once]
            ]
            of_all = early_stop is None
            with outcomes_in_order(_block_outcome, tasks, n_threads, is_shared=of_all) as outcomes:
                for outcome in outcomes:
                    tally.add(outcome)
                    if progress is not None:
                        progress(tally.n_done, n_draws)
                    if tally.is_settled:
                        return tally.result(statistic, observed, plus_one)
    return tally.result(statistic, observed, plus_one)


def difference_p_values(
    null: Floats, observed: Floats, *, alternative: Alternative = "greater", plus_one: bool = False
) -> Floats:
    """(M, M) p-values from kept differences, such as draws averaged over several tasks.

    null: (n_pairs, n_draws), pairs a < b in row order, [·, k] = a − b. observed: (M,) the value of each
    metric. One- or two-sided, `>=` with a tolerance of 1e-9, as in `permutation_test`; NaN draws count as extreme.
    """
    rows, columns = np.triu_indices(observed.size, 1)
    delta = (observed[rows] - observed[columns])[:, None]
    if alternative == "two-sided":
        forward = backward = np.sum(~(np.abs(null) < np.abs(delta) - TOLERANCE), axis=1)
    else:
        forward = np.sum(~(null < delta - TOLERANCE), axis=1)
        backward = np.sum(~(null > delta + TOLERANCE), axis=1)
    p = np.full((observed.size, observed.size), np.nan)
    extra = int(plus_one)
    p[rows, columns] = (forward + extra) / (null.shape[1] + extra)
    p[columns, rows] = (backward + extra) / (null.shape[1] + extra)
    p[np.isnan(observed)[:, None] | np.isnan(observed)] = np.nan
    return p


def _block_outcome(task: _Block) -> _BlockOutcome:
    statistic = task.statistic
    swaps = draw_swaps(task.stream, task.size, statistic.mask_shape)
    hybrids = statistic.hybrids(swaps) if task.wanted is None else statistic.wanted_hybrids(swaps, task.wanted)
    delta = hybrids - hybrids.transpose(0, 2, 1)  # (k, M, M): a with b's units − b with a's units
    observed = task.observed[:, None] - task.observed[None, :]
    reached, reach = (np.abs(delta), np.abs(observed)) if task.two_sided else (delta, observed)
    short = reached < reach - statistic.tolerance  # False where undefined: counts against the claim
    n_tied: Ints | int = 0
    if task.mid_p:
        tied = (reached <= reach + statistic.tolerance) & ~short
        n_tied = np.where(task.two_sided & (reach <= statistic.tolerance), 0, tied.sum(axis=0))
    differences = None
    if task.keep_null:
        differences = np.ascontiguousarray(delta[:, *np.triu_indices(observed.shape[0], 1)].T) * statistic.scale
    return _BlockOutcome(task.size, task.size - short.sum(axis=0), n_tied, differences)


class _Tally:
    """Adds up blocks in their order; with early stopping, settled pairs get no further draws."""

    def __init__(self, n_metrics: int, early_stop: tuple[float, float] | None) -> None:
        shape = (n_metrics, n_metrics)
        self.n_done = 0
        self._early_stop = early_stop
        self._open = ~np.eye(n_metrics, dtype=np.bool_)
        self._n_blocks = 0
        self._n_extreme = np.zeros(shape, dtype=np.int64)
        self._n_tied = np.zeros(shape, dtype=np.int64)
        self._n_draws = np.zeros(shape, dtype=np.int64)
        self._differences: list[Floats] = []

    def add(self, outcome: _BlockOutcome) -> None:
        self.n_done += outcome.n_draws
        self._n_blocks += 1
        self._n_extreme += np.where(self._open, outcome.n_extreme, 0)
        self._n_tied += np.where(self._open, outcome.n_tied, 0)
        self._n_draws += np.where(self._open, outcome.n_draws, 0)
        if outcome.differences is not None:
            self._differences.append(outcome.differences)
        if self._early_stop is not None and self._n_blocks % BLOCKS_BETWEEN_LOOKS == 0:
            low, high = self._early_stop
            share = self._counted / np.maximum(self._n_draws, 1)
            self._open &= (share >= low) & (share <= high)

    @property
    def _counted(self) -> Floats:
        return np.asarray(self._n_extreme - self._n_tied / 2)

    @property
    def wanted(self) -> Bools | None:
        """(M, M) pairs of metrics that are still open in either direction; None if all are."""
        either = self._open | self._open.T
        return None if (either | np.eye(len(either), dtype=np.bool_)).all() else either

    @property
    def is_settled(self) -> bool:
        return not self._open.any()

    def result(self, statistic: SwapStatistic, observed: Floats, plus_one: bool) -> PermutationTest:
        extra = int(plus_one)
        with np.errstate(invalid="ignore"):
            p = (self._counted + extra) / (self._n_draws + extra)
        undefined = np.isnan(observed)
        p[undefined[:, None] | undefined | np.eye(observed.size, dtype=np.bool_)] = np.nan
        return PermutationTest(
            p=p,
            values=statistic.offset + observed * statistic.scale,
            n_extreme=self._n_extreme,
            n_tied=self._n_tied,
            n_draws=self._n_draws,
            null=np.concatenate(self._differences, axis=1) if self._differences else None,
        )
