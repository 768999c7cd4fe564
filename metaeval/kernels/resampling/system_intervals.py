"""Intervals of a correlation over new systems, from a small number of systems."""

from __future__ import annotations

from typing import get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.difference_tests import LARGEST, reach_of
from metaeval.kernels.resampling.draws import single_blas_thread
from metaeval.kernels.resampling.prepared import Kind, ResampleStatistic

#: With fewer systems intervals hold nearly every value that there is.
LEAST_FOR_INTERVAL = 6


def interval_over_systems(
    statistic: ResampleStatistic, kind: Kind, *, is_share: bool = False, n_counted: int | None = None
) -> tuple[Floats, Floats]:
    """(M,) ends of 95% intervals of correlations over the population of systems from which the N are a sample.

    Fisher's z of each value plus and minus its standard error times the 97.5% quantile of Student's t with N − 1
    degrees of freedom, transformed back. The error is the larger of two: the jackknife error over systems, on the scale
    of z, and the error for normal scores: 1 / √(N − 3) if kind is "linear" (Pearson), √((1 + ρ²/2) / (N − 3)) for
    "ranks" (Spearman), √(.437 / (N − 4)) for "pairs" (Kendall). With a dozen systems, the jackknife error alone is too
    small if the order is nearly perfect, and the other is too small if a metric misjudges a few systems. Correlations
    of ranks and pairs are discrete, and are limited to half of the smallest step from ±1; such an end becomes ±1.
    is_share: values are shares of pairs, from 0 to 1. n_counted: systems that count for the error of normal scores, if
    not all do. NaN with fewer than 6 systems, and where a value, or the value without one of the systems, is not
    defined.
    Source: Fisher 1921; Bonett and Wright 2000 for ranks; Fieller, Hartley and Pearson 1957 for pairs.
    """
    checks.known(kind, get_args(Kind), "kind")
    n = statistic.shape[0]
    n_counted = n if n_counted is None else n_counted
    with single_blas_thread():
        values = statistic.values(None, None, 1)[0]
        if min(n, n_counted) < LEAST_FOR_INTERVAL:
            return np.full(values.shape, np.nan), np.full(values.shape, np.nan)
        kept = np.stack([np.delete(np.arange(n), place) for place in range(n)])
        without = statistic.values(kept, None, n)  # (N, M)
    steps = {"linear": 1 - LARGEST, "ranks": 6 / (n * (n**2 - 1)), "pairs": 2 / (n * (n - 1))}
    largest = 1 - steps[kind]
    r = 2 * values - 1 if is_share else values
    z, z_without = (_z(2 * one - 1 if is_share else one, largest) for one in (values, without))
    jackknife = np.sqrt((n - 1) / n * ((z_without - z_without.mean(axis=0)) ** 2).sum(axis=0))
    error = np.maximum(jackknife, _normal_error(kind, np.tanh(z), n_counted))
    reach = reach_of(error, n - 1)
    low = np.where(r <= -largest, -1.0, np.tanh(z - reach)) + np.where(np.isnan(reach), np.nan, 0.0)
    high = np.where(r >= largest, 1.0, np.tanh(z + reach)) + np.where(np.isnan(reach), np.nan, 0.0)
    return ((low + 1) / 2, (high + 1) / 2) if is_share else (low, high)


def _z(r: Floats, largest: float) -> Floats:
    return np.arctanh(np.clip(r, -largest, largest))


def _normal_error(kind: Kind, r: Floats, n: int) -> npt.ArrayLike:
    """The standard error of z if scores are normal."""
    if kind == "pairs":
        return float(np.sqrt(0.437 / (n - 4)))
    if kind == "ranks":
        return np.asarray(np.sqrt((1 + r**2 / 2) / (n - 3)))
    return float(1 / np.sqrt(n - 3))
