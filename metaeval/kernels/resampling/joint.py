"""A weighted sum of several statistics; units that the statistics share are swapped, or drawn, together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.prepared import ResampleStatistic, SwapStatistic


@dataclass(frozen=True)
class JointSwap(SwapStatistic):
    """See `joint_swap`."""

    parts: tuple[SwapStatistic, ...]
    weights: tuple[float, ...]
    places: tuple[Ints, ...]

    def hybrids(self, swaps: Bools) -> Floats:
        """See `SwapStatistic`; NaN where a part's hybrid has no value."""
        total = np.zeros((len(swaps), self.n_metrics, self.n_metrics))
        for part, weight, places in zip(self.parts, self.weights, self.places, strict=True):
            own = np.ascontiguousarray(swaps[:, places]).reshape(-1, *part.mask_shape)
            total += weight * (part.offset + part.scale * part.hybrids(own))
        return total


def joint_swap(
    parts: Sequence[SwapStatistic], weights: Sequence[float], places: Sequence[Ints], n_units: int
) -> JointSwap:
    """The weighted sum of statistics over the same metrics, prepared for `permutation_test`.

    places: for each part, the number (of n_units) of each unit in its mask. A unit that is swapped is swapped in every
    part that contains it, so the dependence between the parts is preserved.
    """
    return JointSwap(
        n_metrics=parts[0].n_metrics,
        mask_shape=(n_units,),
        parts=tuple(parts),
        weights=tuple(weights),
        places=tuple(places),
    )


@dataclass(frozen=True)
class JointResample:
    """The weighted sum of statistics over the same metrics, on resampled units.

    places: for each part, the number (of n_units) of each of its segments. A unit drawn twice counts twice in every
    part that contains it, so the dependence between the parts is preserved. A resample without any segment of a part
    has no value.
    """

    parts: Sequence[ResampleStatistic]
    weights: Sequence[float]
    places: Sequence[Ints]
    n_units: int

    @property
    def shape(self) -> tuple[int, int]:
        """(N systems of the first part, number of units)."""
        return self.parts[0].shape[0], self.n_units

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`; segments: numbers of units. Raises ValueError: systems are resampled."""
        if systems is not None:
            raise ValueError("the parts have systems of their own: only units can be resampled")
        found = [self._of_part(part, own, segments, n_draws) for part, own in zip(self.parts, self.places, strict=True)]
        return np.asarray(sum(weight * one for weight, one in zip(self.weights, found, strict=True)))

    def _of_part(self, part: ResampleStatistic, own: Ints, units: Ints | None, n_draws: int) -> Floats:
        if units is None or np.array_equal(own, np.arange(self.n_units)):
            return part.values(None, units, n_draws)
        members = [np.flatnonzero(own == unit) for unit in range(self.n_units)]
        nothing = np.full_like(part.values(None, None, 1), np.nan)
        drawn = [np.concatenate([members[unit] for unit in picks]) for picks in units]
        return np.concatenate([part.values(None, one[np.newaxis], 1) if len(one) else nothing for one in drawn])
