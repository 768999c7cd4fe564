"""Correlations of several studies pooled into one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class PooledCorrelation:
    """mean: Σ n r / Σ n. observed_variance: Σ n (r − mean)² / Σ n. sampling_variance: what chance alone
    gives. n_studies: correlations that entered."""

    mean: float
    observed_variance: float
    sampling_variance: float
    n_studies: int


def hunter_schmidt(r: npt.ArrayLike, n: npt.ArrayLike) -> PooledCorrelation:
    """Mean correlation weighted by sample size, with its observed and its sampling variance.

    r: (n_studies,) correlations with their sign, in [−1, 1]; NaN = not defined, left out and not counted in
        n_studies. n: (n_studies,) observations (systems) behind each, 2 or more.
    sampling_variance: (1 − mean²)² / (mean of n − 1). Without any study all are NaN.
    Raises ValueError: shapes, a correlation outside [−1, 1], n below 2 or not whole.
    Source: Hunter and Schmidt 2004, chapter 3 (bare-bones meta-analysis).
    >>> hunter_schmidt([0.9, 0.6], [30, 10]).mean
    0.825
    """
    values = np.asarray(r, dtype=np.float64)
    sizes = np.asarray(n, dtype=np.float64)
    if values.ndim != 1 or values.shape != sizes.shape:
        raise ValueError(f"r and n must be (n_studies,), got {values.shape} and {sizes.shape}")
    if (np.abs(values) > 1).any():
        raise ValueError(f"r must be in [-1, 1], got {values[np.abs(values) > 1][0]}")
    if not ((sizes >= 2) & (sizes == np.floor(sizes))).all():
        raise ValueError(f"n must be whole numbers of at least 2, got {sizes.tolist()}")
    defined = ~np.isnan(values)
    values, sizes = values[defined], sizes[defined]
    if not values.size:
        return PooledCorrelation(np.nan, np.nan, np.nan, 0)
    total = float(sizes.sum())
    mean = float((sizes * values).sum() / total)
    observed = float((sizes * (values - mean) ** 2).sum() / total)
    sampling = (1.0 - mean**2) ** 2 / (total / values.size - 1.0)
    return PooledCorrelation(mean, observed, sampling, values.size)
