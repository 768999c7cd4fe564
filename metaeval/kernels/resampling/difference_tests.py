"""Is metric A better than metric B? Differences over standard errors, from the jackknife or resampled segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.bootstrap import bootstrap
from metaeval.kernels.resampling.draws import Advance, Alternative, single_blas_thread
from metaeval.kernels.resampling.prepared import LEAST_SYSTEMS, LEAST_SYSTEMS_FISHER, ResampleStatistic, Varying

#: Correlations nearer to ±1 are taken for this one on Fisher's scale, which has no place for 1.
LARGEST = 1 - 1e-12
#: Differences and standard errors below this are rounding.
TOLERANCE = 1e-12
#: With more systems, what single pairs of them add to a variance is small, and not taken off it.
MOST_SYSTEMS = 40
#: Groups of segments that are left out, one after the other.
SEGMENT_GROUPS = 40
#: The same, where each of them is left out with each system.
GROUPS_WITH_SYSTEMS = 20


@dataclass(frozen=True)
class DifferenceTest:
    """Outcome for all pairs of M metrics.

    values: (M,). error: (M, M) standard error of a − b; with `fisher`, of z_a − z_b. p: (M, M), [a, b] is the p-value
    of "a is better than b" (that they differ, if two-sided), by Student's t with `df` degrees of freedom; NaN on the
    diagonal and where a value, or a value without one of the systems, is not defined.
    draws: (M, n_draws) of a bootstrap; None for a jackknife.
    """

    values: Floats
    error: Floats
    p: Floats
    df: int
    draws: Floats | None = None

    @property
    def reach(self) -> Floats:
        """(M, M) half width of the 95% interval of each difference."""
        return reach_of(self.error, self.df)


def reach_of(error: Floats, df: npt.ArrayLike) -> Floats:
    """Half width of a 95% interval by Student's t; df: inf = normal."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(df, 0.975) * error, dtype=np.float64)


def jackknife_test(
    statistic: ResampleStatistic,
    varying: Varying = "both",
    *,
    rng: np.random.Generator | None = None,
    n_draws: int = 1000,
    alternative: Alternative = "greater",
    fisher: float = 0.0,
    pairs_once: bool = False,
    n_threads: int | None = None,
    progress: Advance | None = None,
) -> DifferenceTest:
    """The difference of two metrics over its standard error, as Student's t with N − 1 degrees of freedom.

    The squared standard error is the jackknife variance over N systems, (N − 1)/N · Σ (d_i − mean d)², where d_i is the
    difference without system i. For "segments" it is over N = 40 groups of segments (single segments if there are
    fewer); group g has segments g, g + 40, g + 80 and so on. For "both", the variance of the difference over resampled
    segments is added to the variance over systems, as in two-way cluster-robust variances; the part that both share is
    subtracted once, and the result is never below the larger of the two.
    fisher: compare Fisher's z = artanh of this share of the values; 0 = compare the values themselves. The variance of
    a correlation r depends on r and is overstated by leaving out one of a dozen systems; neither is true of z. A share
    below 1 gives a rank correlation of 1 a finite z, comparable with others.
    pairs_once: for statistics made of pairs of systems. The variance specific to a pair, beyond its two systems, is
    counted twice if systems are left out: as 4 s² / (N (N − 2)) instead of 2 s² / (N (N − 1)). s² is estimated by
    leaving out two systems at a time; the excess is subtracted, and the result is never below the contribution of the
    pairs. The variance of a mean over pairs is then unbiased. Applied for 4 to 40 systems if every value is defined.
    rng: only for "both", which draws n_draws resamples of segments. Without any variance, p is 1 if the metrics are
    equal, else 0. Nothing is added to p. Threads as in `permutation_test`.
    Raises ValueError: fewer than 2 metrics or 3 systems (segments; 4 with `fisher`), an unknown alternative or kind of
        unit, no rng for "both".
    Source: Efron and Tibshirani 1993, eq. 11.5; Efron and Stein 1981 for pairs; Cameron, Gelbach and Miller 2011 for
        variances over two ways.
    """
    checks.known(varying, get_args(Varying), "units")
    checks.known(alternative, get_args(Alternative), "alternative")
    with single_blas_thread():
        values = statistic.values(None, None, 1)[0]
        without = _without_segments(statistic) if varying == "segments" else _without_systems(statistic, fisher)
        without = _scaled(without, fisher)
    n_left_out = len(without)
    checks.several(len(values))
    undefined = np.isnan(without.sum(axis=0))
    variance = (n_left_out - 1) ** 2 / n_left_out * variances_of_differences(without)  # of all pairs
    variance[undefined[:, np.newaxis] | undefined] = np.nan
    if pairs_once and varying != "segments" and LEAST_SYSTEMS < n_left_out <= MOST_SYSTEMS:
        with single_blas_thread():
            own = np.nan_to_num(_of_single_pairs(statistic, _scaled(values, fisher), without, fisher))
        n = n_left_out
        variance = np.maximum(variance - 2 * own / ((n - 1) * (n - 2)), 2 * own / (n * (n - 1)))
    if varying == "both":
        if rng is None:
            raise ValueError("rng is needed: segments are resampled")
        drawn = bootstrap(statistic, "inputs", rng=rng, n_draws=n_draws, n_threads=n_threads, progress=progress)
        over_segments = variances_of_differences(_scaled(drawn.draws.T, fisher))
        with single_blas_thread():
            shared = np.nan_to_num(_of_single_scores(statistic, without, fisher))
        variance = np.maximum(variance + over_segments - shared, np.maximum(variance, over_segments))
    error = np.sqrt(variance)
    df = n_left_out - 1
    return DifferenceTest(values, error, p_of_differences(_scaled(values, fisher), error, df, alternative), df)


def segment_errors(statistic: ResampleStatistic) -> Floats:
    """(M,) standard errors of the values over new segments, by leaving out the segment groups of `jackknife_test`.

    NaN with fewer than three segments.
    """
    without = _without_segments(statistic)
    n = len(without)
    variances = variances_of_differences(np.column_stack([np.zeros(n), without]))
    return np.asarray((n - 1) * np.sqrt(variances[0, 1:] / n))


def from_z(values: Floats, anchor: int, reach: Floats, df: int, share: float) -> tuple[Floats, Floats]:
    """Ends of the 95% interval of each correlation minus the anchor's, from the interval of the difference in z.

    z is Fisher's z of `share` times the correlations; reach: half width of the interval of the difference of z, by
    Student's t with df degrees of freedom. The variance of the mean of the two z is 1 / (df - 2) minus a quarter of the
    variance of their difference. The ends are the smallest and the largest difference of correlations on the joint
    ellipse of both with the same radius, so they include 0 exactly if the interval of the difference of z does.
    >>> from_z(np.array([0.9, 0.6]), 0, np.array([np.nan, np.arctanh(0.9) - np.arctanh(0.6)]), 11, 1.0)[1].round(9)
    array([nan,  0.])
    """
    from scipy.special import stdtrit

    z, radius = np.arctanh(np.clip(share * values, -LARGEST, LARGEST)), -stdtrit(df, 0.025)
    gap, middle = z - z[anchor], (z + z[anchor]) / 2
    spread = np.sqrt(np.maximum(radius**2 / max(df - 2, 1) - reach**2 / 4, 0.0))
    angle = np.linspace(0, 2 * np.pi, 721)[:, np.newaxis]
    half, centre = (gap + reach * np.cos(angle)) / 2, middle + spread * np.sin(angle)  # (721, M)
    found = (np.tanh(centre + half) - np.tanh(centre - half)) / share
    return np.asarray(found.min(axis=0)), np.asarray(found.max(axis=0))


def _scaled(values: Floats, fisher: float) -> Floats:
    return np.arctanh(np.clip(fisher * values, -LARGEST, LARGEST)) if fisher else values


def _without_systems(statistic: ResampleStatistic, fisher: float) -> Floats:
    """(N, M) values, leaving out each system in turn."""
    n_systems = statistic.shape[0]
    least = LEAST_SYSTEMS_FISHER if fisher else LEAST_SYSTEMS
    if n_systems < least:
        raise ValueError(f"a variance over systems needs at least {least} of them, not {n_systems}")
    return statistic.values(_all_but_one(n_systems), None, n_systems)


def _of_single_scores(statistic: ResampleStatistic, without_systems: Floats, fisher: float) -> Floats:
    """(M, M) variances of differences due to single scores, beyond their systems and their segments.

    For a mean over N systems and G groups, with residuals e from rows and columns, it is Σ e² / ((N − 1)(G − 1) N G).
    Leaving out both a system and a group changes the mean by e / ((N − 1)(G − 1)) more than leaving out each.
    """
    n_systems, n_segments = statistic.shape
    n_groups = min(GROUPS_WITH_SYSTEMS, n_segments)
    if n_groups < 2:
        return np.full((without_systems.shape[1],) * 2, np.nan)
    systems = _all_but_one(n_systems)
    values = np.empty((n_systems, n_groups, without_systems.shape[1]))
    for group in range(n_groups):
        kept = np.flatnonzero(np.arange(n_segments) % n_groups != group)
        found = statistic.values(systems, np.broadcast_to(kept, (n_systems, kept.size)), n_systems)
        values[:, group] = _scaled(found, fisher)
    excess = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean(axis=(0, 1))
    n = n_systems * n_groups
    return variances_of_differences(excess.reshape(n, -1)) * (n - 1) * (n_systems - 1) * (n_groups - 1) / n


def _of_single_pairs(statistic: ResampleStatistic, values: Floats, without: Floats, fisher: float) -> Floats:
    """(M, M) variances s² of the contributions of single pairs of systems to a difference, beyond their two systems'.

    Let n(N) be the number of pairs of N systems. For a mean over pairs, n(N) times the mean, minus n(N − 1) times the
    mean without each of the two systems, plus n(N − 2) times the mean without both, is the value of the pair itself.
    The residuals of these from the effects of their systems have N (N − 3) / 2 degrees of freedom.
    """
    n = len(without)
    first, second = np.triu_indices(n, 1)
    kept = np.stack([np.delete(np.arange(n), pair) for pair in zip(first, second, strict=True)])
    without_both = _scaled(statistic.values(kept, None, len(kept)), fisher)
    sums = [(n - k) * (n - k - 1) / 2 * part for k, part in enumerate((values, without, without_both))]
    pairs = sums[0] - sums[1][first] - sums[1][second] + sums[2]  # (number of pairs, M)
    pairs -= pairs.mean(axis=0)
    is_of = (np.arange(n)[:, np.newaxis] == first) | (np.arange(n)[:, np.newaxis] == second)
    of_system = is_of.astype(np.float64) @ pairs / (n - 2)
    residuals = pairs - of_system[first] - of_system[second]
    return variances_of_differences(residuals) * (len(first) - 1) / (n * (n - 3) / 2)


def _all_but_one(n: int) -> Ints:
    """(n, n − 1) indices; row i leaves out i."""
    places = np.arange(n)
    return np.stack([np.delete(places, place) for place in places])


def _without_segments(statistic: ResampleStatistic) -> Floats:
    """(number of groups, M) values, leaving out each group of segments in turn."""
    n_segments = statistic.shape[1]
    segments = np.arange(n_segments)
    if n_segments < LEAST_SYSTEMS:
        return np.full_like(statistic.values(None, segments[np.newaxis], 1), np.nan)
    n_groups = min(SEGMENT_GROUPS, n_segments)
    left = (segments[np.newaxis, segments % n_groups != group] for group in range(n_groups))
    return np.concatenate([statistic.values(None, kept, 1) for kept in left])


def variances_of_differences(draws: Floats) -> Floats:
    """(M, M) sample variances of differences of draws (k, M); draws in which either value is not defined are excluded.

    NaN with fewer than two draws.
    """
    n_metrics = draws.shape[1]
    found = np.full((n_metrics, n_metrics), np.nan)
    for metric in range(n_metrics):
        gaps = draws[:, metric, np.newaxis] - draws  # (k, M)
        defined = ~np.isnan(gaps)
        n = defined.sum(axis=0)
        mean = np.where(defined, gaps, 0.0).sum(axis=0) / np.maximum(n, 1)
        squares = np.where(defined, gaps - mean, 0.0) ** 2
        np.divide(squares.sum(axis=0), n - 1, out=found[metric], where=n > 1)
    return found


def p_of_differences(values: Floats, error: Floats, df: npt.ArrayLike, alternative: Alternative) -> Floats:
    """(M, M) p-values of values (M,) with the standard errors (M, M) of their differences; df: inf = normal.

    If the standard error is 0, p is 1 where values are equal, else 0 or 1; NaN on the diagonal and where undefined.
    """
    from scipy.special import stdtr

    gap = values[:, np.newaxis] - values
    gap = np.where(np.abs(gap) <= TOLERANCE, 0.0, gap)
    certain = np.where(gap == 0, 0.0, np.copysign(np.inf, gap))
    t = np.divide(gap, error, out=certain, where=error > TOLERANCE)
    if alternative == "two-sided":
        p = np.where(gap == 0, 1.0, 2.0 * stdtr(df, -np.abs(t)))
    else:
        p = np.where((gap == 0) & ~(error > TOLERANCE), 1.0, stdtr(df, -t))
    p[np.isnan(gap) | np.isnan(error)] = np.nan
    np.fill_diagonal(p, np.nan)
    return np.asarray(p, dtype=np.float64)


NORMAL = 1.959963984540054  # the 97.5% quantile
#: Of the variances of two metrics; less in their difference is the rounding of one and the same metric.
ROUNDING = 1e-12


def bootstrap_test(
    statistic: ResampleStatistic,
    values: npt.ArrayLike | None = None,
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
    alternative: Alternative = "greater",
    n_threads: int | None = None,
    progress: Advance | None = None,
) -> DifferenceTest:
    """The difference of two metrics over its standard deviation on resampled segments, as Student's t.

    Degrees of freedom are the number of segments (or other resampled units) minus 1: with some hundreds of them this is
    a normal test; with a dozen documents a normal test would find too many differences. One set of resamples serves all
    metrics. The interval that goes with p is the difference plus and minus the quantile of t times `error`: 0 is inside
    if two-sided p is above 1 minus the confidence. It is centred on the difference itself, not on the mean of the
    resamples, so their bias does not shift it. values: (M,) the metrics' values, for resamples of a limit of the
    measure; None = the statistic's own. Without any variance, p is 1 if the metrics are equal, else 0; with fewer than
    three segments it is not defined. Nothing is added to p. Threads as in `permutation_test`.
    Raises ValueError: n_draws below 2, an unknown alternative.
    Source: Efron and Tibshirani 1993, section 12.3.
    """
    if n_draws < 2:
        raise ValueError(f"{n_draws} resample: a standard deviation needs at least 2")
    checks.known(alternative, get_args(Alternative), "alternative")
    found = bootstrap(statistic, "inputs", rng=rng, n_draws=n_draws, n_threads=n_threads, progress=progress)
    observed = found.values if values is None else np.asarray(values, dtype=np.float64)
    return of_draws(observed, found.draws, statistic.shape[1], alternative)


def of_draws(values: Floats, draws: Floats, n_units: int, alternative: Alternative) -> DifferenceTest:
    """The test of `bootstrap_test` on resamples drawn before: values (M,), draws (M, n_draws) of n_units units."""
    variance = variances_of_differences(draws.T)
    own = np.array([np.nanvar(one) if (~np.isnan(one)).any() else np.nan for one in draws])
    variance[variance <= ROUNDING * (own[:, np.newaxis] + own)] = 0.0
    if n_units < LEAST_SYSTEMS:
        variance[:] = np.nan
    error, df = np.sqrt(variance), max(n_units - 1, 1)
    return DifferenceTest(values, error, p_of_differences(values, error, df, alternative), df, draws)
