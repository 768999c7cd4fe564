"""Uncertainty of ranks: ranges over resamples, or ranges that a test leaves open; and the stability of a ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.draws import blocks, resample_counts
from metaeval.kernels.resampling.system_tests import normal_p_values

TOLERANCE = 1e-12
TAIL = (1 - 0.95) / 2


def ranks_of_draws(draws: npt.ArrayLike) -> Ints:
    """(M, n_draws) competition ranks in each draw, higher is better, from 1; equal values share the best rank.

    A NaN ranks after all others.
    >>> ranks_of_draws([[0.9, 0.1], [0.5, 0.1], [0.5, 0.3]]).tolist()
    [[1, 2], [2, 2], [2, 1]]
    """
    values = np.asarray(draws, dtype=np.float64)
    there = np.where(np.isnan(values), -np.inf, values)
    return np.stack([1 + np.count_nonzero(there > one + TOLERANCE, axis=0) for one in there]).astype(np.int64)


def rank_ranges(draws: npt.ArrayLike) -> tuple[Ints, Ints]:
    """(M,) best and worst rank of each over resamples; at most 2.5% of the resamples lie beyond either rank.

    draws: (M, n_draws) values in resamples, the same resamples for all.
    >>> low, high = rank_ranges([[3.0, 3.0, 1.0], [2.0, 2.0, 2.0], [1.0, 1.0, 0.0]])
    >>> low.tolist(), high.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    ranked = ranks_of_draws(draws)
    low = np.quantile(ranked, TAIL, axis=1, method="lower")
    high = np.quantile(ranked, 1.0 - TAIL, axis=1, method="higher")
    return low.astype(np.int64), high.astype(np.int64)


def ranges_by_test(values: npt.ArrayLike, p: npt.ArrayLike, alpha: float = 0.05) -> tuple[Ints, Ints]:
    """(N,) ranks that a test leaves open: best, 1 + number significantly better; worst, N − number significantly worse.

    values: (N,), higher is better; p: (N, N), [i, j] = one-sided p-value of "i is better than j", read only where i has
    the higher value; p ≤ alpha is significant. Members without a value (NaN) get rank 0 and do not count.
    >>> ranges_by_test([3.0, 2.0, 1.0], [[1, 0.2, 0.01], [1, 1, 0.04], [1, 1, 1]])[1].tolist()
    [2, 2, 3]
    """
    scores, p_values = np.asarray(values, dtype=np.float64), np.asarray(p, dtype=np.float64)
    there = ~np.isnan(scores)
    ahead = (scores[:, np.newaxis] > scores) & (p_values <= alpha)  # [i, j]: i is significantly better than j
    low = np.where(there, 1 + ahead.sum(axis=0), 0)
    high = np.where(there, there.sum() - ahead.sum(axis=1), 0)
    return low.astype(np.int64), high.astype(np.int64)


def resampled_means(
    scores: npt.ArrayLike,
    judged: npt.ArrayLike,
    rng: np.random.Generator,
    n_draws: int = 1000,
    documents: Ints | None = None,
) -> Floats:
    """(N, n_draws) system means over segments resampled with replacement, the same segments for all systems.

    scores: (N, S), read where judged. documents: (S,) each segment's document, from 0; if passed, whole documents are
    resampled. NaN where a resample has no segment that a system was judged on.
    """
    mask = np.asarray(judged, dtype=bool)
    filled = np.where(mask, np.asarray(scores, dtype=np.float64), 0.0)
    n_segments = filled.shape[1]
    units = np.arange(n_segments) if documents is None else documents
    n_units = int(units.max(initial=-1)) + 1
    found = []
    for stream, size in blocks(rng, n_draws):
        counts = resample_counts(stream, size, n_units)[:, units]  # (size, S)
        n = counts @ mask.T.astype(np.float64)
        total = counts @ filled.T
        found.append(np.where(n > 0, total / np.where(n > 0, n, 1.0), np.nan).T)
    return np.concatenate(found, axis=1)


def is_stable(first: npt.ArrayLike, second: npt.ArrayLike, alpha: float = 0.05) -> tuple[bool, int]:
    """Whether the second round keeps the order of all pairs that differ significantly in the first; and their number.

    first, second: (N, S) scores of the same systems, on the same number of segments, without missing scores. A pair
    differs significantly if the permutation test of its differences, in its normal limit, has a one-sided p ≤ alpha.
    Equal means in the second round do not keep the order.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    every: Bools = np.ones(one.shape, dtype=np.bool_)
    p = normal_p_values(one[np.newaxis], every)[0]
    mean, again = one.mean(axis=1), other.mean(axis=1)
    apart = (mean[:, np.newaxis] > mean) & (p <= alpha)
    kept = again[:, np.newaxis] > again + TOLERANCE * np.abs(again).max(initial=1.0)
    return bool((kept | ~apart).all()), int(apart.sum())


def stable_ranking_probability(
    ratings: Sequence[npt.ArrayLike], rng: np.random.Generator, n_draws: int = 1000, alpha: float = 0.05
) -> tuple[float, float]:
    """Share of pairs of rounds in which the second keeps the order of all pairs that differ significantly in the first.

    ratings: R ≥ 2 arrays (N, S), each with one rating of every output. In a pair of rounds, each segment, with the
    outputs of all systems, gets one random rating in the first round and a different random rating in the second.
    Returns the probability, and the mean number of pairs that differ significantly in the first round.
    Source: after the abstract of Riley et al. 2024 (arXiv 2404.01474); the definition is ours.
    """
    every = np.stack([np.asarray(one, dtype=np.float64) for one in ratings])  # (R, N, S)
    n_ratings, _, n_segments = every.shape
    segments = np.arange(n_segments)
    n_stable, n_apart = 0, 0
    for _ in range(n_draws):
        first = rng.integers(0, n_ratings, size=n_segments)
        second = (first + rng.integers(1, n_ratings, size=n_segments)) % n_ratings
        stable, apart = is_stable(every[first, :, segments].T, every[second, :, segments].T, alpha)
        n_stable, n_apart = n_stable + stable, n_apart + apart
    return n_stable / n_draws, n_apart / n_draws
