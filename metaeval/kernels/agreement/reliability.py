"""Reliability: of halves, and of the whole that they make up."""

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats


def spearman_brown(half: npt.ArrayLike) -> Floats:
    """Reliability of the whole by that of two equal halves, 2r / (1 + r); NaN below 0, where halves share nothing.

    half: correlations of one half with the other, of any shape.
    >>> spearman_brown([0.5, 0.0, -0.1]).round(6).tolist()
    [0.666667, 0.0, nan]
    """
    r = np.asarray(half, dtype=np.float64)
    return np.asarray(np.divide(2 * r, 1 + r, out=np.full(r.shape, np.nan), where=r >= 0))


def slopes(x: npt.ArrayLike, y: npt.ArrayLike, weights: npt.ArrayLike) -> Floats:
    """Least-squares slope of y on x in each resample: (n_draws,); NaN where all x that count are equal.

    x, y: (n,), none missing. weights: (n_draws, n) how often each counts.
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
