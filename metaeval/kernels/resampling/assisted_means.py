"""Means of human scores with a metric's help: annotators judge a sample, metrics score everything."""

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
    clusters: npt.ArrayLike | None = None,
    probabilities: npt.ArrayLike | None = None,
    confidence: float = 0.95,
    n_folds: int = N_FOLDS,
) -> AssistedMean:
    """Mean human score over all N outputs, of which annotators judged a random sample of n.

    judged: (n,) human scores, or differences of two systems. metric_judged: (n,) a metric's scores of the same outputs,
        or (n_metrics, n). metric_all: (N,) or (n_metrics, N), its scores of all outputs, including the judged ones.
    clusters: (n,) outputs with the same number, such as outputs of one document, were sampled together. None: each
    output by itself.
    probabilities: (n,) sampling probability of each judged output, in (0, 1]. None: n / N for all.
    The estimate is mean(y - λ (m - mean of m over all N)) for any metric: a useless metric gets a slope λ near 0. With
    probabilities, the mean is weighted by their inverse. Slopes come from the other folds (output, or cluster, i is in
    fold i modulo n_folds), so that no output helps to choose its own slope; the slopes of several metrics are shrunk
    (ridge, with the penalty of Hoerl, Kennard and Baldwin 1975). The interval is for the mean over these N outputs; it
    uses t with as many degrees of freedom as outputs or clusters, minus 1, and its width is 0 if n = N. The judged
    outputs must be a random sample, and in random order.
    Raises ValueError: shapes that do not match, a missing value, fewer than 5 judged outputs or clusters, more outputs
        than N, or a probability outside (0, 1].
    Source: control variates; PPI++ (Angelopoulos, Duchi and Zrnic 2023), cross-fitted. The λ of PPI++ is (1 - n / N)
    times this λ, because its metric scores are for outputs without a judgement. Weights: Hájek's estimator.
    """
    from scipy.special import stdtrit

    y, m, population = _checked(judged, metric_judged, metric_all)
    n, n_all = len(y), population.shape[1]
    number = _numbered(clusters, n)
    chance = _probabilities(probabilities, n, n_all)
    n_units = int(number.max()) + 1
    if n_units < _FEWEST:
        raise ValueError(f"{n_units} clusters are too few; at least {_FEWEST} are needed")
    weights = 1 / chance
    centre = population.mean(axis=1, keepdims=True)
    folds: Ints = number % min(n_folds, n_units)
    adjusted = np.empty(n)
    for fold in np.unique(folds):
        is_out = folds == fold
        slope = _slopes(y[~is_out], m[:, ~is_out])
        adjusted[is_out] = y[is_out] - slope @ (m[:, is_out] - centre)

    def spread(values: Floats, kept: Floats) -> float:
        """Variance of the weighted mean; kept: (n,) share of each output's variance that sampling leaves."""
        residuals = weights * np.sqrt(kept) * (values - np.average(values, weights=weights))
        totals = np.bincount(number, residuals, minlength=n_units)
        return float(n_units / (n_units - 1) * (totals**2).sum() / weights.sum() ** 2)

    half = stdtrit(n_units - 1, (1 + confidence) / 2) * np.sqrt(spread(adjusted, 1 - chance))
    estimate = np.average(adjusted, weights=weights)
    plain = spread(y, np.ones(n))
    saved = 1 - spread(adjusted, np.ones(n)) / plain if plain > 0 else float("nan")
    return AssistedMean(float(estimate), float(estimate - half), float(estimate + half), float(saved))


def _numbered(clusters: npt.ArrayLike | None, n: int) -> Ints:
    """The number of each output's cluster, in order of first appearance."""
    if clusters is None:
        return np.arange(n)
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise ValueError(f"clusters must be (n,) = ({n},), got {labels.shape}")
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number])


def _probabilities(probabilities: npt.ArrayLike | None, n: int, n_all: int) -> Floats:
    if probabilities is None:
        return np.full(n, n / n_all)
    chance = np.asarray(probabilities, dtype=np.float64)
    if chance.shape != (n,) or not ((chance > 0) & (chance <= 1)).all():
        raise ValueError(f"probabilities must be (n,) = ({n},), above 0 and at most 1")
    return chance


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
    if len(z) == 1:
        slopes[has_spread] = z @ y / len(y) / spread[has_spread]
        return slopes
    products, target = z @ z.T, z @ (y - y.mean())
    plain = np.linalg.lstsq(products, target, rcond=None)[0]
    penalty = 0.0
    if len(z) > 1:
        noise = ((y - y.mean() - plain @ z) ** 2).sum() / max(len(y) - len(z) - 1, 1)
        penalty = len(z) * noise / max(float(plain @ plain), 1e-300)
    ridge = np.linalg.lstsq(products + penalty * np.eye(len(z)), target, rcond=None)[0]
    slopes[has_spread] = ridge / spread[has_spread]
    return slopes
