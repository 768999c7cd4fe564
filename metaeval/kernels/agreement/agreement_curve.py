"""How often a metric orders two systems as people do, by how far it puts them apart: isotonic regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats

TOLERANCE = 1e-12  # levels and fitted values nearer than this are equal


@dataclass(frozen=True)
class AgreementCurve:
    """A fitted curve; all arrays are (K,), one place for each distinct difference, ascending.

    fitted: share of pairs that the metric orders as people do, nowhere falling. at_least: pairs (their weights) whose
    difference is at least as large.
    """

    differences: Floats
    fitted: Floats
    at_least: Floats

    def value(self, differences: npt.ArrayLike) -> Floats:
        """The fitted share at differences, constant up to the next one observed; NaN below the smallest."""
        places = np.searchsorted(self.differences, np.asarray(differences, dtype=np.float64), side="right") - 1
        return np.where(places >= 0, self.fitted[np.maximum(places, 0)], np.nan)

    def smallest_difference(self, level: float) -> float:
        """The smallest observed difference whose fitted share is at least `level`; NaN where it is not reached.

        It is reached only where 1 / (1 - level) pairs are at least as far apart: the last few pairs of a fit may all
        agree by chance.
        """
        place = int(np.searchsorted(self.fitted, level - TOLERANCE))
        if place == len(self.fitted) or self.at_least[place] < 1 / (1 - level) - TOLERANCE:
            return float("nan")
        return float(self.differences[place])


def agreement_curve(
    differences: npt.ArrayLike, agrees: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> AgreementCurve:
    """The nowhere falling curve that is nearest to the pairs by weighted least squares (SciPy's isotonic regression).

    differences: (P,) absolute differences of a metric's system scores. agrees: (P,), whether the metric orders the pair
    as people do. weights: (P,), None for 1 each; pairs of weight 0 do not count. Equal differences are one place.
    Raises ValueError: shapes, a negative difference or weight, a NaN, or no pair that counts.
    >>> curve = agreement_curve([1, 2, 3, 3], [0, 1, 0, 1])
    >>> curve.differences.tolist(), curve.fitted.round(3).tolist(), curve.at_least.tolist()
    ([1.0, 2.0, 3.0], [0.0, 0.667, 0.667], [4.0, 3.0, 2.0])
    >>> curve.smallest_difference(0.6), curve.smallest_difference(0.7)
    (2.0, nan)
    """
    x, y = np.asarray(differences, dtype=np.float64), np.asarray(agrees, dtype=np.float64)
    w = np.ones(x.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or x.shape != w.shape:
        raise ValueError(f"expected (P,) differences, agreements and weights, got {x.shape}, {y.shape}, {w.shape}")
    if not (x >= 0).all() or not (w >= 0).all() or np.isnan(y).any():
        raise ValueError("differences and weights must be at least 0, and nothing may be NaN")
    if not w.any():
        raise ValueError("no pair of systems to fit a curve to")
    places, inverse = np.unique(x, return_inverse=True)
    total = np.bincount(inverse, weights=w).astype(np.float64)
    return fitted_curve(places, total, np.bincount(inverse, weights=w * y).astype(np.float64))


def fitted_curve(places: Floats, total: Floats, agreeing: Floats) -> AgreementCurve:
    """`agreement_curve` of differences that are ascending and distinct, (K,), with the weights of all pairs at each
    place and of those that agree.
    """
    from scipy.optimize import isotonic_regression

    there = total > 0
    n = total[there]
    fitted = isotonic_regression(agreeing[there] / n, weights=n).x
    return AgreementCurve(places[there], np.asarray(fitted, dtype=np.float64), np.cumsum(n[::-1])[::-1])
