"""How sure is it from which difference on a metric agrees with people? Sets of systems are resampled, then systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.kernels.agreement.agreement_curve import AgreementCurve, agreement_curve, fitted_curve
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, count

UNSEEN = 3.0  # mean weight of disagreeing pairs beyond all differences; by simulation, see benchmarks/bench_deltas.py


@dataclass(frozen=True)
class PairsOfSet:
    """System pairs of one set whose systems were compared with each other.

    n_systems: N. first, second: (P,) places of a pair's systems in 0..N-1. differences, agrees: (P,), as of
    `agreement_curve`.
    """

    n_systems: int
    first: Ints
    second: Ints
    differences: Floats
    agrees: Bools


@dataclass(frozen=True)
class Threshold:
    """difference: the smallest with a share of at least `level`; NaN = not reached.

    low, high: ends of the interval; NaN = beyond all differences there are. reached: share of resamples with one.
    """

    level: float
    difference: float
    low: float
    high: float
    reached: float


@dataclass(frozen=True)
class AgreementThresholds:
    """curve: of all pairs. thresholds: one a level. grid, low, high: (G,) a pointwise band of the curve."""

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
    confidence: float = 0.95,
    n_grid: int = 60,
) -> AgreementThresholds:
    """From which difference on a metric orders pairs as people do in at least a share of `level`, with intervals.

    Each resample takes as many sets as there are, with replacement, and in each of them as many systems as it has; a
    pair counts as often as both its systems were taken, and copies of a system make no pair. So pairs that share a
    system or a set stay together, as they depend on each other. Intervals are percentile ones; a resample in which a
    level is not reached counts as beyond all differences. With one set, systems alone are resampled.
    Where all pairs beyond a difference agree, no resample has one that does not. So for upper ends, and for the lower
    end of the band, each resample gets such pairs beyond all differences, of a weight that is 3 times an exponential
    one: were pairs independent, 1 in place of 3 would give the end of Clopper and Pearson, but a system that people and
    the metric disagree on is in several pairs.
    Raises ValueError: no set, no pair, a level outside (0, 1), n_draws below 1.
    """
    count(n_draws, "n_draws")
    if not sets or not all(0 < level < 1 for level in levels):
        raise ValueError("expected at least one set, and levels between 0 and 1")
    x = np.concatenate([one.differences for one in sets])
    y = np.concatenate([one.agrees for one in sets]).astype(np.float64)
    curve = agreement_curve(x, y)
    places, inverse = np.unique(x, return_inverse=True)
    places = np.append(places, np.inf)
    grid = np.unique(np.quantile(x, np.linspace(0, 1, n_grid), method="lower"))
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
    tail = (1 - confidence) / 2
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
