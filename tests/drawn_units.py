"""The units that the engines draw with a generator, for plain loops over the same draws."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from metaeval.kernels.resampling.bootstrap import Resample, _picks
from metaeval.kernels.resampling.draws import blocks
from metaeval.kernels.resampling.permutation import draw_swaps

Ints = npt.NDArray[np.int64]


def swap_blocks(rng: np.random.Generator, n_draws: int, shape: tuple[int, ...]) -> Iterator[npt.NDArray[np.bool_]]:
    """The masks that `permutation_test` uses with this generator, block by block."""
    for stream, size in blocks(rng, n_draws):
        yield draw_swaps(stream, size, shape)


def resampled_units(
    rng: np.random.Generator, n_draws: int, resample: Resample, shape: tuple[int, int]
) -> list[tuple[Ints | None, Ints | None]]:
    """The systems (k, N) and segments (k, S) that `bootstrap` resamples with this generator, block by block."""
    return [_picks(s, n, resample, shape) for s, n in blocks(rng, n_draws)]
