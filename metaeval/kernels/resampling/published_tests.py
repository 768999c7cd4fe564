"""Tests from earlier papers: Williams' test of correlations, and the paired bootstrap of system pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.correlation import correlation_of_rows
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.draws import Advance, blocks, resample_counts, single_blas_thread
from metaeval.kernels.resampling.prepared import LEAST_FOR_WILLIAMS

#: Correlations of two metrics nearer than this to 1 or −1 leave nothing to tell them apart by.
DEGENERATE = 1e-12


@dataclass(frozen=True)
class WilliamsTest:
    """Outcome for all pairs of M metrics.

    p: (M, M), [a, b] is the p-value of "a correlates more than b", one-sided, exact under normality, p[b, a] = 1 − p[a,
        b]; NaN on the diagonal and where a correlation is undefined. t: (M, M) test statistics;
    values: (M,) Pearson r with the human scores (absolute ones if requested).
    """

    p: Floats
    t: Floats
    values: Floats
    n_systems: int


def williams_t(r13: npt.ArrayLike, r23: npt.ArrayLike, r12: npt.ArrayLike, n_systems: int) -> Floats:
    """Williams' t of the difference of two dependent correlations; positive where r13 > r23.

    r13, r23: correlation of metric A and of metric B with the human scores; r12: correlation of A with B; any shapes
    that broadcast. Two metrics that correlate perfectly with each other and equally with humans have t = 0; at r12 =
    −1, t is the limit r13 √(n−3) / √(1 − r13²).
    Raises ValueError: 3 systems or fewer.
    Source: Graham and Baldwin 2014, eq. for t(n−3).
    >>> round(float(williams_t(0.9, 0.8, 0.7, 12)), 4)
    1.0034
    """
    if n_systems < LEAST_FOR_WILLIAMS:
        raise ValueError(f"Williams' test needs more than 3 systems, got {n_systems}")
    a, b, c = np.broadcast_arrays(*(np.asarray(r, dtype=np.float64) for r in (r13, r23, r12)))
    n = float(n_systems)
    k = np.maximum(1.0 - c**2 - a**2 - b**2 + 2.0 * c * a * b, 0.0)
    square = 2.0 * k * (n - 1.0) / (n - 3.0) + (a + b) ** 2 / 4.0 * (1.0 - c) ** 3
    same, mirrored = c >= 1.0 - DEGENERATE, c <= -1.0 + DEGENERATE
    usable = ~same & ~mirrored & (square > 0)
    t = (a - b) * np.sqrt((n - 1.0) * np.maximum(1.0 + c, 0.0)) / np.sqrt(np.where(usable, square, 1.0))
    t = np.where(same & (np.abs(a - b) <= 1e-6), 0.0, np.where(usable | np.isnan(square), t, np.nan))
    with np.errstate(divide="ignore"):
        limit = a * np.sqrt(n - 3.0) / np.sqrt(np.maximum(1.0 - a**2, 0.0))
    return np.asarray(np.where(mirrored, limit, t), dtype=np.float64)


def williams_p(t: npt.ArrayLike, n_systems: int, *, legacy_df: bool = False) -> Floats:
    """One-sided p-value of Williams' t: P(T ≥ t) with n − 3 degrees of freedom.

    legacy_df: use n − 2 instead, as in the example output published with the 2014 code.
    """
    from scipy.special import stdtr

    return np.asarray(stdtr(n_systems - (2 if legacy_df else 3), -np.asarray(t, dtype=np.float64)))


def williams_test(
    human: npt.ArrayLike, metrics: npt.ArrayLike, *, absolute: bool = False, legacy_df: bool = False
) -> WilliamsTest:
    """Williams' test of all pairs of metrics on system scores.

    human: (N,), NaN = not judged; these systems are excluded. metrics: (M, N), oriented: higher is better.
    absolute: take absolute values of all three correlations, as the paper does; this gives credit to a metric with the
    wrong sign. legacy_df: see `williams_p`.
    Raises ValueError: shapes, fewer than 2 metrics, 3 systems or fewer. Source: Graham and Baldwin 2014.
    """
    human, metrics = checks.system_scores(human, metrics)
    judged = ~np.isnan(human)
    checks.several(len(metrics))
    scores = np.concatenate([human[np.newaxis, judged], metrics[:, judged]])
    n_systems = scores.shape[1]
    if n_systems < LEAST_FOR_WILLIAMS:
        raise ValueError(f"Williams' test needs more than 3 systems, got {n_systems}")
    r = correlation_of_rows(scores[:, np.newaxis], scores, "pearson")
    if absolute:
        r = np.abs(r)
    values = r[0, 1:]
    t = williams_t(values[:, np.newaxis], values[np.newaxis, :], r[1:, 1:], n_systems)
    np.fill_diagonal(t, np.nan)
    return WilliamsTest(williams_p(t, n_systems, legacy_df=legacy_df), t, values, n_systems)


@dataclass(frozen=True)
class SystemPairBootstrap:
    """Outcome for M metrics.

    accuracy: (M,) share of right system pairs. n_wins: (M, M) resamples in which metric a has strictly more right pairs
    than b. p: (M, M) share of resamples in which a does not beat b; NaN on the diagonal.
    winner: the most accurate metric, the first on ties. is_on_par: (M,) True if the winner does not beat the metric in
    a share of `confidence` or more of the resamples (always True for the winner).
    """

    accuracy: Floats
    n_wins: Ints
    n_draws: int
    winner: int
    is_on_par: Bools

    @property
    def p(self) -> Floats:
        """One-sided p-values of "a is more accurate than b"; ties count against the claim, no + 1."""
        p = 1.0 - self.n_wins / self.n_draws
        np.fill_diagonal(p, np.nan)
        return np.asarray(p, dtype=np.float64)


def system_pair_bootstrap(
    agreements: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_draws: int = 10_000,
    confidence: float = 0.95,
    progress: Advance | None = None,
) -> SystemPairBootstrap:
    """Resample system pairs with replacement and compare the metrics' accuracies.

    agreements: bool (M, n_pairs), see `pair_agreements`; all metrics on the same pairs.
    Raises ValueError: shapes, fewer than 2 metrics, no pair, n_draws < 1.
    Pairs of systems are not independent, so p does not generalise to any population (docs/levels.md).
    Source: Kocmi et al. 2021, appendix B: 10,000 resamples, on par if the winner beats the metric in less than 95%.
    """
    right = np.asarray(agreements, dtype=np.bool_)
    if right.ndim != 2 or right.shape[0] < 2 or right.shape[1] < 1:
        raise ValueError(f"agreements must be (metrics, system pairs) with 2 metrics or more, got {right.shape}")
    n_wins = np.zeros((len(right), len(right)), dtype=np.int64)
    n_done = 0
    columns = right.T.astype(np.float64)
    with single_blas_thread():
        for stream, size in blocks(rng, n_draws):
            n_right = resample_counts(stream, size, right.shape[1]) @ columns  # (k, n_pairs) @ (n_pairs, M)
            n_wins += (n_right[:, :, np.newaxis] > n_right[:, np.newaxis, :] + 0.5).sum(axis=0)
            n_done += size
            if progress is not None:
                progress(n_done, n_draws)
    winner = int(np.argmax(right.sum(axis=1)))
    is_on_par = n_wins[winner] < confidence * n_draws
    return SystemPairBootstrap(right.mean(axis=1), n_wins, n_draws, winner, is_on_par)
