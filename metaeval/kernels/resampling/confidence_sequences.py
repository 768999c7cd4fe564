"""Intervals that stay valid however often you look: asymptotic confidence sequences for the mean of growing data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats, Ints

FEWEST = 15  # units that differ from 0 before the first look: the sequences are asymptotic
_EQUAL = 1e-9  # of the largest total: less is rounding


def squared_radii(n: npt.ArrayLike, alpha: float, tightest: float) -> Floats:
    """Squared half width of the two-sided sequence for a sum of n units, in units of its sum of squares; as `n`.

    tightest: number of units at which the sequence is tightest; it is valid for all numbers.
    Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, theorem 2.2 and equation 12.
    >>> (squared_radii([100], 0.05, 100) ** 0.5 / 10).round(3).tolist()  # of the mean, in standard deviations
    [0.304]
    """
    size = np.asarray(n, dtype=np.float64)
    if not 0 < alpha < 1 or not tightest > 0 or not (size > 0).all():
        raise ValueError(f"alpha {alpha} must be in (0, 1), tightest {tightest} and n above 0")
    grown = size * (-2 * np.log(alpha) + np.log(-2 * np.log(alpha) + 1)) / tightest
    return np.asarray((grown + 1) / grown * (np.log(grown + 1) - 2 * np.log(alpha)))


def confidence_sequence(
    totals: npt.ArrayLike, sizes: npt.ArrayLike, *, alpha: float, tightest: float | None = None, fewest: int = FEWEST
) -> tuple[Floats, Floats, Floats]:
    """Mean per segment, and the two ends of its always-valid interval, after each unit: each (..., n_units).

    totals: (..., n_units) sum of the values of each unit, such as a document; units in random order. sizes: (n_units,)
    number of segments in each.
    tightest: see `squared_radii`; None: half of the units.
    fewest: ends are infinite until this many totals differ from 0, because the spread is unknown before. With many
    units, the true mean is in all intervals at once with probability 1 - alpha. A mean is in the interval unless the
    sum of total - mean * size is too far from 0 for its own sum of squares. The squares are around the mean in
    question, not around the observed mean as in the source, which makes errors rarer with few or skewed units.
    Raises ValueError: shapes that do not match, or a missing value.
    """
    sums, lengths = np.asarray(totals, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if lengths.ndim != 1 or sums.shape[-1:] != lengths.shape or not len(lengths):
        raise ValueError(f"totals must be (..., n_units) and sizes (n_units,), got {sums.shape} and {lengths.shape}")
    if not np.isfinite(sums).all() or not (lengths > 0).all():
        raise ValueError("totals must be finite, and sizes above 0")
    n = np.arange(1, len(lengths) + 1)
    radius = squared_radii(n, alpha, len(lengths) / 2 if tightest is None else tightest)
    total, length = np.cumsum(sums, axis=-1), np.cumsum(lengths)
    # (total - mean length)^2 <= radius * sum of (total_d - mean size_d)^2, a quadratic inequality in the mean
    a = length**2 - radius * np.cumsum(lengths**2)
    b = total * length - radius * np.cumsum(sums * lengths, axis=-1)
    c = total**2 - radius * np.cumsum(sums**2, axis=-1)
    root = np.sqrt(np.maximum(b**2 - a * c, 0))
    is_known = (a > 0) & (np.cumsum(_is_other(sums), axis=-1) >= fewest)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (np.where(is_known, (b + sign * root) / a, sign * np.inf) for sign in (-1, 1))
    return total / length, low, high


def _is_other(sums: Floats) -> Bools:
    """True for totals that differ from 0."""
    largest = np.abs(sums).max(axis=-1, keepdims=True, initial=0)
    return np.asarray(np.abs(sums) > _EQUAL * largest)


def possible_winners(
    totals: npt.ArrayLike, sizes: npt.ArrayLike, *, alpha: float, fewest: int = FEWEST
) -> tuple[Bools, Ints]:
    """Which systems may still be best after each unit, (n_systems, n_units), and the unit at which each was excluded.

    totals: (n_systems, n_units) sum of each system's human scores on a unit; higher is better. sizes: (n_units,). A
    system is excluded for good once another system that is still possible has a higher mean by a one-sided confidence
    sequence at alpha / (n_systems - 1). This level is enough, because only its own comparisons can exclude the best
    system: it stays at all times with probability 1 - alpha. An excluded system needs no more judgements, and excludes
    no other. The second array, (n_systems,), counts units until exclusion, and is n_units for a system that stays.
    """
    sums = np.asarray(totals, dtype=np.float64)
    n_systems, n_units = sums.shape
    is_possible = np.ones(n_systems, dtype=np.bool_)
    out = np.full(n_systems, n_units)
    alive = np.empty((n_systems, n_units), dtype=np.bool_)
    each = 2 * alpha / max(n_systems - 1, 1)  # two-sided
    _, low, _ = confidence_sequence(sums[:, None] - sums[None], sizes, alpha=each, fewest=fewest)
    for unit in range(n_units):
        beats = (low[:, :, unit] > 0) & is_possible[:, None]
        beaten = is_possible & beats.any(axis=0)
        is_possible = is_possible & ~beaten
        out[beaten] = unit + 1
        alive[:, unit] = is_possible
    return alive, out
