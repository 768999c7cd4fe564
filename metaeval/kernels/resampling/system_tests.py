"""Is system i better than system j by one scorer? Permutation test, bootstrap, signed ranks and Student's t."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.draws import Alternative, blocks, resample_counts, single_blas_thread

Signs = npt.NDArray[np.int8]
TOLERANCE = 1e-9
BATCH_VALUES = 1 << 19  # numbers held in memory at a time
BATCH_DRAWS = 1 << 14  # draws whose signs are held as floats at a time
ROUNDING = 64 * np.finfo(np.float64).eps
#: Of the sum of two systems' scores: differences that add up to less are rounding, and the systems identical.
NOISE = 1e-13


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

    scores: (n_scorers, n_systems, n_segments), higher is better; read only where judged. judged: bool (n_systems,
        n_segments), one mask for all scorers. signs: −1 and 1, (n_draws, n_segments), shared by all pairs and scorers,
        see `draw_signs`.
    With d_s the difference on each segment that both systems have: the share of draws with
    Σ σ_s d_s ≥ Σ d_s − 1e-9 Σ |d_s|. One-sided, `>=`, no +1, drawn. The diagonal is 1, as are pairs of identical
    systems and pairs without common segments.
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
    """How many of the draws reach the observed difference of each pair, as defined in `sign_flip_p_values`."""
    if _is_whole_segments(judged):
        used = judged[0]
        return _reached_by_products(scores[:, :, used], flips[:, used])
    result = np.full((len(scores), judged.shape[0], judged.shape[0]), len(flips))
    filled, by_segment = np.where(judged, scores, 0.0), np.ascontiguousarray(flips.T)
    for i, j in zip(*np.triu_indices(judged.shape[0], 1), strict=True):
        both = judged[i] & judged[j]
        gaps = unless_noise(np.where(both, filled[:, i] - filled[:, j], 0.0), filled[:, i], filled[:, j])
        is_sparse = 2 * np.count_nonzero(both) < both.size
        own, signs = (gaps[:, both], by_segment[both].T) if is_sparse else (gaps, flips)
        result[:, i, j], result[:, j, i] = _reached_by_gaps(own, signs)
    return result


def normal_p_values(scores: npt.ArrayLike, judged: npt.ArrayLike) -> Floats:
    """The limit of `sign_flip_p_values` for many draws and segments: 1 − Φ(Σ d_s / √Σ d_s²), deterministic.

    Arguments and result as in `sign_flip_p_values`; if all differences are 0, p is 1.
    """
    scores, judged = _checked(scores, judged)
    result = np.ones((len(scores), judged.shape[0], judged.shape[0]))
    if _is_whole_segments(judged):
        values = np.ascontiguousarray(scores[:, :, judged[0]])
        for row in range(len(judged) - 1):
            first, others = values[:, row : row + 1], values[:, row + 1 :]
            result[:, row, row + 1 :], result[:, row + 1 :, row] = _normal_p(first, others)
        return result
    for i, j in zip(*np.triu_indices(judged.shape[0], 1), strict=True):
        both = judged[i] & judged[j]
        result[:, i, j], result[:, j, i] = _normal_p(scores[:, i, both], scores[:, j, both])
    return result


def _normal_p(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """p-values that the first scores are better, and that the second are, (…, n) -> (…), from common segments."""
    from scipy.special import ndtr

    gaps = unless_noise(first - second, first, second)
    largest = np.abs(gaps).max(axis=-1, initial=0.0)
    gaps /= np.where(largest > 0, largest, 1.0)[..., np.newaxis]
    total, variance = gaps.sum(axis=-1), (gaps * gaps).sum(axis=-1)
    z = total / np.sqrt(np.where(variance > 0, variance, 1.0))
    return np.where(variance > 0, ndtr(-z), 1.0), np.where(variance > 0, ndtr(z), 1.0)


def _checked(scores: npt.ArrayLike, judged: npt.ArrayLike) -> tuple[Floats, Bools]:
    mask = np.asarray(judged, dtype=bool)
    if mask.ndim != 2 or mask.shape[0] < 2:
        raise ValueError(f"judged must be (n_systems, n_segments) with 2 systems or more, got {mask.shape}")
    return checks.metric_scores(scores, mask), mask


def unless_noise(gaps: Floats, first: Floats, second: Floats) -> Floats:
    """Differences (…, S) of the scores of two systems; 0 if all differences of a scorer are rounding."""
    size = np.abs(first).sum(axis=-1) + np.abs(second).sum(axis=-1)
    is_noise = np.abs(gaps).sum(axis=-1) <= NOISE * size
    return np.where(is_noise[..., np.newaxis], 0.0, gaps)


def _is_whole_segments(judged: Bools) -> bool:
    return bool((judged == judged[0]).all())


def _reached_by_products(scores: Floats, signs: Floats) -> Ints:
    """All pairs from one product of the signs with each system's scores; for data without missing scores."""
    n_scorers, n_systems, n_segments = scores.shape
    # what all systems share on a segment cancels in every difference: without it sums round less
    centred = scores - scores.mean(axis=1, keepdims=True)
    observed = centred.sum(axis=2)
    result = np.full((n_scorers, n_systems, n_systems), len(signs))
    drawn_signs, n_each = signs, None
    if 2**n_segments < len(signs):  # few segments: each combination of signs is compared once
        drawn_signs, n_each = np.unique(signs, axis=0, return_counts=True)

    def count(is_reached: Bools) -> Ints:
        return np.count_nonzero(is_reached, axis=2) if n_each is None else is_reached @ n_each

    step = max(1, BATCH_VALUES // (max(drawn_signs.shape) * n_systems))
    for start in range(0, n_scorers, step):
        batch = slice(start, start + step)
        part, own, total = centred[batch], scores[batch], observed[batch]
        with single_blas_thread():
            sums = part.reshape(len(part) * n_systems, n_segments) @ drawn_signs.T
        sums = sums.reshape(len(part), n_systems, len(drawn_signs))
        size = np.abs(own).sum(axis=2)
        rounding = ROUNDING * np.abs(part).sum(axis=2).max(axis=1)
        for row in range(n_systems - 1):  # with all later systems: pairs of all rows at once would not fit into a cache
            later = slice(row + 1, None)
            distance = np.abs(own[:, row : row + 1] - own[:, later]).sum(axis=2)  # (b, n_later)
            distance[distance <= NOISE * (size[:, row : row + 1] + size[:, later])] = 0.0
            gap = total[:, row : row + 1] - total[:, later]
            slack = TOLERANCE * distance
            drawn = sums[:, row : row + 1] - sums[:, later]  # (b, n_later, n_draws)
            ahead = count(drawn >= (gap - slack)[:, :, np.newaxis])
            behind = count(drawn <= (gap + slack)[:, :, np.newaxis])
            # pairs so alike that the sums' rounding exceeds the tolerance: from their differences
            for scorer, other in np.argwhere((distance > 0) & (slack < rounding[:, np.newaxis])):
                gaps = own[scorer, row] - own[scorer, row + 1 + other]
                one, two = _reached_by_gaps(gaps[np.newaxis], signs)
                ahead[scorer, other], behind[scorer, other] = one[0], two[0]
            result[batch, row, later] = np.where(distance > 0, ahead, len(signs))
            result[batch, later, row] = np.where(distance > 0, behind, len(signs))
    return result


def _reached_by_gaps(gaps: Floats, signs: Floats) -> tuple[Ints, Ints]:
    """Draws that reach one pair's difference, for first better and second better; scores: (n_scorers, n_segments)."""
    distance = np.abs(gaps).sum(axis=1, keepdims=True)
    scaled = gaps / np.where(distance > 0, distance, 1.0)
    observed = scaled.sum(axis=1)
    with single_blas_thread():
        drawn = scaled @ signs.T  # (n_scorers, n_draws)
    ahead = np.count_nonzero(drawn >= observed[:, np.newaxis] - TOLERANCE, axis=1)
    behind = np.count_nonzero(drawn <= observed[:, np.newaxis] + TOLERANCE, axis=1)
    return ahead, behind


TOLERANCE = 1e-9
#: Differences for which Wilcoxon's test is exact: without ties, and with them.
MOST_EXACT, MOST_TIED = 50, 13
#: Significant digits to which differences are rounded before they are ranked.
DIGITS = 10


def paired_bootstrap_p_values(
    scores: npt.ArrayLike,
    judged: npt.ArrayLike,
    rng: np.random.Generator,
    n_draws: int = 300,
    documents: Ints | None = None,
) -> Floats:
    """p-values of "system i is better than system j", (n_scorers, N, N), by resampling segments.

    scores: (n_scorers, N, S), higher is better, read where judged; judged: bool (N, S), one mask for all
    scorers. Segments are resampled with replacement, the same for all pairs and scorers; p[i, j] = share of
    resamples in which the sum of i's differences to j over their common segments is not positive (up to
    1e-9 Σ |d|: ties count against the claim). One-sided, no + 1; 1 on the diagonal and without common
    segments. "Better in 95% of the resamples" is p ≤ 0.05.
    documents: (S,) each segment's document, from 0; if passed, whole documents are resampled.
    Raises ValueError: shapes, a missing score where humans judged, n_draws < 1.
    Source: Koehn 2004.
    """
    mask = np.asarray(judged, dtype=bool)
    values = np.where(mask, checks.metric_scores(scores, mask), 0.0)
    n_scorers, n_systems, n_segments = values.shape
    units = np.arange(n_segments) if documents is None else documents
    n_units = int(units.max(initial=-1)) + 1
    counts = np.concatenate([resample_counts(s, n, n_units) for s, n in blocks(rng, n_draws)])[:, units]
    p = np.ones((n_scorers, n_systems, n_systems))
    for i, j in zip(*np.triu_indices(n_systems, 1), strict=True):
        both = mask[i] & mask[j]
        gaps = unless_noise(values[:, i, both] - values[:, j, both], values[:, i, both], values[:, j, both])
        with single_blas_thread():
            sums = counts[:, both] @ gaps.T  # (n_draws, s) @ (s, n_scorers)
        slack = TOLERANCE * np.abs(gaps).sum(axis=1)
        p[:, i, j] = np.mean(sums <= slack, axis=0)
        p[:, j, i] = np.mean(sums >= -slack, axis=0)
    return p


def wilcoxon_p_values(
    scores: npt.ArrayLike,
    judged: npt.ArrayLike,
    alternative: Alternative = "greater",
    documents: Ints | None = None,
) -> Floats:
    """p-values of "system i is better than system j", (N, N), by Wilcoxon's signed-rank test.

    scores: (N, S), higher is better; judged: bool (N, S). Each pair uses its common segments; differences of zero are
    excluded (Wilcoxon's own rule). One-sided: p[i, j] + p[j, i] is 1, or more by the probability of the observed rank
    sum if p is exact; "two-sided": that the two differ, symmetric. Exact or by the normal approximation: see
    `signed_rank_p_values`. Differences that are equal up to rounding are tied. 1 on the diagonal and if no difference
    is left. documents: (S,) each segment's document; if passed, differences are added up within documents.
    Raises ValueError: shapes, a missing score where humans judged.
    Source: Wilcoxon 1945; Kocmi et al. 2021, section 5, uses it two-sided on human scores.
    """
    mask = np.asarray(judged, dtype=bool)
    values = checks.metric_scores(scores, mask)[0]
    p = np.ones((len(values), len(values)))
    for i, j, gaps in _pairs(values, mask, documents):
        if gaps.any():
            p[i, j], p[j, i] = signed_rank_p_values(gaps[gaps != 0], alternative)
    return p


def signed_rank_p_values(gaps: Floats, alternative: Alternative) -> tuple[float, float]:
    """Wilcoxon's signed-rank p-values that differences, none of which is 0, lie above 0, and that they lie below 0.

    The same number twice if the alternative is two-sided. Exact for at most 50 differences without ties and for at most
    13 with ties, which is SciPy's default (it enumerates all 2^n signs for the latter); otherwise by the normal
    approximation with correction for ties.
    >>> signed_rank_p_values(np.array([1.0, 1.0, 2.0, -1.0]), "greater")
    (0.25, 0.9375)
    """
    sizes = np.abs(gaps)
    order = np.argsort(sizes)
    n_tied = np.diff(np.flatnonzero(np.diff(sizes[order], prepend=-1.0, append=np.inf)))  # of each distinct size
    has_ties = len(n_tied) < gaps.size
    ranks = np.empty(gaps.size)
    ranks[order] = np.repeat(np.cumsum(n_tied) - (n_tied - 1) / 2, n_tied)  # equal sizes share their mean rank
    is_exact = gaps.size <= (MOST_TIED if has_ties else MOST_EXACT)
    above, below = _exact_signed_rank(gaps, ranks) if is_exact else _normal_signed_rank(gaps, ranks, n_tied)
    both = min(1.0, 2 * min(above, below))
    return (both, both) if alternative == "two-sided" else (above, below)


def _normal_signed_rank(gaps: Floats, ranks: Floats, n_tied: Ints) -> tuple[float, float]:
    """p-values by the normal approximation, with the variance of tied ranks."""
    from scipy.special import ndtr

    n, tied = gaps.size, n_tied.astype(np.float64)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (tied**3 - tied).sum() / 48
    z = (ranks[gaps > 0].sum() - n * (n + 1) / 4) / np.sqrt(variance)
    return float(ndtr(-z)), float(ndtr(z))


def _exact_signed_rank(gaps: Floats, ranks: Floats) -> tuple[float, float]:
    """Exact p-values of a few differences: the distribution of the rank sum under all signs, built rank by rank."""
    doubled = np.rint(2 * ranks).astype(np.int64)  # mean ranks are whole or half
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    found = int(doubled[gaps > 0].sum())
    return float(ways[found:].sum() / ways.sum()), float(ways[: found + 1].sum() / ways.sum())


def paired_t_p_values(scores: npt.ArrayLike, judged: npt.ArrayLike, documents: Ints | None = None) -> Floats:
    """p-values of "system i is better than system j", (N, N), by Student's t-test of the paired differences.

    Arguments as in `wilcoxon_p_values`. One-sided: p[i, j] + p[j, i] = 1, except where there is nothing to test: p is 1
    on the diagonal, with fewer than 2 common segments, and if all differences are 0.
    Raises ValueError: shapes, a missing score where humans judged.
    """
    from scipy.special import stdtr

    mask = np.asarray(judged, dtype=bool)
    values = checks.metric_scores(scores, mask)[0]
    p = np.ones((len(values), len(values)))
    for i, j, gaps in _pairs(values, mask, documents):
        if gaps.size < 2 or not gaps.any():
            continue
        error = float(gaps.std(ddof=1)) / np.sqrt(gaps.size)
        mean = float(gaps.mean())
        t = mean / error if np.ptp(gaps) > 0 else np.copysign(np.inf, mean)
        p[i, j], p[j, i] = stdtr(gaps.size - 1, -t), stdtr(gaps.size - 1, t)
    return p


def _pairs(values: Floats, judged: Bools, documents: Ints | None) -> Iterator[tuple[int, int, Floats]]:
    """Systems i < j with their differences over common segments, or sums per document, without rounding error."""
    for i, j in zip(*np.triu_indices(len(values), 1), strict=True):
        both = judged[i] & judged[j]
        gaps = values[i, both] - values[j, both]
        if documents is not None:
            of_pair = np.unique(documents[both], return_inverse=True)[1]
            gaps = np.bincount(of_pair, weights=gaps)
        yield int(i), int(j), without_noise(gaps, values[[i, j]][:, both])


def without_noise(gaps: Floats, scores: Floats) -> Floats:
    """Differences rounded to a grid 10 digits below the largest score, so floating-point error creates no ranks."""
    largest = float(np.abs(scores).max(initial=0.0))
    if largest == 0.0:
        return gaps
    return np.round(gaps, DIGITS - int(np.ceil(np.log10(largest))))
