"""Scores on other scales (standardised, binned, with noise), outliers, and one rank from several metrics."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats

CUTOFF = 2.5


def mad_outliers(human: npt.ArrayLike) -> Bools:
    """True for systems with |h − median| > 2.5 · 1.4826 · MAD, (n_systems,).

    human: (n_systems,) system scores; NaN = not judged, excluded and never an outlier. MAD: median of |h − median|. If
        it is 0, every score that differs from the median is an outlier.
    Raises ValueError: not one-dimensional, or an infinite score.
    Source: Mathur et al. 2020, section 4.1.
    >>> mad_outliers([1.0, 1.1, 1.2, 1.3, 9.0]).tolist()
    [False, False, False, False, True]
    """
    scores = np.asarray(human, dtype=np.float64)
    if scores.ndim != 1 or np.isinf(scores).any():
        raise ValueError(f"human must be finite or NaN, (n_systems,), got shape {scores.shape}")
    judged = ~np.isnan(scores)
    flags = np.zeros(scores.shape, dtype=bool)
    if judged.any():
        distance = np.abs(scores[judged] - np.median(scores[judged]))
        flags[judged] = distance > CUTOFF * 1.4826 * np.median(distance)
    return flags


EQUAL = 1e-9  # a spread of standardised differences below this is rounding: the scorers differ by scale alone


def standardised(scores: npt.ArrayLike) -> Floats:
    """Scores minus their mean, divided by their standard deviation (n - 1); NaN stays NaN and does not count.

    All NaN if there are fewer than two scores or all are equal.
    >>> standardised([1.0, 2.0, 3.0]).tolist()
    [-1.0, 0.0, 1.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    there = values[~np.isnan(values)]
    if there.size < 2 or there.min() == there.max():
        return np.full(values.shape, np.nan)
    return np.asarray((values - there.mean()) / there.std(ddof=1))


def standardised_difference(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """(z(first) - z(second)) / s, with s the standard deviation (n - 1) of the differences; positive: first is higher.

    first, second: scores of the same outputs, both of the same shape; NaN in either excludes the output. This is the
        residual from the standardised major axis, which treats both scorers alike: exchanging them changes its sign. s
        is the square root of 2(1 - r), where r is Pearson's correlation of the two.
    All NaN if a scorer is constant; 0 if both give the same standardised scores.
    >>> standardised_difference([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 3.0, 2.0]).round(6).tolist()
    [0.0, 0.0, -1.224745, 1.224745]
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    both = ~(np.isnan(one) | np.isnan(other))
    apart = standardised(np.where(both, one, np.nan)) - standardised(np.where(both, other, np.nan))
    there = apart[~np.isnan(apart)]
    if not there.size:
        return apart
    spread = there.std(ddof=1)
    if spread < EQUAL:
        return np.where(np.isnan(apart), np.nan, 0.0)
    return np.asarray(apart / spread)


def equal_width_bins(scores: npt.ArrayLike, n_bins: int) -> Floats:
    """Bin number of each score, from 0; NaN stays.

    The range from the smallest to the largest score is divided into n_bins of equal width; the largest score is in the
    last bin. If all scores are equal, all are in bin 0.
    Source: Deutsch et al. 2023, section 4.2.
    >>> equal_width_bins([0.0, 0.24, 0.5, 1.0], 4).tolist()
    [0.0, 0.0, 2.0, 3.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    if not values.size or np.isnan(values).all():
        return values.copy()
    low, high = np.nanmin(values), np.nanmax(values)
    if low == high:
        return np.where(np.isnan(values), np.nan, 0.0)
    return np.asarray(np.minimum(np.floor((values - low) / (high - low) * n_bins), n_bins - 1), dtype=np.float64)


def broken_ties(scores: npt.ArrayLike, rng: np.random.Generator) -> Floats:
    """Ranks of the scores in ascending order, from 0, with ties in random order; NaN stays.

    Source: Deutsch et al. 2023, section 6.1 (ties broken at random).
    >>> broken_ties([0.5, 0.1, 0.9], np.random.default_rng(0)).tolist()
    [1.0, 0.0, 2.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    flat = values.ravel()
    places = np.empty(flat.size)
    places[np.lexsort((rng.random(flat.size), flat))] = np.arange(flat.size)
    return np.asarray(np.where(np.isnan(values), np.nan, places.reshape(values.shape)), dtype=np.float64)


def autorank(scores: npt.ArrayLike, low: float = 25.0, high: float = 100.0) -> tuple[Floats, Floats]:
    """Rank systems by several metrics.

    Returns z, (N,), the mean over metrics of the scaled system scores, higher is better; and ranks, (N,), 1 for the
    best, N for the worst, and the others in between, in proportion to z.

    scores: (n_metrics, n_systems), higher is better. Each metric is centred at its median and divided by the distance
        between two percentiles over systems (linear interpolation), `high` and `low`, which are robust to the worst
        systems. A metric whose two percentiles are equal makes z NaN. If z is equal for all systems, all have rank 1.
    Raises ValueError: no metric, fewer than two systems, a score that is not finite, or not low < high.
    Source: Kocmi et al. 2025, preliminary ranking of WMT25, section "AutoRank".
    >>> autorank([[4.0, 3.0, 2.0, 1.0, 0.0]])[1].tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or not values.shape[0] or values.shape[1] < 2:
        raise ValueError(f"scores must be (n_metrics, n_systems) with a metric and two systems, not {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("scores must be finite")
    if not 0 <= low < high <= 100:
        raise ValueError(f"percentiles must be 0 <= low < high <= 100, not {low} and {high}")
    lower, middle, upper = np.percentile(values, (low, 50.0, high), axis=1)  # (n_metrics,) each
    spread = np.where(upper > lower, upper - lower, np.nan)
    z = np.mean((values - middle[:, np.newaxis]) / spread[:, np.newaxis], axis=0)
    span = z.max() - z.min()
    share = (z.max() - z) / span if span != 0 else np.zeros_like(z)
    return z, 1 + (values.shape[1] - 1) * share


Kind = Literal["independent", "segment", "system", "outliers"]
KINDS: tuple[Kind, ...] = get_args(Kind)
OUTLYING = 10.0  # standard deviations


def noisy_scores(
    scores: npt.ArrayLike, used: npt.ArrayLike, kind: Kind, strength: float, *, seed: int, n_draws: int
) -> Floats:
    """(n_draws, N, S): a metric's scores with added noise, in units of the scores' standard deviation.

    scores: (N, S), read where used. strength: with "independent" noise, the standard deviation of a normal number added
    to each score; with "segment" or "system", the standard deviation of a normal number added to all scores of a
    segment or of a system; with "outliers", the share of scores (rounded to a whole number) that are set to the mean
    plus or minus 10 standard deviations, with equal probability. The k-th draw is the same at every strength, except
    for its scale, and the outliers of a smaller share are among those of a larger share. Kinds of noise are drawn
    independently.
    Source: DiIanni and Deutsch 2025, whose strengths are not printed.
    >>> noisy_scores([[1.0, 3.0]], [[True, True]], "outliers", 0.5, seed=0, n_draws=1).tolist()
    [[[12.0, 3.0]]]
    """
    values, mask = np.asarray(scores, dtype=np.float64), np.asarray(used, dtype=bool)
    unit = float(values[mask].std())
    return np.stack(
        [_disturbed(values, mask, kind, strength, unit, _stream(seed, kind, draw)) for draw in range(n_draws)]
    )


def _stream(seed: int, kind: Kind, draw: int) -> np.random.Generator:
    return np.random.default_rng([seed, KINDS.index(kind), draw])


def _disturbed(
    values: Floats, used: Bools, kind: Kind, strength: float, unit: float, rng: np.random.Generator
) -> Floats:
    n_systems, n_segments = values.shape
    if kind == "outliers":
        places = rng.permutation(np.flatnonzero(used))
        signs = rng.choice([-1.0, 1.0], size=places.size)
        n = round(strength * places.size)
        found = values.copy().ravel()
        found[places[:n]] = values[used].mean() + OUTLYING * unit * signs[:n]
        return found.reshape(values.shape)
    shape = {"independent": (n_systems, n_segments), "segment": (1, n_segments), "system": (n_systems, 1)}[kind]
    return values + strength * unit * rng.normal(size=shape)
