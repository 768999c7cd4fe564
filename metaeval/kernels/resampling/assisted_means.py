"""Means of human scores with a metric's help: people judge a sample, metrics score everything."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats, Ints

N_FOLDS = 10
_FEWEST = 5


class AssistedMean(NamedTuple):
    """Estimate of the mean over all outputs, its interval, and the share of judgements that the metric saves.

    saved: 1 - variance of the estimate / variance of the plain mean of the judged outputs; below 0 where the metric
    only adds noise.
    """

    estimate: float
    low: float
    high: float
    saved: float


def assisted_mean(
    judged: npt.ArrayLike,
    metric_judged: npt.ArrayLike,
    metric_all: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    n_folds: int = N_FOLDS,
) -> AssistedMean:
    """Mean human score over all N outputs, of which people judged a random sample of n.

    judged: (n,) human scores, or differences of two systems. metric_judged: (n,) a metric's scores of the same, or
        (n_metrics, n). metric_all: (N,) or (n_metrics, N), its scores of all outputs, the judged ones included.
    The estimate is mean(y - λ (m - mean of m over all N)), whatever the metric is worth: a useless one gets a slope λ
    near 0. Slopes come from the other folds (output i is in fold i modulo n_folds), so that no output helps to choose
    its own; those of several metrics are shrunk (ridge, with the penalty of Hoerl, Kennard and Baldwin 1975). The
    interval is for the mean over these N outputs, by t with n - 1 degrees of freedom: its width is 0 where n = N.
    The judged outputs must be a random sample, and in random order.
    Raises ValueError: shapes that do not fit, a missing value, fewer than 5 judged outputs, or more than N.
    Source: control variates; PPI++ (Angelopoulos, Duchi and Zrnic 2023), cross-fitted.
    """
    from scipy.stats import t

    y, m, population = _checked(judged, metric_judged, metric_all)
    n, n_all = len(y), population.shape[1]
    centre = population.mean(axis=1, keepdims=True)
    folds: Ints = np.arange(n) % min(n_folds, n)
    adjusted = np.empty(n)
    for fold in np.unique(folds):
        is_out = folds == fold
        slope = _slopes(y[~is_out], m[:, ~is_out])
        adjusted[is_out] = y[is_out] - slope @ (m[:, is_out] - centre)
    variance, plain = adjusted.var(ddof=1), y.var(ddof=1)
    half = t.ppf((1 + confidence) / 2, n - 1) * np.sqrt(variance * (1 / n - 1 / n_all))
    estimate = adjusted.mean()
    saved = 1 - variance / plain if plain > 0 else float("nan")
    return AssistedMean(float(estimate), float(estimate - half), float(estimate + half), float(saved))


def _checked(
    judged: npt.ArrayLike, metric_judged: npt.ArrayLike, metric_all: npt.ArrayLike
) -> tuple[Floats, Floats, Floats]:
    y = np.asarray(judged, dtype=np.float64)
    m, population = (np.atleast_2d(np.asarray(scores, dtype=np.float64)) for scores in (metric_judged, metric_all))
    if y.ndim != 1 or m.ndim != 2 or population.ndim != 2 or m.shape[1] != len(y) or len(m) != len(population):
        raise ValueError(
            f"judged must be (n,), metric_judged (n,) or (n_metrics, n), metric_all (N,) or (n_metrics, N), "
            f"got {y.shape}, {m.shape} and {population.shape}"
        )
    if not all(np.isfinite(values).all() for values in (y, m, population)):
        raise ValueError("scores must be finite: leave outputs without a metric score out of all arrays")
    if len(y) < _FEWEST:
        raise ValueError(f"{len(y)} judged outputs are too few; at least {_FEWEST} are needed")
    if len(y) > population.shape[1]:
        raise ValueError(f"{len(y)} outputs are judged, but the metric scores only {population.shape[1]}")
    return y, m, population


def _slopes(y: Floats, m: Floats) -> Floats:
    """Slope of each metric for predicting y: (n_metrics,), 0 for a metric without spread."""
    centred = m - m.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1))
    has_spread = spread > 1e-12 * np.abs(m).max(axis=1, initial=1e-300)
    slopes = np.zeros(len(m))
    if not has_spread.any():
        return slopes
    z = centred[has_spread] / spread[has_spread, np.newaxis]
    products, target = z @ z.T, z @ (y - y.mean())
    plain = np.linalg.lstsq(products, target, rcond=None)[0]
    penalty = 0.0
    if len(z) > 1:
        noise = ((y - y.mean() - plain @ z) ** 2).sum() / max(len(y) - len(z) - 1, 1)
        penalty = len(z) * noise / max(float(plain @ plain), 1e-300)
    ridge = np.linalg.lstsq(products + penalty * np.eye(len(z)), target, rcond=None)[0]
    slopes[has_spread] = ridge / spread[has_spread]
    return slopes
