"""Bootstrap intervals of a metric's value and of a difference: segments, systems or both are resampled."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.draws import (
    BLOCK,
    Advance,
    Alternative,
    block_sizes,
    check_alternative,
    outcomes_in_order,
    single_blas_thread,
    single_blas_thread_abroad,
)

from .resampled_statistics import ResampleStatistic

Resample = Literal["inputs", "systems", "both"]
IntervalMethod = Literal["percentile", "bca", "normal", "centred"]


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap draws of a statistic for M metrics.

    values: (M,) on the data themselves. draws: (M, n_draws), NaN where a resample has no value (all human
    scores equal, say). jackknife: (M, n_units) values with one unit left out, if asked for.
    """

    values: Floats
    draws: Floats
    jackknife: Floats | None

    def interval(self, metric: int, confidence: float = 0.95, method: str = "percentile") -> Interval:
        """Interval of one metric's value; method: as of `interval`."""
        left_out = None if self.jackknife is None else self.jackknife[metric]
        return interval(float(self.values[metric]), self.draws[metric], left_out, confidence, method)

    def difference_interval(self, a: int, b: int, confidence: float = 0.95, method: str = "percentile") -> Interval:
        """Interval of metric a's value minus metric b's, both from the same resamples."""
        left_out = None if self.jackknife is None else self.jackknife[a] - self.jackknife[b]
        difference = float(self.values[a] - self.values[b])
        return interval(difference, self.draws[a] - self.draws[b], left_out, confidence, method)


@dataclass(frozen=True)
class Interval:
    """A two-sided interval around a value. n_undefined: draws without a value, left out of it."""

    value: float
    low: float
    high: float
    n_undefined: int


@dataclass(frozen=True)
class _Blocks:
    statistic: ResampleStatistic
    resample: Resample
    streams: Sequence[np.random.Generator]
    sizes: Sequence[int]
    home: int = field(default_factory=os.getpid)


def bootstrap(
    statistic: ResampleStatistic,
    resample: Resample = "inputs",
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
    jackknife: bool = False,
    executor: Executor | None = None,
    n_threads: int | None = None,
    batch: int = BLOCK,
    progress: Advance | None = None,
) -> Bootstrap:
    """Values of a statistic on resamples with replacement, for all metrics at once.

    resample: BOOT-INPUTS draws segments, BOOT-SYSTEMS systems, BOOT-BOTH both; the scores of all metrics and
    of humans stay together. A unit drawn twice counts twice. jackknife: also leave out each unit once, which
    BCa intervals need (not with "both": SciPy's BCa has one sample too). progress: called with what is done, of
    draws and units left out. Executor, threads and batch as in `permutation_test`; the result does not depend on them.
    Raises ValueError: an unknown resample, n_draws < 1, a jackknife of both.
    Source: Deutsch et al. 2021; Efron and Tibshirani 1993.
    """
    checks.known(resample, get_args(Resample), "resample")
    if jackknife and resample == "both":
        raise ValueError("BCa needs one kind of unit to leave out: resample inputs or systems, not both")
    checks.count(batch, "batch")
    sizes = block_sizes(n_draws)
    streams = rng.spawn(len(sizes))
    step = -(-batch // BLOCK)
    tasks = [
        _Blocks(statistic, resample, streams[i : i + step], sizes[i : i + step]) for i in range(0, len(sizes), step)
    ]
    draws: list[Floats] = []
    n_left_out = statistic.shape[0 if resample == "systems" else 1] if jackknife else 0

    def advance(n_done: int) -> None:
        if progress is not None:
            progress(n_done, n_draws + n_left_out)

    with single_blas_thread():
        values = statistic.values(None, None, 1)[0]
        with outcomes_in_order(_block_values, tasks, executor, n_threads) as outcomes:
            for outcome in outcomes:
                draws.append(outcome)
                advance(sum(map(len, draws)))
        left_out = _jackknife(statistic, resample, lambda done: advance(n_draws + done)) if jackknife else None
    return Bootstrap(values, np.ascontiguousarray(np.concatenate(draws).T), left_out)


def interval(
    value: float,
    draws: npt.ArrayLike,
    jackknife: npt.ArrayLike | None = None,
    confidence: float = 0.95,
    method: str = "percentile",
) -> Interval:
    """Two-sided bootstrap interval.

    method: "percentile", quantiles of the draws; "bca", bias-corrected and accelerated, which needs the
    jackknife values; as `scipy.stats.bootstrap` computes both; "normal", the value and the normal quantile times
    the draws' standard deviation on either side, which a bias of the draws does not move; "centred", for the best of
    many values: the value less the bias of the draws, and on either side the normal quantile times their root mean
    squared distance from the value. docs/levels.md has the measured coverage of each. Undefined draws are left out and
    counted; bounds are NaN where the value is, without a defined draw, and for BCa where it degenerates.
    Raises ValueError: an unknown method, confidence outside (0, 1), "bca" without jackknife values.
    """
    checks.known(method, get_args(IntervalMethod), "interval")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    every = np.asarray(draws, dtype=np.float64)
    defined = every[~np.isnan(every)]
    n_undefined = int(every.size - defined.size)
    levels = np.array([(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    if method == "bca":
        if jackknife is None:
            raise ValueError("a BCa interval needs jackknife values: bootstrap(..., jackknife=True)")
        levels = _bca_levels(value, defined, np.asarray(jackknife, dtype=np.float64), levels)
    if not defined.size or np.isnan(value) or np.isnan(levels).any():
        return Interval(value, np.nan, np.nan, n_undefined)
    if method in ("normal", "centred"):
        error = float(defined.std(ddof=1)) if defined.size > 1 else np.nan
        bias = defined.mean() - value if method == "centred" else 0.0
        low, high = value - bias + _normal_quantiles(levels) * np.hypot(error, bias)
    else:
        low, high = np.quantile(defined, levels)
    return Interval(value, float(low), float(high), n_undefined)


def _normal_quantiles(levels: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(levels), dtype=np.float64)


def power(draws: npt.ArrayLike, alpha: float = 0.05, alternative: Alternative = "greater") -> float:
    """Share of bootstrap resamples in which the difference would be found at this sample size, in [0, 1].

    draws: differences a − b of the bootstrap resamples. A resample finds the difference when it exceeds the normal
    critical value times the standard error, which is the draws' standard deviation (two-sided: in absolute
    value). Undefined ones find nothing; 0 standard error finds any difference that is not 0.
    Raises ValueError: alpha outside (0, 1), an unknown alternative, no draw.
    >>> power(np.linspace(1.0, 2.0, 11), alternative="greater")
    1.0
    """
    from scipy.special import ndtri

    resamples = np.asarray(draws, dtype=np.float64)
    if not resamples.size:
        raise ValueError("no resamples")
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha}")
    check_alternative(alternative)
    defined = resamples[~np.isnan(resamples)]
    error = float(defined.std()) if defined.size else np.nan
    if alternative == "greater":
        return int(np.count_nonzero(defined > ndtri(1.0 - alpha) * error)) / resamples.size
    return int(np.count_nonzero(np.abs(defined) > ndtri(1.0 - alpha / 2.0) * error)) / resamples.size


def _picks(
    stream: np.random.Generator, n_draws: int, resample: Resample, shape: tuple[int, int]
) -> tuple[Ints | None, Ints | None]:
    n_systems, n_segments = shape
    systems = stream.integers(0, n_systems, (n_draws, n_systems)) if resample != "inputs" else None
    segments = stream.integers(0, n_segments, (n_draws, n_segments)) if resample != "systems" else None
    return systems, segments


def _block_values(task: _Blocks) -> list[Floats]:
    with single_blas_thread_abroad(task.home):
        return [
            task.statistic.values(*_picks(stream, size, task.resample, task.statistic.shape), size)
            for stream, size in zip(task.streams, task.sizes, strict=True)
        ]


def _jackknife(statistic: ResampleStatistic, resample: Resample, advance: Callable[[int], None]) -> Floats:
    """(M, n_units) values with each system or segment left out once."""
    n_units = statistic.shape[0 if resample == "systems" else 1]
    units = np.arange(n_units)
    values = []
    for start in range(0, n_units, BLOCK):
        kept = np.stack([np.delete(units, unit) for unit in units[start : start + BLOCK]])
        systems, segments = (kept, None) if resample == "systems" else (None, kept)
        values.append(statistic.values(systems, segments, len(kept)))
        advance(start + len(kept))
    return np.ascontiguousarray(np.concatenate(values).T)


def _bca_levels(value: float, draws: Floats, jackknife: Floats, levels: Floats) -> Floats:
    """Quantile levels that correct for the draws' bias and the statistic's skewness (Efron 1987, eq. 2.3)."""
    from scipy.special import ndtr, ndtri

    if not draws.size or np.isnan(jackknife).any():
        return np.full(2, np.nan)
    below = (np.count_nonzero(draws < value) + np.count_nonzero(draws <= value)) / (2.0 * draws.size)
    bias = ndtri(below)
    pull = (len(jackknife) - 1) * (jackknife.mean() - jackknife)
    spread = np.sum(pull**2)
    if spread == 0.0 or not np.isfinite(bias):
        return np.full(2, np.nan)
    acceleration = np.sum(pull**3) / (6.0 * spread**1.5)
    z = bias + ndtri(levels)
    return np.asarray(ndtr(bias + z / (1.0 - acceleration * z)), dtype=np.float64)
