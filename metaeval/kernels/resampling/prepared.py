"""Statistics of metrics, prepared for tests: what a test asks of a statistic, and which kinds of tests there are.

Measures need these even if nothing is tested, so no test is imported here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

Swap = Literal["inputs", "systems", "both"]
Varying = Literal["segments", "systems", "both"]
PairStatistic = Literal["acc23", "tau_23"]
IntervalMethod = Literal["percentile", "normal", "centred"]
Kind = Literal["linear", "ranks", "pairs"]

#: Two statistics, or two standardised system scores, nearer than this are equal.
TOLERANCE = 1e-9
#: With fewer systems a variance over systems means nothing; nor does one over segments.
LEAST_SYSTEMS = 3
#: On Fisher's scale: without one of 3 systems any correlation is 1 or -1.
LEAST_SYSTEMS_FISHER = 4
#: Of Williams' test: fewer leave no degree of freedom.
LEAST_FOR_WILLIAMS = 4


def mask_shape(swap: Swap, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of one swap mask over scores of this shape, (n_systems, n_segments) or (n_systems,).

    Raises ValueError: an unknown swap, or a swap of segments if there are only system scores.
    >>> mask_shape("inputs", (12, 460)), mask_shape("both", (12, 460))
    ((460,), (12, 460))
    """
    checks.known(swap, get_args(Swap), "swap")
    if len(shape) == 1:
        if swap != "systems":
            raise ValueError(f"swap={swap!r} needs segment scores; system scores can only swap systems")
        return shape
    return {"inputs": shape[1:], "systems": shape[:1], "both": shape}[swap]


@dataclass(frozen=True, kw_only=True)
class SwapStatistic(ABC):
    """A statistic of metrics, prepared for swapping; it must survive pickling to be used with processes.

    n_metrics: metrics compared. mask_shape: of one swap mask: (S,) for segments, (N,) for systems, (N, S) for single
    scores. scale, offset: the statistic is offset + scale · `hybrids` (which may count whole pairs). tolerance:
    differences of `hybrids` smaller than this are ties; 0 where they are whole numbers.
    """

    n_metrics: int
    mask_shape: tuple[int, ...]
    scale: float = 1.0
    offset: float = 0.0
    tolerance: float = TOLERANCE

    @abstractmethod
    def hybrids(self, swaps: Bools) -> Floats:
        """(n_draws, M, M): [k, a, b] is metric a with the units of swaps[k] taken from metric b.

        NaN where the hybrid has no value.
        """

    def wanted_hybrids(self, swaps: Bools, wanted: Bools) -> Floats:
        """`hybrids` of some pairs of metrics, wanted: (M, M); entries of other pairs are not read."""
        return self.hybrids(swaps)


class ResampleStatistic(Protocol):
    """A statistic of M metrics that can be computed on resampled systems and segments."""

    @property
    def shape(self) -> tuple[int, int]:
        """(N systems, S segments)."""

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """(n_draws, M) values; systems, segments: (n_draws, any number) indices picked, None = not resampled.

        An index of -1 is ignored: resamples of whole documents have different numbers of segments.
        """
