"""Is system i better than system j by one scorer? Paired bootstrap, Wilcoxon's signed-rank test and paired t-test.

The paired permutation test is `sign_flip.sign_flip_p_values`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.blas_threads import single_blas_thread
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

from .draws import block_sizes, resample_counts

Alternative = Literal["greater", "two-sided"]

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
    documents: npt.ArrayLike | None = None,
) -> Floats:
    """p-values of "system i is better than system j", (n_scorers, N, N), by resampling segments.

    scores: (n_scorers, N, S), higher is better, read where judged; judged: bool (N, S), one mask for all
    scorers. Segments are resampled with replacement, the same for all pairs and scorers; p[i, j] = share of
    resamples in which the sum of i's differences to j over their common segments is not positive (up to
    1e-9 Σ |d|: ties count against the claim). One-sided, no + 1; 1 on the diagonal and without common
    segments. "Better in 95% of the resamples" is p ≤ 0.05.
    documents: (S,) each segment's document; then whole documents are resampled.
    Raises ValueError: shapes, a missing score where humans judged, n_draws < 1.
    Source: Koehn 2004.
    """
    mask = np.asarray(judged, dtype=bool)
    values = np.where(mask, checks.metric_scores(scores, mask), 0.0)
    n_scorers, n_systems, n_segments = values.shape
    units = np.arange(n_segments) if documents is None else document_numbers(documents, n_segments)
    n_units = int(units.max(initial=-1)) + 1
    counts = np.concatenate([resample_counts(s, n, n_units) for s, n in _streams(rng, n_draws)])[:, units]
    p = np.ones((n_scorers, n_systems, n_systems))
    for i, j in zip(*np.triu_indices(n_systems, 1), strict=True):
        both = mask[i] & mask[j]
        gaps = values[:, i, both] - values[:, j, both]  # (n_scorers, s)
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
    documents: npt.ArrayLike | None = None,
) -> Floats:
    """p-values of "system i is better than system j", (N, N), by Wilcoxon's signed-rank test.

    scores: (N, S), higher is better; judged: bool (N, S). Each pair uses its common segments; differences of
    zero are excluded (Wilcoxon's own rule). One-sided: p[i, j] + p[j, i] is 1, or above it by the probability
    of the observed rank sum where p is exact; "two-sided": that the two differ, symmetric. Exact or by the
    normal approximation: see `signed_rank_p_values`. Differences that are equal up to rounding are tied. 1 on
    the diagonal and where no difference is left. documents: (S,) each segment's document; then the differences
    are those of whole documents, added up.
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
    """p by Wilcoxon's signed-rank test that the differences, none of which is 0, lie above 0, and that they lie below.

    The same number twice where the alternative is two-sided. Exact for at most 50 differences without ties and for at
    most 13 with ties, as SciPy is by default, which draws each of the 2^n signs for the latter; else by the normal
    approximation with correction for ties.
    >>> signed_rank_p_values(np.array([1.0, 1.0, 2.0, -1.0]), "greater")
    (0.25, 0.9375)
    """
    has_ties = len(np.unique(np.abs(gaps))) < gaps.size
    if has_ties and gaps.size <= MOST_TIED:
        above, below = _tied_signed_rank(gaps)
    elif has_ties or gaps.size > MOST_EXACT:
        above, below = _normal_signed_rank(gaps)
    else:
        from scipy.stats import wilcoxon

        above, below = (float(wilcoxon(gaps, alternative=side, method="exact").pvalue) for side in ("greater", "less"))
    both = min(1.0, 2 * min(above, below))
    return (both, both) if alternative == "two-sided" else (above, below)


def _normal_signed_rank(gaps: Floats) -> tuple[float, float]:
    """p-values by the normal approximation, with the variance of tied ranks."""
    from scipy.special import ndtr
    from scipy.stats import rankdata

    n, ranks = gaps.size, rankdata(np.abs(gaps))
    n_tied = np.unique(ranks, return_counts=True)[1].astype(np.float64)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (n_tied**3 - n_tied).sum() / 48
    z = (ranks[gaps > 0].sum() - n * (n + 1) / 4) / np.sqrt(variance)
    return float(ndtr(-z)), float(ndtr(z))


def _tied_signed_rank(gaps: Floats) -> tuple[float, float]:
    """Exact p-values of few tied differences: the distribution of the rank sum under all signs, rank after rank."""
    from scipy.stats import rankdata

    ranks = np.rint(2 * rankdata(np.abs(gaps))).astype(np.int64)  # mean ranks are whole or half
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1.0
    for rank in ranks:
        ways[rank:] += ways[:-rank].copy()
    found = int(ranks[gaps > 0].sum())
    return float(ways[found:].sum() / ways.sum()), float(ways[: found + 1].sum() / ways.sum())


def paired_t_p_values(scores: npt.ArrayLike, judged: npt.ArrayLike, documents: npt.ArrayLike | None = None) -> Floats:
    """p-values of "system i is better than system j", (N, N), by Student's t-test of the paired differences.

    Arguments as of `wilcoxon_p_values`. One-sided: p[i, j] + p[j, i] = 1, except where there is nothing to
    test: 1 on the diagonal, with fewer than 2 common segments, and where all differences are 0.
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


def document_numbers(documents: npt.ArrayLike, n_segments: int) -> Ints:
    """(S,) documents numbered from 0 without gaps.

    Raises ValueError: not one for each segment.
    >>> document_numbers(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    names = np.asarray(documents)
    if names.shape != (n_segments,):
        raise ValueError(f"documents must be ({n_segments},), one for each segment, got {names.shape}")
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _pairs(values: Floats, judged: Bools, documents: npt.ArrayLike | None) -> Iterator[tuple[int, int, Floats]]:
    """Systems i < j with their differences over common segments, or documents' sums of them, without float noise."""
    units = None if documents is None else document_numbers(documents, values.shape[1])
    for i, j in zip(*np.triu_indices(len(values), 1), strict=True):
        both = judged[i] & judged[j]
        gaps = values[i, both] - values[j, both]
        if units is not None:
            of_pair = np.unique(units[both], return_inverse=True)[1]
            gaps = np.bincount(of_pair, weights=gaps)
        yield int(i), int(j), without_noise(gaps, values[[i, j]][:, both])


def without_noise(gaps: Floats, scores: Floats) -> Floats:
    """Differences rounded to a grid 10 digits below the largest score: float noise makes no ranks."""
    largest = float(np.abs(scores).max(initial=0.0))
    if largest == 0.0:
        return gaps
    return np.round(gaps, DIGITS - int(np.ceil(np.log10(largest))))


def _streams(rng: np.random.Generator, n_draws: int) -> list[tuple[np.random.Generator, int]]:
    sizes = block_sizes(n_draws)
    return list(zip(rng.spawn(len(sizes)), sizes, strict=True))
