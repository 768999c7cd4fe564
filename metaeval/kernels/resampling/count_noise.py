"""Noise of counts that come from drawn p-values: significant pairs, and the clusters they make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats

from .clusters import significance_clusters
from .draws import resample_counts
from .permutation import TOLERANCE


@dataclass(frozen=True)
class CountNoise:
    """Standard errors, between runs with other random seeds, of the significant pairs and of the clusters."""

    n_significant: float
    n_clusters: float


def count_noise(
    null: npt.ArrayLike,
    values: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    other_values: npt.ArrayLike = (),
    alpha: float = 0.05,
    n_resamples: int = 200,
) -> CountNoise:
    """Redraw the resamples of a two-sided permutation test and count again; then the same for other values.

    null: (n_pairs, n_draws) differences under the null hypothesis of metrics a < b in row order, shared draws along the
    second axis; all pairs follow the same redrawn resamples, so that the dependence between pairs is kept.
    values: (M,). other_values: (k, M) with other random seeds, where the values themselves are drawn (spa): their
    counts by the same null distribution add their variance.
    Raises ValueError: shapes that don't fit.
    """
    drawn, scores = np.asarray(null, dtype=np.float64), np.asarray(values, dtype=np.float64)
    others = np.asarray(other_values, dtype=np.float64).reshape(-1, scores.size)
    first, second = np.triu_indices(scores.size, 1)
    if drawn.ndim != 2 or drawn.shape[0] != first.size or not drawn.shape[1]:
        raise ValueError(f"{drawn.shape} differences do not fit {scores.size} metrics ({first.size} pairs)")
    sizes = np.abs(drawn)

    def extreme(of: Floats) -> Floats:
        gaps = np.abs(of[first] - of[second])
        return (~(sizes < gaps[:, np.newaxis] - TOLERANCE)).astype(np.float64)  # NaN counts as extreme

    n_draws = drawn.shape[1]
    weights = resample_counts(rng, n_resamples, n_draws)
    redrawn = [_counts(scores, one, alpha) for one in (weights @ extreme(scores).T) / n_draws]
    by_seed = [_counts(one, extreme(one).mean(axis=1), alpha) for one in (scores, *others)]
    variance = np.var(redrawn, axis=0, ddof=1)
    if len(by_seed) > 1:
        variance += np.var(by_seed, axis=0, ddof=1)
    return CountNoise(*np.sqrt(variance).tolist())


def _counts(values: Floats, p: Floats, alpha: float) -> tuple[int, int]:
    """Significant pairs and clusters; p: (n_pairs,) of metrics a < b, the same in both directions."""
    matrix = np.full((values.size, values.size), np.nan)
    first, second = np.triu_indices(values.size, 1)
    matrix[first, second] = matrix[second, first] = p
    return int(np.count_nonzero(p <= alpha)), int(significance_clusters(values, matrix, alpha).max())
