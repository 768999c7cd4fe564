"""Reliability of annotators, of halves, and of the whole; and drift of values over an order."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats


def interval_alpha(values: npt.ArrayLike, units: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
    """1 - observed / expected disagreement, with squared differences, in each resample: (n_draws,), at most 1.

    values: (n,) judgements, none missing. units: (n,) the judged unit of each judgement, numbered from 0; units with
        one judgement do not count. weights: (n_draws, n_units) how often each unit is in a resample; None for one draw
        with each unit once.
    1: all agree. 0: judgements of one unit differ as much as judgements of different units. Below 0: they differ more
    than that. NaN if all judgements that count are equal, or if fewer than two count.
    Observed disagreement is 2 / n times the sum over units of m SS / (m - 1), with m judgements and SS their squared
    distances from their mean; expected disagreement 2 SS / (n - 1) over all n judgements that count.
    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section D, in closed form for the interval
    metric.
    >>> interval_alpha([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], [0, 0, 1, 1, 2, 2]).tolist()
    [1.0]
    """
    x, unit = np.asarray(values, dtype=np.float64), np.asarray(units, dtype=np.int64)
    n_units = int(unit.max(initial=-1)) + 1
    times = np.ones((1, n_units)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not n_units:
        return np.full(len(times), np.nan)
    m = np.bincount(unit, minlength=n_units).astype(np.float64)
    is_shared = m > 1
    kept = is_shared[unit]
    x, unit = x[kept], unit[kept]
    x = x - (x.mean() if x.size else 0.0)  # sums of squares of large numbers would lose their digits
    total = np.bincount(unit, x, minlength=n_units)
    squares = np.bincount(unit, x * x, minlength=n_units)
    mean = np.divide(total, m, out=np.zeros(n_units), where=is_shared)
    within = np.bincount(unit, (x - mean[unit]) ** 2, minlength=n_units)
    factor = np.divide(m, m - 1, out=np.zeros(n_units), where=is_shared)
    times = times * is_shared
    n = times @ m  # (n_draws, n_units) @ (n_units,) -> (n_draws,)
    observed = times @ (factor * within)
    around = times @ squares - np.divide((times @ total) ** 2, n, out=np.zeros(len(n)), where=n > 0)
    scale = times @ squares
    is_defined = (n > 1) & (around > 1e-12 * scale) & (scale > 0)
    share = np.divide(observed * (n - 1), n * around, out=np.full(len(n), np.nan), where=is_defined)
    return np.asarray(1.0 - share)


FEWEST_UNITS = 5  # for an interval of drift
CONFIDENCE = 0.95


def spearman_brown(half: npt.ArrayLike) -> Floats:
    """Reliability of the whole from the correlation r of two equal halves, 2r / (1 + r); NaN if r is below 0.

    half: correlations of one half with the other, of any shape; below 0 the halves share nothing.
    >>> spearman_brown([0.5, 0.0, -0.1]).round(6).tolist()
    [0.666667, 0.0, nan]
    """
    r = np.asarray(half, dtype=np.float64)
    return np.asarray(np.divide(2 * r, 1 + r, out=np.full(r.shape, np.nan), where=r >= 0))


def slopes(x: npt.ArrayLike, y: npt.ArrayLike, weights: npt.ArrayLike) -> Floats:
    """Least-squares slope of y on x in each resample: (n_draws,); NaN if all x in the resample are equal.

    x, y: (n,), none missing. weights: (n_draws, n) how often each point counts.
    >>> slopes([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], [[1, 1, 1], [2, 1, 0]]).round(12).tolist()
    [2.0, 2.0]
    """
    times = np.asarray(weights, dtype=np.float64)
    across = np.asarray(x, dtype=np.float64)
    up = np.asarray(y, dtype=np.float64)
    across, up = across - across.mean(), up - up.mean()
    n = times.sum(axis=1)
    n = np.where(n > 0, n, np.nan)
    mean = times @ across / n
    squares = times @ across**2 - n * mean**2
    products = times @ (across * up) - mean * (times @ up)
    least = 1e-12 * float(across @ across)
    return np.asarray(np.divide(products, squares, out=np.full(len(n), np.nan), where=squares > least))


@dataclass(frozen=True)
class Interval:
    """A value with its two-sided interval; NaN where undefined."""

    value: float
    low: float
    high: float


def drift(values: npt.ArrayLike, units: npt.ArrayLike) -> Interval:
    """Least-squares slope of values over their places from 0 to 1, and its 95% interval by the jackknife over units.

    values: (n,) in order. units: (n,) label of each value's unit, such as the document of a judgement. With b_u the
    slope without unit u and U units, the standard error is √((U - 1) / U Σ (b_u - b)²), and the interval uses t(U - 2).
    There is no slope with fewer than 3 values, and no interval with fewer than 5 units.
    >>> found = drift([1, 2, 1, 2, 3, 2], ["a", "b", "c", "d", "e", "f"])
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (1.2857, -1.1786, 3.75)
    """
    y = np.asarray(values, dtype=np.float64)
    found, number = np.unique(np.asarray(units), return_inverse=True)
    n = len(found)
    if y.size < 3:
        return Interval(np.nan, np.nan, np.nan)
    place = np.arange(y.size) / (y.size - 1)
    value = float(slopes(place, y, np.ones((1, y.size)))[0])
    if n < FEWEST_UNITS:
        return Interval(value, np.nan, np.nan)
    from scipy.special import stdtrit  # here, so that commands start without SciPy

    without = slopes(place, y, (number != np.arange(n)[:, np.newaxis]).astype(np.float64))
    error = float(np.sqrt((n - 1) / n * ((without - value) ** 2).sum()))
    width = float(stdtrit(n - 2, (1 + CONFIDENCE) / 2)) * error
    return Interval(value, value - width, value + width)
