"""How large a metric difference must be to agree with human rankings: isotonic regression, and resampled sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats, Ints

TOLERANCE = 1e-12  # levels and fitted values nearer than this are equal


@dataclass(frozen=True)
class AgreementCurve:
    """A fitted curve; all arrays are (K,), one entry per distinct difference, ascending.

    fitted: share of pairs that the metric orders as humans do; never decreases. at_least: total weight of the pairs
    whose difference is at least as large.
    """

    differences: Floats
    fitted: Floats
    at_least: Floats

    def value(self, differences: npt.ArrayLike) -> Floats:
        """The fitted share at any differences, constant up to the next observed one; NaN below the smallest."""
        places = np.searchsorted(self.differences, np.asarray(differences, dtype=np.float64), side="right") - 1
        return np.where(places >= 0, self.fitted[np.maximum(places, 0)], np.nan)

    def smallest_difference(self, level: float) -> float:
        """The smallest observed difference whose fitted share is at least `level`; NaN if the level is not reached.

        A level counts as reached only if 1 / (1 - level) pairs are at least as far apart, because the last few pairs of
        a fit may all agree by chance.
        """
        place = int(np.searchsorted(self.fitted, level - TOLERANCE))
        if place == len(self.fitted) or self.at_least[place] < 1 / (1 - level) - TOLERANCE:
            return float("nan")
        return float(self.differences[place])


def agreement_curve(
    differences: npt.ArrayLike, agrees: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> AgreementCurve:
    """The non-decreasing curve that fits the pairs best by weighted least squares (SciPy's isotonic regression).

    differences: (P,) absolute differences of a metric's system scores. agrees: (P,), whether the metric orders the pair
    as humans do. weights: (P,), None for 1 each; pairs of weight 0 do not count. Equal differences share one entry.
    >>> curve = agreement_curve([1, 2, 3, 3], [0, 1, 0, 1])
    >>> curve.differences.tolist(), curve.fitted.round(3).tolist(), curve.at_least.tolist()
    ([1.0, 2.0, 3.0], [0.0, 0.667, 0.667], [4.0, 3.0, 2.0])
    >>> curve.smallest_difference(0.6), curve.smallest_difference(0.7)
    (2.0, nan)
    """
    x, y = np.asarray(differences, dtype=np.float64), np.asarray(agrees, dtype=np.float64)
    w = np.ones(x.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    places, inverse = np.unique(x, return_inverse=True)
    total = np.bincount(inverse, weights=w).astype(np.float64)
    return fitted_curve(places, total, np.bincount(inverse, weights=w * y).astype(np.float64))


def fitted_curve(places: Floats, total: Floats, agreeing: Floats) -> AgreementCurve:
    """`agreement_curve` of ascending, distinct differences, (K,), from total weights of all and of agreeing pairs."""
    from scipy.optimize import isotonic_regression

    there = total > 0
    n = total[there]
    fitted = isotonic_regression(agreeing[there] / n, weights=n).x
    return AgreementCurve(places[there], np.asarray(fitted, dtype=np.float64), np.cumsum(n[::-1])[::-1])


UNSEEN = 3.0  # mean weight of disagreeing pairs beyond all differences; by simulation, see benchmarks/bench_deltas.py


@dataclass(frozen=True)
class PairsOfSet:
    """System pairs of one set whose systems were compared with each other.

    n_systems: N. first, second: (P,) indices 0..N-1 of a pair's systems. differences, agrees: (P,), as in
    `agreement_curve`.
    """

    n_systems: int
    first: Ints
    second: Ints
    differences: Floats
    agrees: Bools


@dataclass(frozen=True)
class Threshold:
    """difference: the smallest difference with a share of at least `level`; NaN = not reached.

    low, high: ends of the interval; NaN = beyond all observed differences. reached: share of resamples in which the
    level is reached.
    """

    level: float
    difference: float
    low: float
    high: float
    reached: float


@dataclass(frozen=True)
class AgreementThresholds:
    """curve: fitted to all pairs. thresholds: one per level. grid, low, high: (G,) a pointwise band of the curve."""

    curve: AgreementCurve
    thresholds: tuple[Threshold, ...]
    grid: Floats
    low: Floats
    high: Floats


def agreement_thresholds(
    sets: Sequence[PairsOfSet],
    levels: Sequence[float],
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
    n_grid: int = 60,
    also: Sequence[float] = (),
) -> AgreementThresholds:
    """Smallest difference from which a metric agrees with humans on a share of at least `level`, with 95% intervals.

    Each resample draws as many sets as there are, with replacement, and from each as many systems as it has. The weight
    of a pair is the product of how often its two systems were drawn; copies of a system make no pair. So pairs that
    share a system or a set, which depend on each other, stay together. Intervals are percentile intervals; a resample
    in which a level is not reached counts as beyond all differences. With one set, only systems are resampled.
    also: differences at which the band is computed, in addition to the grid, which has every step of the curve. If all
    pairs beyond a difference agree, no resample contains a pair that disagrees. So for upper ends, and for the lower
    end of the band, each resample gets disagreeing pairs beyond all differences, with a weight of 3 times an
    exponential variable. If pairs were independent, a factor of 1 would give the limit of Clopper and Pearson, but a
    system on which humans and the metric disagree is in several pairs.
    """
    x = np.concatenate([one.differences for one in sets])
    y = np.concatenate([one.agrees for one in sets]).astype(np.float64)
    curve = agreement_curve(x, y)
    places, inverse = np.unique(x, return_inverse=True)
    places = np.append(places, np.inf)
    steps = curve.differences[np.diff(curve.fitted, prepend=-1.0) > TOLERANCE]
    grid = np.unique(np.concatenate([np.quantile(x, np.linspace(0, 1, n_grid), method="lower"), steps, also]))
    found = np.full((2, n_draws, len(levels)), np.inf)  # as drawn, and with unseen pairs
    bands: tuple[list[Floats], list[Floats]] = ([], [])
    for draw in range(n_draws):
        weights, unseen = _drawn_weights(sets, rng), UNSEEN * rng.exponential()
        if not weights.any():
            continue
        total, agreeing = (
            np.bincount(inverse, weights=one, minlength=len(places)).astype(np.float64)
            for one in (weights, weights * y)
        )
        for which, beyond in enumerate((0.0, unseen)):
            total[-1] = beyond
            drawn = fitted_curve(places, total, agreeing)
            reached = np.array([drawn.smallest_difference(level) for level in levels])
            found[which, draw] = np.where(np.isnan(reached), np.inf, reached)
            bands[which].append(drawn.value(np.maximum(grid, drawn.differences[0])))
    tail = (1 - 0.95) / 2
    low = _finite(np.quantile(found[0], tail, axis=0, method="lower"))
    high = _finite(np.quantile(found[1], 1 - tail, axis=0, method="higher"))
    share = np.isfinite(found[0]).mean(axis=0)
    thresholds = tuple(
        Threshold(level, curve.smallest_difference(level), float(low[k]), float(high[k]), float(share[k]))
        for k, level in enumerate(levels)
    )
    if not bands[0]:
        return AgreementThresholds(curve, thresholds, grid, np.full(grid.shape, np.nan), np.full(grid.shape, np.nan))
    below, above = np.quantile(bands[1], tail, axis=0), np.quantile(bands[0], 1 - tail, axis=0)
    return AgreementThresholds(curve, thresholds, grid, below, above)


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)


def _drawn_weights(sets: Sequence[PairsOfSet], rng: np.random.Generator) -> Floats:
    """(P,) how often each pair of each set counts in a resample."""
    of_sets = rng.multinomial(len(sets), np.full(len(sets), 1 / len(sets)))
    weights = []
    for one, times in zip(sets, of_sets, strict=True):
        systems = rng.multinomial(one.n_systems, np.full(one.n_systems, 1 / one.n_systems))
        weights.append(times * systems[one.first] * systems[one.second])
    return np.concatenate(weights).astype(np.float64)
