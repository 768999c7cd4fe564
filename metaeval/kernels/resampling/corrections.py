"""Corrections of p-values for several comparisons at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats

Correction = Literal["none", "holm", "bh"]


def holm(p: npt.ArrayLike) -> Floats:
    """Holm's step-down adjusted p-values (family-wise error), in the shape of p; NaN is no test and stays.

    Raises ValueError: a p-value outside [0, 1]. Source: Holm 1979.
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    return _of_tests(p, _holm)


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """Benjamini–Hochberg adjusted p-values (false discovery rate), in the shape of p; NaN stays.

    Raises ValueError: a p-value outside [0, 1]. Source: Benjamini and Hochberg 1995.
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.04, 0.04]
    """
    return _of_tests(p, _benjamini_hochberg)


def corrected_pairs(p: npt.ArrayLike, order: npt.ArrayLike, correction: Correction) -> Floats:
    """Correct the p-values "better than" of all pairs as one family.

    p: (M, M), [a, b] = "a is better than b"; order: (M,) indices, best first. The family is p[a, b] with a
    before b in the order; every other entry of the result is NaN. "none" only picks the family.
    Raises ValueError: an unknown correction, shapes, a p-value outside [0, 1].
    """
    if correction not in get_args(Correction):
        raise ValueError(f"unknown correction {correction!r}; expected one of {', '.join(get_args(Correction))}")
    matrix, places = np.asarray(p, dtype=np.float64), np.asarray(order, dtype=np.int64)
    if matrix.shape != (len(places), len(places)) or sorted(places.tolist()) != list(range(len(places))):
        raise ValueError(f"p {matrix.shape} needs an order of all {len(matrix)} rows, got {places.tolist()}")
    first, second = np.triu_indices(len(places), 1)
    rows, columns = places[first], places[second]
    family = matrix[rows, columns]
    if correction == "holm":
        family = holm(family)
    elif correction == "bh":
        family = benjamini_hochberg(family)
    result = np.full(matrix.shape, np.nan)
    result[rows, columns] = family
    return result


def _of_tests(p: npt.ArrayLike, adjust: Callable[[Floats], Floats]) -> Floats:
    values = np.asarray(p, dtype=np.float64)
    tests = ~np.isnan(values)
    if not ((values[tests] >= 0) & (values[tests] <= 1)).all():
        raise ValueError("p-values must lie in [0, 1]")
    result = values.copy()
    if tests.any():
        result[tests] = adjust(values[tests])
    return result


def _holm(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(steps, 1.0)
    return result


def _benjamini_hochberg(p: Floats) -> Floats:
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method="bh"), dtype=np.float64)
