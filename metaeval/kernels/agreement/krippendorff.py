"""Krippendorff's alpha of interval data, for one set of judgements or for many resamples of it at once."""

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats


def interval_alpha(values: npt.ArrayLike, units: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
    """1 - observed / expected disagreement, with squared differences, in each resample: (n_draws,), at most 1.

    values: (n,) judgements, none missing. units: (n,) what each one judges, numbered from 0; units with one judgement
        do not count. weights: (n_draws, n_units) how often each unit is in a resample; None for once, in one draw.
    1: all agree; 0: judgements of one unit differ as those of different units do; below 0: more than that. NaN where
    all judgements that count are equal, or fewer than two do.
    Observed disagreement is 2 / n times the sum over units of m SS / (m - 1), with m judgements and SS their squared
    distances from their mean; expected disagreement 2 SS / (n - 1) over all n judgements that count.
    Raises ValueError: shapes, or a missing value.
    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section D, in closed form for the interval
    metric.
    >>> interval_alpha([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], [0, 0, 1, 1, 2, 2]).tolist()
    [1.0]
    """
    x, unit = np.asarray(values, dtype=np.float64), np.asarray(units, dtype=np.int64)
    if x.ndim != 1 or x.shape != unit.shape:
        raise ValueError(f"a unit for each judgement: values {x.shape}, units {unit.shape}")
    if np.isnan(x).any():
        raise ValueError("a judgement is missing: leave it out")
    n_units = int(unit.max(initial=-1)) + 1
    times = np.ones((1, n_units)) if weights is None else np.asarray(weights, dtype=np.float64)
    if times.ndim != 2 or times.shape[1] != n_units:
        raise ValueError(f"weights of {n_units} units, not {times.shape}")
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
