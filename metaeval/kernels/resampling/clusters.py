"""p-values of many pairs: corrections for multiple tests, and the ranks and clusters that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import EQUAL, Floats, Ints

Correction = Literal["none", "holm", "bh"]


def holm(p: npt.ArrayLike) -> Floats:
    """Holm's step-down adjusted p-values (family-wise error), in the shape of p; NaN (not tested) stays.

    Raises ValueError: a p-value outside [0, 1]. Source: Holm 1979.
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    return _of_tests(p, _holm)


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """Benjamini–Hochberg adjusted p-values (false discovery rate), in the shape of p; NaN stays.

    Raises ValueError: a p-value outside [0, 1]. Source: Benjamini and Hochberg 1995.
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.04, 0.04]
    """
    return _of_tests(p, _benjamini_hochberg)


def corrected_pairs(p: npt.ArrayLike, correction: Correction) -> Floats:
    """Correct the p-values "better than" of all pairs as one family.

    p: (M, M), [a, b] = "a is better than b", best first. The family is p[a, b] with a < b; every other entry of the
    result is NaN. "none" selects the family without correcting it.
    Raises ValueError: an unknown correction, a p-value outside [0, 1].
    """
    checks.known(correction, get_args(Correction), "correction")
    matrix = np.asarray(p, dtype=np.float64)
    upper = np.triu_indices(len(matrix), 1)
    family = matrix[upper]
    if correction == "holm":
        family = holm(family)
    elif correction == "bh":
        family = benjamini_hochberg(family)
    result = np.full(matrix.shape, np.nan)
    result[upper] = family
    return result


def _of_tests(p: npt.ArrayLike, adjust: Callable[[Floats], Floats]) -> Floats:
    values = np.asarray(p, dtype=np.float64)
    tests = ~np.isnan(values)
    if not ((values[tests] >= 0) & (values[tests] <= 1)).all():
        raise ValueError("p-values must lie in [0, 1]")
    result = values.copy()
    if tests.any():
        result[tests] = adjust(values[tests])
    return result


def _holm(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(steps, 1.0)
    return result


def _benjamini_hochberg(p: Floats) -> Floats:
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method="bh"), dtype=np.float64)


def ranks(values: npt.ArrayLike) -> Ints:
    """Competition ranks from 1, higher is better: 1, 2, 2, 4; NaN ranks after everything else.

    values: (M,); a value within 1e-12 of the one ranked before it shares its rank.
    >>> ranks([0.5, 0.9, 0.5, float("nan")]).tolist()
    [2, 1, 2, 4]
    """
    scores = np.asarray(values, dtype=np.float64)
    order = best_first(scores)
    result = np.empty(len(scores), dtype=np.int64)
    for place, index in enumerate(order):
        before = order[place - 1] if place else index
        both_nan = np.isnan(scores[index]) and np.isnan(scores[before])
        is_tied = place > 0 and (both_nan or scores[before] - scores[index] <= EQUAL)
        result[index] = result[before] if is_tied else place + 1
    return result


def best_first(values: npt.ArrayLike) -> Ints:
    """(M,) indices by descending value, NaN last, equal values in their original order."""
    scores = np.asarray(values, dtype=np.float64)
    return np.lexsort((np.arange(len(scores)), -np.where(np.isnan(scores), 0.0, scores), np.isnan(scores)))


def significance_clusters(values: npt.ArrayLike, p: npt.ArrayLike, alpha: float = 0.05) -> Ints:
    """Greedy clusters, numbered from 1 for the best, in the order of `values`.

    values: (M,), higher is better. p: (M, M), [a, b] = p-value of "a is better than b"; read only where a
    comes before b in descending order of value. Going down that order, the first member that is significantly worse (p
    ≤ alpha) than any member of the current cluster begins the next. Members without a value (NaN) come last, in a
    cluster of their own; elsewhere a NaN p is not significant.
    Two members that do not differ significantly may be in different clusters: see `indistinct_across_clusters`.
    Source: the shared tasks' rule, e.g. Thompson et al. 2024, section 5.
    >>> significance_clusters([0.9, 0.8, 0.7], [[1, 0.2, 0.01], [1, 1, 0.2], [1, 1, 1]]).tolist()
    [1, 1, 2]
    """
    scores, p_values = np.asarray(values, dtype=np.float64), np.asarray(p, dtype=np.float64)
    clusters = np.zeros(len(scores), dtype=np.int64)
    members: list[int] = []
    current = 1
    for index in best_first(scores):
        starts_nan = np.isnan(scores[index]) and members and not np.isnan(scores[members[-1]])
        if starts_nan or any(p_values[member, index] <= alpha for member in members):
            current += 1
            members = []
        members.append(int(index))
        clusters[index] = current
    return clusters


def share_with_clusters(n: int, alpha: float = 0.05, *, two_sided: bool = True) -> float:
    """Share of data sets in which n equally good members form more than one cluster: the best and the last differ.

    Values are normal with equal variances and equal correlations, so this is the probability that the range of n
    independent values exceeds √2 times the quantile of a single comparison (Tukey's studentized range with known
    variance).
    >>> round(share_with_clusters(2), 3), round(share_with_clusters(10), 2)
    (0.05, 0.63)
    """
    from scipy.special import ndtr, ndtri

    reach = float(np.sqrt(2) * ndtri(1 - alpha / (2 if two_sided else 1)))
    lowest = np.linspace(-8.0, 8.0, 2001)
    density = np.exp(-(lowest**2) / 2) / np.sqrt(2 * np.pi)
    within = n * density * (ndtr(lowest + reach) - ndtr(lowest)) ** (n - 1)
    return float(np.clip(1 - within.sum() * (lowest[1] - lowest[0]), 0.0, 1.0))


def indistinct_across_clusters(values: npt.ArrayLike, p: npt.ArrayLike, alpha: float = 0.05) -> list[tuple[int, int]]:
    """Pairs (better, worse) in different clusters although the better one is not significantly better.

    Arguments as in `significance_clusters`; pairs are ordered by the position of the better member, then of the worse.
    """
    scores, p_values = np.asarray(values, dtype=np.float64), np.asarray(p, dtype=np.float64)
    clusters = significance_clusters(scores, p_values, alpha)
    order = [int(index) for index in best_first(scores) if not np.isnan(scores[index])]
    return [
        (better, worse)
        for place, better in enumerate(order)
        for worse in order[place + 1 :]
        if clusters[better] != clusters[worse] and not p_values[better, worse] <= alpha
    ]


def n_significant_pairs(values: npt.ArrayLike, p: npt.ArrayLike, alpha: float = 0.05) -> int:
    """Number of pairs in which the member with the higher value is significantly better (p ≤ alpha)."""
    order = best_first(values)
    ordered = np.asarray(p, dtype=np.float64)[np.ix_(order, order)]
    return int(np.count_nonzero(ordered[np.triu_indices(len(order), 1)] <= alpha))
