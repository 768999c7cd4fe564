"""F of error spans with units swapped between metrics, and on resampled systems and segments."""

from dataclasses import dataclass

import numpy as np

from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.spans.ratios import Average, rates

from .draws import times_drawn
from .permutation import SwapStatistic
from .permutation_groups import sums_of_hybrids
from .swap_units import Swap, mask_shape


@dataclass(frozen=True)
class RatioResample:
    """F on resampled systems and segments. sums: (M, N, S, 4), 0 where nothing is compared."""

    sums: Floats
    average: Average

    @property
    def shape(self) -> tuple[int, int]:
        """See `ResampleStatistic`."""
        return int(self.sums.shape[1]), int(self.sums.shape[2])

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`."""
        n_systems, n_segments = self.shape
        drawn = times_drawn(segments, n_draws, n_segments)
        if systems is None:
            totals = np.einsum("ds,msk->dmk", drawn, self.sums.sum(axis=1), optimize=True)
        else:
            of_systems = times_drawn(systems, n_draws, n_systems)
            totals = np.einsum("dn,ds,mnsk->dmk", of_systems, drawn, self.sums, optimize=True)
        return rates(totals, self.average)[2]


@dataclass(frozen=True)
class RatioSwap(SwapStatistic):
    """F of metrics whose units (segments, systems or outputs) are swapped. sums: (4, M, n_units)."""

    sums: Floats
    average: Average

    def hybrids(self, swaps: Bools) -> Floats:
        """See `SwapStatistic`."""
        columns = self.sums.reshape(-1, self.sums.shape[2])
        totals = np.stack(sums_of_hybrids(swaps.reshape(len(swaps), -1), columns, 4), axis=-1)
        return rates(totals, self.average)[2]


def ratio_swap(sums: Floats, average: Average, swap: Swap) -> RatioSwap:
    """F prepared for swapping. sums: (M, N, S, 4)."""
    of_units = {"inputs": sums.sum(axis=1), "systems": sums.sum(axis=2), "both": sums.reshape(len(sums), -1, 4)}[swap]
    columns = np.ascontiguousarray(np.moveaxis(of_units, 2, 0))
    return RatioSwap(columns, average, n_metrics=len(sums), mask_shape=mask_shape(swap, sums.shape[1:3]))
