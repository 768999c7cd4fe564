"""A trend over years: a weighted slope, and its p-value when the years are permuted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats

MOST_EXACT = 7  # years whose orders are all tried
FEWEST = 3  # years: two orders of two years say nothing
TOLERANCE = 1e-12


@dataclass(frozen=True)
class YearTrend:
    """slope: change of the value a year, NaN with fewer than 2 years. p: two-sided, NaN with fewer than 3 years.

    least: the smallest p that any order of these values could have. n_orders: orders tried; is_exact: all there are.
    """

    slope: float
    p: float
    least: float
    n_orders: int
    is_exact: bool


def slope_over_years(years: npt.ArrayLike, values: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """Weighted least-squares slope of values over years.

    >>> round(slope_over_years([2019, 2020, 2023], [0.1, 0.2, 0.5], [1, 1, 1]), 9)
    0.1
    """
    x, y, w = (np.asarray(one, dtype=np.float64) for one in (years, values, weights))
    return float(_slopes(x, y[np.newaxis], w[np.newaxis])[0])


def year_trend(
    years: npt.ArrayLike,
    values: npt.ArrayLike,
    variances: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_draws: int = 10_000,
) -> YearTrend:
    """Is there a trend? Null hypothesis: any value could stand at any year.

    years: (k,), all different. values: (k,) with their variances (k,), which stay with their values; a slope's weights
    are 1 / variance. p: share of the orders with |slope| >= the observed one, within a tolerance: all k! orders up to 7
    years, nothing added; else drawn ones with (b + 1) / (n + 1).
    Raises ValueError: shapes, a repeated year, a value that is not finite, a variance not above 0, n_draws below 1.
    >>> found = year_trend([2019, 2020, 2021], [0.1, 0.2, 0.3], [1, 1, 1], rng=np.random.default_rng(0))
    >>> round(found.p, 3), round(found.least, 3), found.n_orders
    (0.333, 0.333, 6)
    """
    x, y, v = (np.asarray(one, dtype=np.float64) for one in (years, values, variances))
    if x.ndim != 1 or not x.shape == y.shape == v.shape:
        raise ValueError(f"years, values and variances must be (n_years,), got {x.shape}, {y.shape} and {v.shape}")
    if len(np.unique(x)) != x.size:
        raise ValueError("a year stands there twice")
    if not np.isfinite(y).all() or not (np.isfinite(v) & (v > 0)).all():
        raise ValueError("values and variances must be finite, variances above 0")
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws}")
    k = x.size
    if k < 2:
        return YearTrend(np.nan, np.nan, np.nan, 0, is_exact=True)
    observed = float(_slopes(x, y[np.newaxis], 1 / v[np.newaxis])[0])
    if k < FEWEST:
        return YearTrend(observed, np.nan, np.nan, 2, is_exact=True)
    is_exact = k <= MOST_EXACT
    orders = (
        np.array(list(permutations(range(k))))
        if is_exact
        else rng.permuted(np.tile(np.arange(k), (n_draws, 1)), axis=1)
    )
    sizes = np.abs(_slopes(x, y[orders], 1 / v[orders]))
    limit = abs(observed) - TOLERANCE * max(1.0, abs(observed))
    n_as_large = int(np.count_nonzero(sizes >= limit))
    if not is_exact:
        return YearTrend(observed, (n_as_large + 1) / (n_draws + 1), 1 / (n_draws + 1), n_draws, is_exact=False)
    largest = float(sizes.max())
    n_largest = int(np.count_nonzero(sizes >= largest - TOLERANCE * max(1.0, largest)))
    return YearTrend(observed, n_as_large / factorial(k), n_largest / factorial(k), factorial(k), is_exact=True)


def _slopes(x: Floats, y: Floats, w: Floats) -> Floats:
    """(n,) slopes over x (k,) of each row of y (n, k) with weights w (n, k)."""
    total = w.sum(axis=1, keepdims=True)
    centred = x - (w * x).sum(axis=1, keepdims=True) / total
    slopes: Floats = (w * centred * y).sum(axis=1) / (w * centred**2).sum(axis=1)
    return slopes
