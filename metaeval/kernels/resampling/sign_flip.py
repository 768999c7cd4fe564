"""Paired permutation test of every system against every other, for many scorers at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.blas_threads import single_blas_thread
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

Signs = npt.NDArray[np.int8]
TOLERANCE = 1e-9
BATCH_VALUES = 1 << 19  # numbers held in memory at a time
BATCH_DRAWS = 1 << 14  # draws whose signs are held as floats at a time
ROUNDING = 64 * np.finfo(np.float64).eps


def draw_signs(rng: np.random.Generator, n_draws: int, n_segments: int) -> Signs:
    """Random signs −1 and 1, each with probability 1/2, int8 (n_draws, n_segments).

    Raises ValueError: n_draws below 1.
    """
    n_draws = checks.count(n_draws, "n_draws")
    n_bytes = (n_segments + 7) // 8
    drawn = np.frombuffer(rng.bytes(n_draws * n_bytes), dtype=np.uint8).reshape(n_draws, n_bytes)
    signs = np.unpackbits(drawn, axis=1, count=n_segments).view(np.int8)
    signs *= 2
    signs -= 1
    return signs


def sign_flip_p_values(scores: npt.ArrayLike, judged: npt.ArrayLike, signs: npt.ArrayLike) -> Floats:
    """p-values of "system i is better than system j", (n_scorers, n_systems, n_systems), in [0, 1].

    scores: (n_scorers, n_systems, n_segments), higher is better; read where judged only. judged: bool
        (n_systems, n_segments), one mask for all scorers. signs: −1 and 1, (n_draws, n_segments), shared by
        all pairs and scorers, see `draw_signs`.
    With d_s the difference on each segment that both systems have: the share of draws with
    Σ σ_s d_s ≥ Σ d_s − 1e-9 Σ |d_s|. One-sided, `>=`, no +1, drawn. The diagonal is 1, as is a pair of
    identical systems or one without a common segment.
    Raises ValueError: shapes, fewer than 2 systems, a missing score where humans judged, other signs.
    Source: Thompson et al. 2024, section 2; the tolerance keeps ties from being decided by rounding.
    >>> signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> sign_flip_p_values([[[2.0, 2.0], [1.0, 0.0]]], [[True, True]] * 2, signs)[0].tolist()
    [[1.0, 0.25], [1.0, 1.0]]
    """
    scores, judged = _checked(scores, judged)
    drawn = np.asarray(signs)
    if drawn.ndim != 2 or drawn.shape[1] != judged.shape[1] or not drawn.shape[0]:
        raise ValueError(f"signs must be (n_draws, {judged.shape[1]}), got {drawn.shape}")
    reached = np.zeros((len(scores), judged.shape[0], judged.shape[0]), dtype=np.int64)
    for start in range(0, len(drawn), BATCH_DRAWS):
        flips = drawn[start : start + BATCH_DRAWS].astype(np.float64)
        if not (np.abs(flips) == 1).all():
            raise ValueError("signs must be -1 and 1")
        reached += _reached(scores, judged, flips)
    return reached / len(drawn)


def _reached(scores: Floats, judged: Bools, flips: Floats) -> Ints:
    """How many of some draws reach the observed difference of each pair, as `sign_flip_p_values` has them."""
    if _is_whole_segments(judged):
        used = judged[0]
        return _reached_by_products(scores[:, :, used], flips[:, used])
    result = np.full((len(scores), judged.shape[0], judged.shape[0]), len(flips))
    filled = np.where(judged, scores, 0.0)
    for i, j in zip(*np.triu_indices(judged.shape[0], 1), strict=True):
        gaps = np.where(judged[i] & judged[j], filled[:, i] - filled[:, j], 0.0)
        result[:, i, j], result[:, j, i] = _reached_by_gaps(gaps, flips)
    return result


def normal_p_values(scores: npt.ArrayLike, judged: npt.ArrayLike) -> Floats:
    """The limit of `sign_flip_p_values` for many draws and segments: 1 − Φ(Σ d_s / √Σ d_s²), deterministic.

    Arguments and result as there; where all differences are 0, p is 1.
    """
    from scipy.special import ndtr

    scores, judged = _checked(scores, judged)
    result = np.ones((len(scores), judged.shape[0], judged.shape[0]))
    for i, j in zip(*np.triu_indices(judged.shape[0], 1), strict=True):
        both = judged[i] & judged[j]
        gaps = scores[:, i, both] - scores[:, j, both]
        largest = np.abs(gaps).max(axis=1, initial=0.0)
        gaps /= np.where(largest > 0, largest, 1.0)[:, np.newaxis]
        total, variance = gaps.sum(axis=1), (gaps * gaps).sum(axis=1)
        z = total / np.sqrt(np.where(variance > 0, variance, 1.0))
        result[:, i, j] = np.where(variance > 0, ndtr(-z), 1.0)
        result[:, j, i] = np.where(variance > 0, ndtr(z), 1.0)
    return result


def _checked(scores: npt.ArrayLike, judged: npt.ArrayLike) -> tuple[Floats, Bools]:
    mask = np.asarray(judged, dtype=bool)
    if mask.ndim != 2 or mask.shape[0] < 2:
        raise ValueError(f"judged must be (n_systems, n_segments) with 2 systems or more, got {mask.shape}")
    return checks.metric_scores(scores, mask), mask


def _is_whole_segments(judged: Bools) -> bool:
    return bool((judged == judged[0]).all())


def _reached_by_products(scores: Floats, signs: Floats) -> Ints:
    """All pairs from one product of the signs with each system's scores: no missing scores."""
    n_scorers, n_systems, n_segments = scores.shape
    # what all systems share on a segment cancels in every difference: without it sums round less
    centred = scores - scores.mean(axis=1, keepdims=True)
    observed = centred.sum(axis=2)
    first, second = np.triu_indices(n_systems, 1)
    result = np.full((n_scorers, n_systems, n_systems), len(signs))
    step = max(1, BATCH_VALUES // (len(signs) * first.size))
    for start in range(0, n_scorers, step):
        batch = slice(start, start + step)
        part = centred[batch]
        with single_blas_thread():
            sums = part.reshape(len(part) * n_systems, n_segments) @ signs.T
        sums = sums.reshape(len(part), n_systems, len(signs))
        distance = np.stack([np.abs(a[first] - a[second]).sum(axis=1) for a in scores[batch]])  # (b, n_pairs)
        gap = observed[batch][:, first] - observed[batch][:, second]
        slack = TOLERANCE * distance
        drawn = sums[:, first] - sums[:, second]  # (b, n_pairs, n_draws)
        ahead = np.count_nonzero(drawn >= (gap - slack)[:, :, np.newaxis], axis=2)
        behind = np.count_nonzero(drawn <= (gap + slack)[:, :, np.newaxis], axis=2)
        result[batch, first, second] = np.where(distance > 0, ahead, len(signs))
        result[batch, second, first] = np.where(distance > 0, behind, len(signs))
        # pairs so alike that the sums' rounding exceeds the tolerance: from their differences
        rounding = ROUNDING * np.abs(part).sum(axis=2).max(axis=1)
        for scorer, pair in np.argwhere((distance > 0) & (slack < rounding[:, np.newaxis])):
            i, j = first[pair], second[pair]
            gaps = scores[start + scorer, i] - scores[start + scorer, j]
            one, other = _reached_by_gaps(gaps[np.newaxis], signs)
            result[start + scorer, i, j], result[start + scorer, j, i] = one[0], other[0]
    return result


def _reached_by_gaps(gaps: Floats, signs: Floats) -> tuple[Ints, Ints]:
    """Draws that reach the difference of one pair, from its scores' (n_scorers, n_segments): first, second better."""
    distance = np.abs(gaps).sum(axis=1, keepdims=True)
    scaled = gaps / np.where(distance > 0, distance, 1.0)
    observed = scaled.sum(axis=1)
    with single_blas_thread():
        drawn = scaled @ signs.T  # (n_scorers, n_draws)
    ahead = np.count_nonzero(drawn >= observed[:, np.newaxis] - TOLERANCE, axis=1)
    behind = np.count_nonzero(drawn <= observed[:, np.newaxis] + TOLERANCE, axis=1)
    return ahead, behind
