"""Is metric A better than metric B on new segments? Differences over the standard deviation of their resamples."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats

from .bootstrap import Alternative, bootstrap
from .draws import Advance
from .jackknife_test import LEAST_SYSTEMS, p_of_differences, variances_of_differences
from .resampled_statistics import ResampleStatistic

NORMAL = 1.959963984540054  # the 97.5% quantile
#: Of the variances of two metrics; less in their difference is the rounding of one and the same metric.
ROUNDING = 1e-12


@dataclass(frozen=True)
class BootstrapTest:
    """Outcome for all pairs of M metrics.

    values: (M,). error: (M, M) standard error of a − b. p: (M, M), [a, b] is the p-value of "a is better than b" (that
    they differ, if two-sided); NaN on the diagonal and where a value is not defined. draws: (M, n_draws).
    """

    values: Floats
    error: Floats
    p: Floats
    draws: Floats

    @property
    def reach(self) -> Floats:
        """(M, M) how far the 95% interval of a difference goes on either side of it."""
        return NORMAL * self.error


def bootstrap_test(
    statistic: ResampleStatistic,
    values: npt.ArrayLike | None = None,
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
    alternative: Alternative = "greater",
    executor: Executor | None = None,
    n_threads: int | None = None,
    progress: Advance | None = None,
) -> BootstrapTest:
    """The difference of two metrics over its standard deviation on resampled segments, as normal.

    One set of resamples serves all metrics. The interval that goes with p is the difference and the normal quantile
    times `error` on either side of it: 0 is inside where two-sided p is above 1 less its confidence. It is centred on
    the difference itself, not on that of the resamples, so their bias moves nothing. values: (M,) the metrics' values,
    where resamples are those of a limit of the measure; None = the statistic's own. Without any variance p is 1 where
    the metrics are equal, else 0; with fewer than three segments it is not defined. Nothing is added to p. Executor
    and threads as in `permutation_test`.
    Raises ValueError: n_draws below 2, an unknown alternative.
    Source: Efron and Tibshirani 1993, section 12.3.
    """
    if n_draws < 2:
        raise ValueError(f"{n_draws} resample: a standard deviation needs at least 2")
    if alternative not in ("greater", "two-sided"):
        raise ValueError(f"unknown alternative {alternative!r}; expected 'greater' or 'two-sided'")
    found = bootstrap(
        statistic, "inputs", rng=rng, n_draws=n_draws, executor=executor, n_threads=n_threads, progress=progress
    )
    observed = found.values if values is None else np.asarray(values, dtype=np.float64)
    return of_draws(observed, found.draws, statistic.shape[1], alternative)


def of_draws(values: Floats, draws: Floats, n_units: int, alternative: Alternative) -> BootstrapTest:
    """The test of `bootstrap_test` on resamples that were drawn: values (M,), draws (M, n_draws) of n_units units."""
    variance = variances_of_differences(draws.T)
    own = np.array([np.nanvar(one) if (~np.isnan(one)).any() else np.nan for one in draws])
    variance[variance <= ROUNDING * (own[:, np.newaxis] + own)] = 0.0
    if n_units < LEAST_SYSTEMS:
        variance[:] = np.nan
    error = np.sqrt(variance)
    return BootstrapTest(values, error, p_of_differences(values, error, np.inf, alternative), draws)
