"""Pool several studies: by random effects (REML, Knapp-Hartung intervals), or correlations by sample size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats

CONFIDENCE = 0.95
TOLERANCE = 1e-12  # means and errors below this are rounding
FEWEST = 3  # studies for an interval
N_GRID = 40  # values of τ² that are tried first, from SMALLEST to LARGEST times the variance of the estimates
SMALLEST, LARGEST = 1e-4, 10.0


@dataclass(frozen=True)
class RandomEffects:
    """Estimates pooled over studies.

    mean: weighted by 1 / (variance + tau2). error: its Hartung-Knapp-Sidik-Jonkman standard error; low, high: the 95%
    interval with t(k - 1); p: two-sided, null hypothesis that the mean is 0; all four NaN with fewer than 3 studies.
    tau2: variance between studies. i2: its share of the total variance, in [0, 1]. n_studies: studies with a defined
    estimate.
    """

    mean: float
    error: float
    low: float
    high: float
    p: float
    tau2: float
    i2: float
    n_studies: int


def random_effects(estimates: npt.ArrayLike, variances: npt.ArrayLike) -> RandomEffects:
    """Pool the estimates of k studies.

    estimates: (k,), NaN = not defined, excluded. variances: (k,) squared standard errors, above 0, or all 0. τ² is
    estimated by restricted maximum likelihood, on a grid and then refined, so it cannot fail to converge. With one
    study, only its estimate is returned; with two, there is no interval. If the variances are 0, τ² is the sample
    variance.
    Raises ValueError: shapes, a variance below 0 or not finite, or some but not all variances of 0.
    Source: Viechtbauer 2005 (REML); Hartung and Knapp 2001, Sidik and Jonkman 2002 (interval); Higgins and Thompson
    2002, eq. 9 and 10 (I²).
    >>> found = random_effects([0.1, 0.3, 0.2], [0.01, 0.01, 0.01])
    >>> round(found.mean, 9), found.tau2
    (0.2, 0.0)
    """
    y, v = _checked(estimates, variances)
    k = y.size
    if k == 0:
        return RandomEffects(np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, 0)
    if k == 1:
        return RandomEffects(float(y[0]), np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, 1)
    tau2 = _between(y, v)
    mean, error = _mean(y, v, tau2)
    low = high = p = np.nan
    if k < FEWEST:
        error = np.nan
    else:
        from scipy.special import stdtrit  # here, so that commands start without SciPy

        width = float(stdtrit(k - 1, (1 + CONFIDENCE) / 2)) * error
        low, high = mean - width, mean + width
        p = two_sided(mean, error, k - 1)
    return RandomEffects(mean, error, low, high, p, tau2, heterogeneity(v, tau2), k)


def leave_one_out(estimates: npt.ArrayLike, variances: npt.ArrayLike) -> Floats:
    """(k,) pooled means, each without one of the studies; NaN for a study whose estimate is not defined."""
    y, v = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    kept = [np.arange(y.size) != place for place in range(y.size)]
    means = [random_effects(y[one], v[one]).mean for one in kept]
    return np.where(np.isnan(y), np.nan, np.array(means, dtype=np.float64))


def _checked(estimates: npt.ArrayLike, variances: npt.ArrayLike) -> tuple[Floats, Floats]:
    y, v = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if y.ndim != 1 or y.shape != v.shape:
        raise ValueError(f"estimates and variances must be (n_studies,), got {y.shape} and {v.shape}")
    defined = ~np.isnan(y)
    y, v = y[defined], v[defined]
    if not (np.isfinite(v) & (v >= 0)).all() or not np.isfinite(y).all():
        raise ValueError("estimates and variances must be finite, variances 0 or more")
    if (v == 0).any() and not (v == 0).all():
        raise ValueError("a study with variance 0 beside others would decide alone")
    return y, v


def _between(y: Floats, v: Floats) -> float:
    """τ² at the highest of possibly several maxima of the restricted likelihood: best of a grid, then refined."""
    from scipy.optimize import minimize_scalar

    spread = float(y.var(ddof=1))
    if (v == 0).all() or spread == 0:
        return spread
    grid = np.concatenate([[0.0], np.geomspace(SMALLEST, LARGEST, N_GRID) * (spread + float(v.mean()))])
    likelihood = _restricted_likelihood(y, v, grid)
    best = int(np.argmax(likelihood))
    ends = (grid[max(best - 1, 0)], grid[min(best + 1, N_GRID)])
    found = minimize_scalar(
        lambda tau2: -_restricted_likelihood(y, v, np.array([tau2]))[0],
        bounds=ends,
        method="bounded",
        options={"xatol": 1e-9 * (ends[1] - ends[0])},
    )
    return float(found.x) if -found.fun > likelihood[best] else float(grid[best])


def _restricted_likelihood(y: Floats, v: Floats, tau2: Floats) -> Floats:
    """(n,) restricted log-likelihood of each τ² (n,), up to a constant."""
    w = 1 / (v + tau2[:, np.newaxis])  # (n, k)
    total = w.sum(axis=1)
    mean = (w @ y) / total
    squares = (w * (y - mean[:, np.newaxis]) ** 2).sum(axis=1)
    found: Floats = 0.5 * (np.log(w).sum(axis=1) - np.log(total) - squares)
    return found


def _mean(y: Floats, v: Floats, tau2: float) -> tuple[float, float]:
    """The mean and its Knapp-Hartung standard error."""
    total = v + tau2
    w = 1 / total if (total > 0).all() else np.ones(y.size)
    mean = float((w * y).sum() / w.sum())
    return mean, float(np.sqrt((w * (y - mean) ** 2).sum() / (y.size - 1) / w.sum()))


def two_sided(mean: float, error: float, freedom: float) -> float:
    """Two-sided p by Student's t that a mean is 0; a mean and an error as small as rounding count as 0."""
    if abs(mean) <= TOLERANCE:
        return 1.0
    if error <= TOLERANCE:
        return 0.0
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(mean) / error))


def heterogeneity(v: Floats, tau2: float) -> float:
    """I²: τ² over τ² and the typical variance within a study."""
    if (v == 0).all():
        return 1.0 if tau2 > 0 else 0.0
    w = 1 / v
    typical = (v.size - 1) * w.sum() / (w.sum() ** 2 - (w**2).sum())
    return float(tau2 / (tau2 + typical))


@dataclass(frozen=True)
class PooledCorrelation:
    """mean: Σ n r / Σ n. observed_variance: Σ n (r − mean)² / Σ n. sampling_variance: variance expected from chance
    alone. n_studies: number of correlations included."""

    mean: float
    observed_variance: float
    sampling_variance: float
    n_studies: int


def hunter_schmidt(r: npt.ArrayLike, n: npt.ArrayLike) -> PooledCorrelation:
    """Mean correlation weighted by sample size, with its observed and its sampling variance.

    r: (n_studies,) correlations with their sign, in [−1, 1]; NaN = not defined, excluded and not counted in n_studies.
        n: (n_studies,) observations (systems) behind each, 2 or more.
    sampling_variance: (1 − mean²)² / (mean of n − 1). All results are NaN without studies.
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
