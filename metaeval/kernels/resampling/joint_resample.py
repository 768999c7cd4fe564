"""A weighted sum of several statistics, in which units that they share are drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints

from .resampled_statistics import ResampleStatistic


@dataclass(frozen=True)
class JointResample:
    """The weighted sum of statistics over the same metrics, on resampled units.

    places: for each part, which of the n_units units each of its segments is; a unit drawn twice counts twice in every
    part that has it, so what the parts have in common by chance is kept. Resamples without any segment of a part have
    no value.
    Raises ValueError: nothing to add, or places that are not those of a part's segments.
    """

    parts: Sequence[ResampleStatistic]
    weights: Sequence[float]
    places: Sequence[Ints]
    n_units: int

    def __post_init__(self) -> None:
        if not self.parts or not len(self.parts) == len(self.weights) == len(self.places):
            raise ValueError(f"{len(self.parts)} statistics, {len(self.weights)} weights, {len(self.places)} lists")
        for part, units in zip(self.parts, self.places, strict=True):
            if len(units) != part.shape[1] or units.min() < 0 or units.max() >= self.n_units:
                raise ValueError(f"{len(units)} places among {self.n_units} units for {part.shape[1]} segments")

    @property
    def shape(self) -> tuple[int, int]:
        """(N systems of the first part, number of units)."""
        return self.parts[0].shape[0], self.n_units

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`; segments: places of units. Raises ValueError: systems are resampled."""
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
