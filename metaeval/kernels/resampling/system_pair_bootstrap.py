"""Paired bootstrap of system pairs: which metrics are on par with the most accurate one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.blas_threads import single_blas_thread
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

from .draws import Advance, block_sizes, resample_counts


@dataclass(frozen=True)
class SystemPairBootstrap:
    """Outcome for M metrics.

    accuracy: (M,) share of right system pairs. n_wins: (M, M) resamples in which metric a has strictly more
    right pairs than b. p: (M, M) share of resamples in which a does not beat b; NaN on the diagonal.
    winner: the most accurate metric, the first of equals. is_on_par: (M,) not beaten by the winner in
    `confidence` of the resamples or more (the winner itself is).
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
    Pairs of systems are not independent, so p has no population that it answers for (docs/levels.md).
    Source: Kocmi et al. 2021, appendix B: 10,000 resamples, on par when the winner beats it in less than 95%.
    """
    right = np.asarray(agreements, dtype=np.bool_)
    if right.ndim != 2 or right.shape[0] < 2 or right.shape[1] < 1:
        raise ValueError(f"agreements must be (metrics, system pairs) with 2 metrics or more, got {right.shape}")
    sizes = block_sizes(n_draws)
    n_wins = np.zeros((len(right), len(right)), dtype=np.int64)
    n_done = 0
    columns = right.T.astype(np.float64)
    with single_blas_thread():
        for stream, size in zip(rng.spawn(len(sizes)), sizes, strict=True):
            n_right = resample_counts(stream, size, right.shape[1]) @ columns  # (k, n_pairs) @ (n_pairs, M)
            n_wins += (n_right[:, :, np.newaxis] > n_right[:, np.newaxis, :] + 0.5).sum(axis=0)
            n_done += size
            if progress is not None:
                progress(n_done, n_draws)
    winner = int(np.argmax(right.sum(axis=1)))
    is_on_par = n_wins[winner] < confidence * n_draws
    return SystemPairBootstrap(right.mean(axis=1), n_wins, n_draws, winner, is_on_par)
