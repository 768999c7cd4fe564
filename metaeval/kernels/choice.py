"""Which segments to annotate: their utility, which of them fit a budget, and how systems would rank on these alone.

Source: Zouhar et al. 2025.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.correlation import correlation_of_rows
from metaeval.kernels.agreement.systems import soft_pairwise_accuracy
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.clusters import best_first
from metaeval.kernels.resampling.system_tests import normal_p_values, signed_rank_p_values, without_noise


def metric_consistency(scores: npt.ArrayLike) -> Floats:
    """τ_c of each segment's scores with the systems' means, (N, S) -> (S,): does it order systems as all segments do?

    The means exclude segments with a missing score; the result is NaN for these. 0 if all scores of a segment, or all
    means, are equal: there is nothing to order.
    >>> metric_consistency([[3.0, 1.0, 2.0], [2.0, 2.0, 2.0], [1.0, 1.5, 2.0]]).round(3).tolist()[::2]
    [0.889, 0.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    complete = ~np.isnan(values).any(axis=0)
    found = np.full(values.shape[1], np.nan)
    if not complete.any() or len(values) < 2:
        return found
    there = values[:, complete]
    means = there.mean(axis=1)
    first, second = np.triu_indices(len(values), 1)
    order = np.sign(means[first] - means[second])  # (P,)
    n_ahead = (np.sign(there[first] - there[second]) * order[:, np.newaxis]).sum(axis=0)  # concordant − discordant
    ranked = np.sort(there, axis=0)
    n_distinct = np.minimum(1 + np.count_nonzero(np.diff(ranked, axis=0), axis=0), len(np.unique(means)))
    classes = np.where(n_distinct > 1, n_distinct, 2)
    tau = 2.0 * n_ahead / (len(values) ** 2 * (classes - 1) / classes)
    found[complete] = np.where(n_distinct > 1, np.clip(tau, -1.0, 1.0), 0.0)
    return found


def in_order(
    utility: npt.ArrayLike,
    costs: npt.ArrayLike,
    units: npt.ArrayLike | None = None,
    domains: npt.ArrayLike | None = None,
) -> Ints:
    """Indices of all segments in the order in which they are chosen.

    utility: (S,), highest first, ties in the order of the test set. units: (S,) documents, numbered from 0, that are
    chosen whole, by the mean utility of their segments; None: each segment by itself. domains: (S,) numbered from 0; if
    passed, any first part of the order draws on each domain in proportion to its cost: a unit's position is the share
    of its domain's cost that is spent halfway through the unit. costs: (S,), above 0.
    >>> in_order([1.0, 3.0, 2.0, 2.0], [1, 1, 1, 1]).tolist()
    [1, 2, 3, 0]
    >>> in_order([1.0, 3.0, 2.0, 2.5], [1, 1, 1, 1], units=[0, 0, 1, 1]).tolist()
    [2, 3, 0, 1]
    >>> in_order([9.0, 8.0, 7.0, 1.0], [1, 1, 1, 1], domains=[0, 0, 1, 1]).tolist()
    [0, 2, 1, 3]
    """
    values, spent = np.asarray(utility, dtype=np.float64), np.asarray(costs, dtype=np.float64)
    unit = np.arange(len(values)) if units is None else np.asarray(units)
    n = np.bincount(unit)
    mean = values if units is None else np.bincount(unit, values) / np.maximum(n, 1)
    cost: Floats = np.bincount(unit, spent).astype(np.float64)
    first = np.full(len(n), len(values))
    np.minimum.at(first, unit, np.arange(len(values)))
    order: Ints = np.lexsort((first, -mean))
    if domains is not None:
        domain = np.zeros(len(n), dtype=np.int64)
        domain[unit] = np.asarray(domains)
        share = np.empty(len(n))
        for one in np.unique(domain):
            own = order[domain[order] == one]
            share[own] = (np.cumsum(cost[own]) - cost[own] / 2) / cost[own].sum()
        place = np.empty(len(n), dtype=np.int64)
        place[order] = np.arange(len(n))
        order = np.lexsort((place, share))
    rank = np.empty(len(n), dtype=np.int64)
    rank[order] = np.arange(len(n))
    return np.lexsort((np.arange(len(values)), rank[unit]))


def bought(order: Ints, costs: npt.ArrayLike, budget: float, units: npt.ArrayLike | None = None) -> Bools:
    """True for segments that a budget pays for: going through the order, each unit that still fits.

    order: from `in_order`, with the same costs and units. Returns (S,), indexed by segment.
    >>> bought(np.array([2, 0, 1]), [2.0, 1.0, 3.0], 4.0).tolist()
    [False, True, True]
    """
    spent = np.asarray(costs, dtype=np.float64)
    unit = np.arange(len(order)) if units is None else np.asarray(units)
    cost: Floats = np.bincount(unit, spent).astype(np.float64)
    chosen, left = np.zeros(len(cost), dtype=np.bool_), budget * (1 + 1e-12)
    for one in dict.fromkeys(unit[order].tolist()):
        if cost[one] <= left:
            chosen[one] = True
            left -= cost[one]
    return np.asarray(chosen[unit])


FEWEST = 3
"""Segments below which nothing is told apart."""


@dataclass(frozen=True)
class Subset:
    """clusters: their number by this subset. tau_b (0 if all means are equal), spa: agreement with all segments."""

    clusters: int
    tau_b: float
    spa: float


class WholeRanking:
    """The ranking by all segments, with which rankings by subsets are compared.

    human: (N, S) without missing scores. raw_ties: see `clusters_by_last`. SPA uses the normal approximation of the
    permutation test's p-values, so nothing is drawn.
    """

    def __init__(self, human: npt.ArrayLike, *, raw_ties: bool = False) -> None:
        self.human = np.asarray(human, dtype=np.float64)
        self._raw_ties = raw_ties
        self._means, self._p = self.human.mean(axis=1), _p_values(self.human)

    @property
    def clusters(self) -> int:
        """Number of clusters of systems by all segments."""
        return int(clusters_by_last(self.human, raw_ties=self._raw_ties).max())

    def compared(self, chosen: npt.ArrayLike) -> Subset:
        """Compare a subset of the segments with all. chosen: (S,) True for segments in the subset.

        Raises ValueError: no segment is chosen.
        """
        part = self.human[:, np.asarray(chosen, dtype=np.bool_)]
        if not part.shape[1]:
            raise ValueError("no segment is chosen")
        clusters = int(clusters_by_last(part, raw_ties=self._raw_ties).max())
        spa = float(soft_pairwise_accuracy(self._p, _p_values(part)))
        tau_b = float(np.nan_to_num(correlation_of_rows(part.mean(axis=1), self._means, "kendall")))
        return Subset(clusters, tau_b, spa)


def _p_values(scores: Floats) -> Floats:
    return np.asarray(normal_p_values(scores[np.newaxis], np.ones(scores.shape, dtype=np.bool_))[0])


def clusters_by_last(human: npt.ArrayLike, *, raw_ties: bool = False) -> Ints:
    """Cluster of each system, from 1 for the best; a system begins a new cluster if it is worse than the one before it.

    human: (N, S) without missing scores. Systems are ordered by their means, best first; each is tested against the one
    before it (Wilcoxon's signed-rank test, one-sided, p < 0.05), so a cluster may contain systems that differ. Systems
    with identical scores share a cluster, and fewer than 3 segments separate no systems. raw_ties: differences that are
    unequal only by rounding are not tied, and p is SciPy's by default.
    Source: Zouhar et al. 2025; their tool uses raw ties, and separates systems with identical scores.
    >>> clusters_by_last([[3.0] * 8, [2.9, 3.1] * 4, [1.0, 1.1, 0.9, 1.2, 0.8, 1.3, 0.7, 1.4]]).tolist()
    [1, 1, 2]
    """
    scores = np.asarray(human, dtype=np.float64)
    order = best_first(scores.mean(axis=1))
    found = np.ones(len(scores), dtype=np.int64)
    if scores.shape[1] < FEWEST:
        return found
    for before, one in pairwise(order):
        gaps = scores[one] - scores[before]
        found[one] = found[before] + int((_raw_p if raw_ties else _p)(gaps, scores[[one, before]]) < 0.05)
    return found


def _p(gaps: Floats, scores: Floats) -> float:
    """p-value that the differences lie below 0; 1 without differences."""
    there = without_noise(gaps, scores)
    there = there[there != 0]
    return signed_rank_p_values(there, "greater")[1] if there.size else 1.0


def _raw_p(gaps: Floats, scores: Floats) -> float:
    """The same by SciPy's defaults, which are exact in other cases."""
    from scipy.stats import wilcoxon

    del scores
    return float(wilcoxon(gaps, alternative="less").pvalue) if gaps.any() else 1.0
