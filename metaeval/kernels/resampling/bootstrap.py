"""Bootstrap intervals of a metric's value and of a difference, by resampling segments, systems or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.reliability import Interval
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.draws import (
    BLOCK,
    Advance,
    blocks,
    outcomes_in_order,
    single_blas_thread,
)
from metaeval.kernels.resampling.prepared import IntervalMethod, ResampleStatistic

Resample = Literal["inputs", "systems", "both"]


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap draws of a statistic for M metrics.

    values: (M,) on the data themselves. draws: (M, n_draws), NaN if a resample has no value, for example because all
    human scores are equal.
    """

    values: Floats
    draws: Floats

    def interval(
        self, metric: int, confidence: float = 0.95, method: str = "percentile", df: float = np.inf
    ) -> Interval:
        """Interval of one metric's value; method, df: as in `interval`."""
        return interval(float(self.values[metric]), self.draws[metric], confidence, method, df)

    def difference_interval(
        self, a: int, b: int, confidence: float = 0.95, method: str = "percentile", df: float = np.inf
    ) -> Interval:
        """Interval of metric a's value minus metric b's, both from the same resamples."""
        return interval(float(self.values[a] - self.values[b]), self.draws[a] - self.draws[b], confidence, method, df)


#: Values of pairs of systems that are computed at once, where systems have one score each.
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class _Blocks:
    statistic: ResampleStatistic
    resample: Resample
    drawn: Sequence[tuple[np.random.Generator, int]]


def bootstrap(
    statistic: ResampleStatistic,
    resample: Resample = "inputs",
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
    n_threads: int | None = None,
    progress: Advance | None = None,
) -> Bootstrap:
    """Values of a statistic on resamples with replacement, for all metrics at once.

    resample: BOOT-INPUTS draws segments, BOOT-SYSTEMS systems, BOOT-BOTH both; the scores of all metrics and the human
    scores stay together. A unit drawn twice counts twice. Threads and progress as in `permutation_test`; the
    result does not depend on them.
    Raises ValueError: an unknown resample, n_draws < 1.
    Source: Deutsch et al. 2021; Efron and Tibshirani 1993.
    """
    checks.known(resample, get_args(Resample), "resample")
    drawn = blocks(rng, n_draws)
    draws: list[Floats] = []
    with single_blas_thread():
        values = statistic.values(None, None, 1)[0]
        n_systems, n_segments = statistic.shape
        is_brief = resample == "systems" and n_segments == 1
        n = max(1, _AT_ONCE // (BLOCK * values.size * n_systems**2)) if is_brief else 1
        tasks = [_Blocks(statistic, resample, drawn[start : start + n]) for start in range(0, len(drawn), n)]
        with outcomes_in_order(_values, tasks, n_threads) as outcomes:
            for outcome in outcomes:
                draws.append(outcome)
                if progress is not None:
                    progress(sum(map(len, draws)), n_draws)
    return Bootstrap(values, np.ascontiguousarray(np.concatenate(draws).T))


#: Resamples whose values differ by no more are alike.
TOLERANCE = 1e-12


def interval(
    value: float, draws: npt.ArrayLike, confidence: float = 0.95, method: str = "percentile", df: float = np.inf
) -> Interval:
    """Two-sided bootstrap interval.

    method: "percentile" uses quantiles of the draws, as in `scipy.stats.bootstrap`. "normal" is the value plus and
    minus the normal quantile times the draws' standard deviation; a bias of the draws does not shift it. "centred", for
    the best of many values, is the value minus the bias of the draws, plus and minus the normal quantile times their
    root mean squared distance from the value. docs/levels.md has the measured coverage of each. df: number of resampled
    units minus 1, if these are few: quantiles of Student's t then replace normal quantiles, and outer quantiles of the
    draws replace the percentiles. Undefined draws are excluded. Bounds are NaN if the value is NaN, if no draw is
    defined, or if all draws are equal, because equal draws do not show that the value is certain.
    Raises ValueError: an unknown method.
    Source: Efron and Tibshirani 1993; Hesterberg 2015, section 4.2, for outer quantiles.
    """
    checks.known(method, get_args(IntervalMethod), "interval")
    every = np.asarray(draws, dtype=np.float64)
    defined = every[~np.isnan(every)]
    levels = np.array([(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    if not defined.size or np.isnan(value) or np.ptp(defined) <= TOLERANCE:
        return Interval(value, np.nan, np.nan)
    if method in ("normal", "centred"):
        from scipy.special import stdtrit

        bias = defined.mean() - value if method == "centred" else 0.0
        low, high = value - bias + stdtrit(df, levels) * np.hypot(float(defined.std(ddof=1)), bias)
    else:
        if df < np.inf:
            from scipy.special import ndtr, stdtrit

            levels = ndtr(np.sqrt((df + 1) / df) * stdtrit(df, levels))
        low, high = np.quantile(defined, levels)
    return Interval(value, float(low), float(high))


def _picks(
    stream: np.random.Generator, n_draws: int, resample: Resample, shape: tuple[int, int]
) -> tuple[Ints | None, Ints | None]:
    n_systems, n_segments = shape
    systems = stream.integers(0, n_systems, (n_draws, n_systems)) if resample != "inputs" else None
    segments = stream.integers(0, n_segments, (n_draws, n_segments)) if resample != "systems" else None
    return systems, segments


def _values(task: _Blocks) -> Floats:
    each = [_picks(stream, size, task.resample, task.statistic.shape) for stream, size in task.drawn]
    systems, segments = (None if own[0] is None else np.concatenate(own) for own in zip(*each, strict=True))
    return task.statistic.values(systems, segments, sum(size for _, size in task.drawn))
