"""What a part of the segments says of the systems, and how near that comes to what all of them say."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.soft_pairwise import soft_pairwise_accuracy
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.clusters import best_first
from metaeval.kernels.resampling.sign_flip import normal_p_values
from metaeval.kernels.resampling.system_tests import signed_rank_p_values, without_noise

FEWEST = 3
"""Segments below which nothing is told apart."""


@dataclass(frozen=True)
class Subset:
    """clusters: of systems by these segments alone. tau_b, spa: agreement of their ranking with that of all."""

    clusters: int
    tau_b: float
    spa: float


class WholeRanking:
    """The ranking by all segments, which those by parts of them are compared with.

    human: (N, S) without missing scores. raw_ties: see `clusters_by_last`. SPA takes the normal approximation of the
    permutation test's p-values, so that nothing is drawn.
    Raises ValueError: shapes, or a missing score.
    """

    def __init__(self, human: npt.ArrayLike, *, raw_ties: bool = False) -> None:
        self.human = np.asarray(human, dtype=np.float64)
        if self.human.ndim != 2 or len(self.human) < 2 or np.isnan(self.human).any():
            raise ValueError("human must be (N, S) of two systems or more, without missing scores")
        self._raw_ties = raw_ties
        self._means, self._p = self.human.mean(axis=1), _p_values(self.human)

    @property
    def clusters(self) -> int:
        """Clusters of systems by all segments."""
        return int(clusters_by_last(self.human, raw_ties=self._raw_ties).max())

    def compared(self, chosen: npt.ArrayLike) -> Subset:
        """What a part of the segments says. chosen: (S,) which are in it.

        Raises ValueError: none is.
        """
        part = self.human[:, np.asarray(chosen, dtype=np.bool_)]
        if not part.shape[1]:
            raise ValueError("no segment is chosen")
        clusters = int(clusters_by_last(part, raw_ties=self._raw_ties).max())
        spa = float(soft_pairwise_accuracy(self._p, _p_values(part)))
        return Subset(clusters, tau_b_of(part.mean(axis=1), self._means), spa)


def _p_values(scores: Floats) -> Floats:
    return np.asarray(normal_p_values(scores[np.newaxis], np.ones(scores.shape, dtype=np.bool_))[0])


def clusters_by_last(human: npt.ArrayLike, alpha: float = 0.05, *, raw_ties: bool = False) -> Ints:
    """Cluster of each system, numbered from 1 for the best: a new one begins with a system worse than the last of it.

    human: (N, S) without missing scores. Systems go by their means, best first; each is tested against the one before
    it (Wilcoxon's signed-rank test, one-sided, p < alpha), so that a cluster may hold systems that differ. Systems of
    which no score differs are one cluster, and fewer than 3 segments tell nothing apart. raw_ties: differences
    that are apart by rounding alone are not tied, and p is SciPy's by default.
    Source: Zouhar et al. 2025; their tool has raw ties, and parts systems without any difference.
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
        found[one] = found[before] + int((_raw_p if raw_ties else _p)(gaps, scores[[one, before]]) < alpha)
    return found


def _p(gaps: Floats, scores: Floats) -> float:
    """p that differences lie below 0; 1 where there are none."""
    there = without_noise(gaps, scores)
    there = there[there != 0]
    return signed_rank_p_values(there, "greater")[1] if there.size else 1.0


def _raw_p(gaps: Floats, scores: Floats) -> float:
    """The same as SciPy has it, which is exact in other cases."""
    from scipy.stats import wilcoxon

    del scores
    return float(wilcoxon(gaps, alternative="less").pvalue) if gaps.any() else 1.0


def tau_b_of(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Kendall's τ_b of two vectors, whose values are compared as they stand; 0 where one of them is constant.

    >>> round(tau_b_of([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]), 4)
    0.3333
    """
    x, y = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    first, second = np.triu_indices(len(x), 1)
    a, b = np.sign(x[first] - x[second]), np.sign(y[first] - y[second])
    untied = np.sqrt(float(np.count_nonzero(a)) * float(np.count_nonzero(b)))
    return float((a * b).sum() / untied) if untied else 0.0
