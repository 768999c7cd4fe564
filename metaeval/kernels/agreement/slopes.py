"""Slopes of values over years or another property: permutation test, and a model with random rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from math import factorial

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.studies import CONFIDENCE, FEWEST, RandomEffects, heterogeneity, two_sided
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

MOST_EXACT = 7  # years whose orders are all tried
TOLERANCE = 1e-12


@dataclass(frozen=True)
class YearTrend:
    """slope: change of the value per year, NaN with fewer than 2 years. p: two-sided, NaN with fewer than 3 years.

    least: the smallest p that any order of these values could have. n_orders: orders tried; is_exact: all orders were
    tried.
    """

    slope: float
    p: float
    least: float
    n_orders: int
    is_exact: bool


def year_trend(
    years: npt.ArrayLike,
    values: npt.ArrayLike,
    variances: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_draws: int = 10_000,
) -> YearTrend:
    """Test for a trend. Null hypothesis: the values are exchangeable between years.

    years: (k,), all different. values: (k,) with their variances (k,), which stay with their values; a slope's weights
    are 1 / variance. p: share of the orders with |slope| >= the observed one, within a tolerance. Up to 7 years all k!
    orders are tried and nothing is added; with more, orders are drawn and p is (b + 1) / (n + 1).
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


RATIOS = (0.0, 0.02, 0.06, 0.16, 0.4, 1.0, 3.0, 10.0, 50.0, 500.0)  # of a variance to the residual one, tried first
LARGEST, LINEAR = 1e6, 0.01  # ratios are searched on a scale that is logarithmic from LINEAR on
LEAST = 0.6
EXACT = 1e-13  # of the sum of squares: residuals that are rounding noise
Ratios = tuple[float, float, float]  # σ_u², τ² and σ_f² over σ_e²


@dataclass(frozen=True)
class CrossedSlope:
    """The slope of values over the x of their columns.

    pooled: mean = the slope, with its error, interval and p by Student's t, NaN with fewer than 3 rows or families;
    tau2 = variance of the slope between rows, i2 = its share of the variance of one row's slope, n_studies = rows.
    column_sd: standard deviation of a column's distance from the line, shared by all rows; family_sd: the part of it
    that families share.
    residual_sd: standard deviation of a value in a row of scale 1. n_columns, n_families: columns and families with
    values. pull: (C,) share of each column in what f and u add to the slope's variance, from its covariance with the
    total; the sum is 1. without_row, without_column: (R,), (C,) the slope without each row or column, at the variances
    of all data; NaN if no slope is left.
    freedom: degrees of freedom of t.
    """

    pooled: RandomEffects
    freedom: float
    column_sd: float
    family_sd: float
    residual_sd: float
    n_columns: int
    n_families: int
    pull: Floats
    without_row: Floats
    without_column: Floats


def crossed_slope(
    values: npt.ArrayLike, x: npt.ArrayLike, scales: npt.ArrayLike, families: npt.ArrayLike | None = None
) -> CrossedSlope:
    """Fit v[r, c] = a[r] + (b + t[r]) x[c] + f[family of c] + u[c] + e[r, c] by restricted maximum likelihood.

    The a are constants; t, f, u and e are normal with variances τ², σ_f², σ_u² and σ_e² scales[r]; b is estimated by
    generalised least squares. Degrees of freedom: see `_freedom`. If each family has one column, there is no f.
    values: (R, C), NaN = missing; each row must have values at two different x. x: (C,). scales: (R,), above 0.
    families: (C,) labels; None = each column by itself. The error is 0 if all rows lie on parallel lines.
    Raises ValueError: shapes, scales, a row with values at fewer than two x.
    Source: Patterson and Thompson 1971 (restricted likelihood); Baayen et al. 2008 (crossed random effects).
    >>> found = crossed_slope([[1.0, 2.0, 3.1], [4.0, 5.0, 6.0], [1.0, 2.0, 2.9]], [0, 1, 2], [1, 1, 1])
    >>> round(found.pooled.mean, 9), found.n_columns, found.pull.round(9).tolist()
    (1.0, 3, [0.5, 0.0, 0.5])
    """
    data = _Data(*_checked(values, x, scales, families))
    ratios = _ratios(data)
    solved = data.solved(*ratios)
    (n_rows, n_columns), n = data.values.shape, int(data.is_defined.any(axis=0).sum())
    n_families = len(np.unique(data.families[data.is_defined.any(axis=0)]))
    residual = 0.0 if data.is_exact else solved.squares / data.freedom
    error = low = high = p = freedom = np.nan
    if min(n_rows, n_families) >= FEWEST:
        from scipy.special import stdtrit  # here, so that commands start without SciPy

        error = float(np.sqrt(residual / solved.information))
        freedom = _freedom(data, solved, ratios, n_families)
        width = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
        low, high, p = solved.slope - width, solved.slope + width, two_sided(solved.slope, error, freedom)
    tau2 = ratios[1] * residual
    i2 = heterogeneity(residual * data.scales / data.spread, tau2) if n_rows > 1 else np.nan
    rows, columns = np.arange(n_rows), np.arange(n_columns)
    pull = solved.of_columns * (
        data.shared(*(ratios if ratios[0] + ratios[2] > 0 else (1.0, 0.0, 0.0))) @ solved.of_columns
    )
    return CrossedSlope(
        pooled=RandomEffects(solved.slope, error, low, high, p, tau2, i2, n_rows),
        freedom=freedom,
        column_sd=float(np.sqrt((ratios[0] + ratios[2]) * residual)),
        family_sd=float(np.sqrt(ratios[2] * residual)),
        residual_sd=float(np.sqrt(residual)),
        n_columns=n,
        n_families=n_families,
        pull=pull / pull.sum(),
        without_row=np.array([data.only(rows != row, columns >= 0).slope(ratios) for row in rows]),
        without_column=np.array([data.only(rows >= 0, columns != one).slope(ratios) for one in columns]),
    )


def _checked(
    values: npt.ArrayLike, x: npt.ArrayLike, scales: npt.ArrayLike, families: npt.ArrayLike | None
) -> tuple[Floats, Floats, Floats, Ints]:
    v, years, k = (np.asarray(one, dtype=np.float64) for one in (values, x, scales))
    if v.ndim != 2 or years.shape != v.shape[1:] or k.shape != v.shape[:1]:
        raise ValueError(f"values, x and scales must be (R, C), (C,) and (R,), got {v.shape}, {years.shape}, {k.shape}")
    if not (np.isfinite(k) & (k > 0)).all() or not np.isfinite(years).all():
        raise ValueError("x and scales must be finite, scales above 0")
    if not _has_two(v, years).all() or not len(v):
        raise ValueError("each row needs values at two x")
    labels = np.arange(years.size) if families is None else np.unique(np.asarray(families), return_inverse=True)[1]
    if labels.shape != years.shape:
        raise ValueError(f"families must be ({years.size},), got {labels.shape}")
    return v, years - years.mean(), k, labels


def _has_two(values: Floats, x: Floats) -> Bools:
    there = ~np.isnan(values)
    found: Bools = np.where(there, x, -np.inf).max(axis=1) > np.where(there, x, np.inf).min(axis=1)
    return found


@dataclass(frozen=True)
class _Solution:
    """Estimate of b for given variances, with residual variance 1: its information (1 / variance), the weighted sum of
    squared residuals, -2 log-likelihood without these, and how much b changes if all values of a column grow by 1,
    (C,), or if the slope of a row does, (R,).
    """

    slope: float
    information: float
    squares: float
    determinant: float
    of_columns: Floats
    of_rows: Floats


@dataclass(frozen=True)
class _Data:
    """Values, x and scales, and the quantities shared by all variances; rows are centred to remove their constants."""

    values: Floats
    x: Floats
    scales: Floats
    families: Ints  # (C,)

    def only(self, rows: Bools, columns: Bools) -> _Data:
        """A part of the data, without rows that no longer have values at two x."""
        values = self.values[np.ix_(rows, columns)]
        if not values.size:
            return _Data(values, self.x[columns], self.scales[rows], self.families[columns])
        kept = _has_two(values, self.x[columns])
        return _Data(values[kept], self.x[columns], self.scales[rows][kept], self.families[columns])

    @cached_property
    def same_family(self) -> Floats:
        """(C, C) 1 where two columns belong to the same family."""
        found: Floats = (self.families[:, np.newaxis] == self.families).astype(np.float64)
        return found

    @property
    def has_families(self) -> bool:
        return bool(self.same_family.sum() > len(self.x))

    def shared(self, column: float, slope: float, family: float) -> Floats:
        """(C, C) covariance of the column effects, which are shared by all rows."""
        found: Floats = column * np.eye(len(self.x)) + family * self.same_family
        return found

    def slope(self, ratios: Ratios) -> float:
        return self.solved(*ratios).slope if self.values.size else float("nan")

    @cached_property
    def is_defined(self) -> Bools:
        found: Bools = ~np.isnan(self.values)
        return found

    @cached_property
    def y(self) -> Floats:
        return self._centred(self.values)

    @cached_property
    def rows_x(self) -> Floats:
        """(R, C) x centred in each row, 0 where there is no value."""
        return self._centred(np.broadcast_to(self.x, self.values.shape))

    def _centred(self, of: Floats) -> Floats:
        mean = np.where(self.is_defined, of, 0.0).sum(axis=1) / self.is_defined.sum(axis=1)
        found: Floats = np.where(self.is_defined, of - mean[:, np.newaxis], 0.0)
        return found

    @cached_property
    def spread(self) -> Floats:
        """(R,) sum of squares of x."""
        found: Floats = (self.rows_x**2).sum(axis=1)
        return found

    @cached_property
    def between_columns(self) -> Floats:
        """(C, C) sum over rows of (identity - 1/n) / scale on the row's columns: the precision without row slopes."""
        there, n = self.is_defined.astype(np.float64), self.is_defined.sum(axis=1)
        found: Floats = np.diag((there / self.scales[:, np.newaxis]).sum(axis=0))
        found -= (there / (self.scales * n)[:, np.newaxis]).T @ there
        return found

    @property
    def freedom(self) -> int:
        return int(self.is_defined.sum()) - len(self.values) - 1

    @cached_property
    def is_exact(self) -> bool:
        """Whether parallel lines fit exactly, or no degrees of freedom are left for residuals."""
        noise = EXACT * float((self.y**2).sum()) + EXACT**2 * float(np.nansum(self.values**2))
        return self.freedom < 1 or self.solved(0.0, 0.0, 0.0).squares <= noise

    def solved(self, column: float, slope: float, family: float) -> _Solution:
        """column, slope, family: σ_u², τ² and σ_f² over σ_e².

        A row's precision is (identity - 1/n - κ x xᵀ) / scale with κ = slope / (scale + slope Σ x²), x centred. The
        precisions of all rows add up, and u and f enter through the matrix (identity + precision covariance) of
        columns.
        """
        own = self.scales + slope * self.spread
        kappa = slope / own / self.scales
        xy = (self.rows_x * self.y).sum(axis=1)
        precision = self.between_columns - (self.rows_x * kappa[:, np.newaxis]).T @ self.rows_x
        of_y = (self.y / self.scales[:, np.newaxis]).sum(axis=0) - (kappa * xy) @ self.rows_x
        of_x = precision @ self.x
        squares = float(((self.y**2).sum(axis=1) / self.scales).sum() - (kappa * xy**2).sum())
        shared = self.shared(column, slope, family)
        matrix = np.eye(len(self.x)) + precision @ shared
        inner = np.linalg.solve(matrix, np.column_stack([of_x, of_y]))
        information = float(self.x @ inner[:, 0])
        found = float(self.x @ inner[:, 1]) / information
        squares -= float(of_y @ shared @ inner[:, 1]) + found**2 * information
        n = self.is_defined.sum(axis=1)
        determinant = float(((n - 2) * np.log(self.scales) + np.log(own)).sum() + np.linalg.slogdet(matrix)[1])
        of_columns = inner[:, 0] / information
        of_rows = self.rows_x @ (self.x / information - shared @ of_columns) / own
        return _Solution(found, information, squares, determinant + np.log(information), of_columns, of_rows)


def _freedom(data: _Data, solved: _Solution, ratios: Ratios, n_families: int) -> float:
    """Degrees of freedom of b's variance, which is the sum of the contributions of f and u, of t, and of e.

    The smaller of two numbers. The first is Satterthwaite's, from families - 2 (a column without a family counts as
    one), rows - 1 and the residuals' own degrees of freedom. The second is families - 2 times a factor from 1, if f and
    u make up the whole variance, to 1.5, if they contribute nothing. Variances of u and t are easily estimated as 0, so
    t counts as at least LEAST of what u leaves. These rules hold their level in simulation
    (`benchmarks/bench_progress.py`).
    Source: Satterthwaite 1946.
    """
    n_rows, of_columns = len(data.values), n_families - 2
    columns = min(float(solved.of_columns @ data.shared(*ratios) @ solved.of_columns) * solved.information, 1.0)
    rows = min(ratios[1] * float((solved.of_rows**2).sum()) * solved.information, 1.0 - columns)
    rows = max(rows, LEAST * (1.0 - columns))
    of_rest = max(data.freedom - of_columns - (n_rows - 1), 1)
    parts = columns**2 / of_columns + rows**2 / (n_rows - 1) + (1.0 - columns - rows) ** 2 / of_rest
    return min(1 / parts, of_columns * (1.5 - columns / 2))


def _ratios(data: _Data) -> Ratios:
    """σ_u², τ² and σ_f² over σ_e² at the highest restricted likelihood: the best point of a grid, then refined."""
    if data.is_exact:
        return 0.0, 0.0, 0.0
    from scipy.optimize import minimize

    typical = np.array([1.0, np.median(data.spread / data.scales), 1.0])

    def ratios(steps: npt.ArrayLike) -> Ratios:
        column, slope, family = LINEAR * np.expm1(np.asarray(steps, dtype=np.float64)) / typical
        return float(column), float(slope), float(family)

    def deviance(steps: npt.ArrayLike) -> float:
        solved = data.solved(*ratios(steps))
        return solved.determinant + data.freedom * float(np.log(max(solved.squares, np.finfo(float).tiny)))

    steps, largest = np.log1p(np.array(RATIOS) / LINEAR), float(np.log1p(LARGEST / LINEAR))
    of_slopes = steps if len(data.values) > 1 else steps[:1]  # of one row the slope is no sample
    of_families = steps[::2] if data.has_families else steps[:1]
    best = min(product(steps, of_slopes, of_families), key=deviance)
    bounds = [(0.0, largest if len(tried) > 1 else 0.0) for tried in (steps, of_slopes, of_families)]
    # Near its top the likelihood is so flat that a gradient by differences stops early, elsewhere in each SciPy.
    refined = minimize(deviance, best, bounds=bounds, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-8})
    return ratios(refined.x if refined.fun < deviance(best) else best)
