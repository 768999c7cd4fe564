"""AutoRank: one rank for each system from the mean scores of several metrics, without human scores."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats


@dataclass(frozen=True)
class AutoRank:
    """z: (N,), mean over metrics of the scaled system scores, higher is better. rank: (N,), 1 for the best, N for the
    worst, the others in between by their distance."""

    z: Floats
    rank: Floats


def autorank(scores: npt.ArrayLike, low: float = 25.0, high: float = 100.0) -> AutoRank:
    """Systems ranked by several metrics.

    scores: (n_metrics, n_systems), higher is better. Each metric is centred at its median and divided by the distance
        of two percentiles over systems (linear interpolation): `high` and `low`, which the worst systems do not move.
    A metric whose percentiles are equal tells no systems apart, and makes z NaN. Where z is equal for all systems, all
        have rank 1.
    Raises ValueError: no metric, fewer than two systems, a score that is not finite, or not low < high.
    Source: Kocmi et al. 2025, preliminary ranking of WMT25, section "AutoRank".
    >>> autorank([[4.0, 3.0, 2.0, 1.0, 0.0]]).rank.tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or not values.shape[0] or values.shape[1] < 2:
        raise ValueError(f"scores must be (n_metrics, n_systems) with a metric and two systems, not {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("scores must be finite")
    if not 0 <= low < high <= 100:
        raise ValueError(f"percentiles must be 0 <= low < high <= 100, not {low} and {high}")
    lower, middle, upper = np.percentile(values, (low, 50.0, high), axis=1)  # (n_metrics,) each
    spread = np.where(upper > lower, upper - lower, np.nan)
    z = np.mean((values - middle[:, np.newaxis]) / spread[:, np.newaxis], axis=0)
    span = z.max() - z.min()
    share = (z.max() - z) / span if span != 0 else np.zeros_like(z)
    return AutoRank(z, 1 + (values.shape[1] - 1) * share)
