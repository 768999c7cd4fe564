"""Intervals of shares of outputs that come in units, such as documents, within which errors are correlated."""

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats, ratio


def proportion_interval(n_true: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Two-sided interval of a share of outputs, if whole units of outputs were sampled.

    n_true, n: (D, ...) outputs of each unit that have the property, and all its outputs. The interval is the exact one
    of Clopper and Pearson for the effective number of independent outputs. This is the number of outputs divided by the
    design effect, which is at least 1, and reduced further because the variance is estimated from only D units
    (quantiles of Student's t). A unit without outputs is ignored. From 0 to 1 with a single unit, NaN without any.
    Source: Korn and Graubard 1998.
    >>> low, high = proportion_interval(np.ones((6, 1)), np.ones((6, 1)))  # six of six: from .025 ** (1 / 6)
    >>> low.round(3).tolist(), high.tolist()
    ([0.541], [1.0])
    """
    from scipy.special import betaincinv, stdtrit

    of_units, all_of_units = np.asarray(n_true, dtype=np.float64), np.asarray(n, dtype=np.float64)
    total, units = all_of_units.sum(axis=0), (all_of_units > 0).sum(axis=0)
    share = ratio(of_units.sum(axis=0), total)
    tail = (1 - confidence) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = ((of_units - share * all_of_units) ** 2).sum(axis=0) * units / (units - 1) / total**2
        worth = np.where(spread > 0, np.minimum(share * (1 - share) / spread, total), total)
        of_outputs, of_few = stdtrit(np.maximum(total - 1, 1), tail), stdtrit(np.maximum(units - 1, 1), tail)
        worth = worth * np.where(units > 1, (of_outputs / of_few) ** 2, 0.0)
        low = np.where(share > 0, betaincinv(share * worth, worth - share * worth + 1, tail), 0.0)
        high = np.where(share < 1, betaincinv(share * worth + 1, worth - share * worth, 1 - tail), 1.0)
    nothing = total == 0
    return np.where(nothing, np.nan, np.where(worth > 0, low, 0.0)), np.where(
        nothing, np.nan, np.where(worth > 0, high, 1.0)
    )
