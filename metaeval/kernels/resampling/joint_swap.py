"""A weighted sum of several statistics, in which units that they share are swapped together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.kernels.arrays.checks import Bools, Floats, Ints

from .permutation import SwapStatistic


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

    places: for each part, which of the n_units units the places of its mask are. A unit that is swapped is swapped in
    every part that has it, so what the parts have in common by chance is kept.
    Raises ValueError: nothing to add, other numbers of metrics, or places that are not those of a part's mask.
    """
    if not parts or not len(parts) == len(weights) == len(places):
        raise ValueError(f"{len(parts)} statistics, {len(weights)} weights and {len(places)} masks do not fit")
    for part, units in zip(parts, places, strict=True):
        if part.n_metrics != parts[0].n_metrics:
            raise ValueError(f"statistics of {parts[0].n_metrics} and of {part.n_metrics} metrics cannot be added")
        if units.size != np.prod(part.mask_shape) or units.min() < 0 or units.max() >= n_units:
            raise ValueError(f"{units.size} places among {n_units} units do not fit a mask of shape {part.mask_shape}")
    return JointSwap(
        n_metrics=parts[0].n_metrics,
        mask_shape=(n_units,),
        parts=tuple(parts),
        weights=tuple(weights),
        places=tuple(places),
    )
