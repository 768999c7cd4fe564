"""Where two scorers differ most: differences of standardised scores, in their own standard deviations."""

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats

EQUAL = 1e-9  # a spread of standardised differences below this is rounding: the scorers differ by scale alone


def standardised(scores: npt.ArrayLike) -> Floats:
    """Scores minus their mean, divided by their standard deviation (n - 1); NaN stays, and does not count.

    All NaN where fewer than two scores are there, or all are equal.
    >>> standardised([1.0, 2.0, 3.0]).tolist()
    [-1.0, 0.0, 1.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    there = values[~np.isnan(values)]
    if there.size < 2 or there.min() == there.max():
        return np.full(values.shape, np.nan)
    return np.asarray((values - there.mean()) / there.std(ddof=1))


def ranked(scores: npt.ArrayLike) -> Floats:
    """Ranks of scores from 1, the lowest, equal scores at their mean rank; NaN stays, and does not count. Shape (n,).

    >>> ranked([5.0, 5.0, -1.0]).tolist()
    [2.5, 2.5, 1.0]
    """
    from scipy.stats import rankdata

    return np.asarray(rankdata(scores, nan_policy="omit"), dtype=np.float64)


def standardised_difference(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """(z(first) - z(second)) / s, with s the standard deviation (n - 1) of the differences; positive: first is higher.

    first, second: scores of the same outputs, of any one shape; NaN in either excludes the output. The residual from
        the standardised major axis, which treats both scorers alike: exchanging them changes its sign. s is the square
        root of 2(1 - r), r being Pearson's correlation of the two.
    All NaN where a scorer is constant; 0 where both give the same standardised scores.
    Raises ValueError: shapes differ.
    >>> standardised_difference([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 3.0, 2.0]).round(6).tolist()
    [0.0, 0.0, -1.224745, 1.224745]
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape:
        raise ValueError(f"scores of the same outputs have one shape, not {one.shape} and {other.shape}")
    both = ~(np.isnan(one) | np.isnan(other))
    apart = standardised(np.where(both, one, np.nan)) - standardised(np.where(both, other, np.nan))
    there = apart[~np.isnan(apart)]
    if not there.size:
        return apart
    spread = there.std(ddof=1)
    if spread < EQUAL:
        return np.where(np.isnan(apart), np.nan, 0.0)
    return np.asarray(apart / spread)
