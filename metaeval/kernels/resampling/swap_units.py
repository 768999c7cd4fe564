"""Which unit every (system, segment) score is swapped with: its segment, its system, or itself alone."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from metaeval.kernels.arrays.checks import Ints

Swap = Literal["inputs", "systems", "both"]


def mask_shape(swap: Swap, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of one swap mask over scores of this shape, (n_systems, n_segments) or (n_systems,).

    Raises ValueError: an unknown swap, or one of segments where there are system scores only.
    >>> mask_shape("inputs", (12, 460)), mask_shape("both", (12, 460))
    ((460,), (12, 460))
    """
    if swap not in get_args(Swap):
        raise ValueError(f"unknown swap {swap!r}; expected one of {', '.join(get_args(Swap))}")
    if len(shape) == 1:
        if swap != "systems":
            raise ValueError(f"swap={swap!r} needs segment scores; system scores can only swap systems")
        return shape
    return {"inputs": shape[1:], "systems": shape[:1], "both": shape}[swap]


def score_units(swap: Swap, shape: tuple[int, int]) -> Ints:
    """(n_systems, n_segments) number of each score's unit in a flattened mask."""
    mask_shape(swap, shape)
    n_systems, n_segments = shape
    if swap == "both":
        return np.arange(n_systems * n_segments, dtype=np.int64).reshape(shape)
    if swap == "systems":
        return np.repeat(np.arange(n_systems, dtype=np.int64)[:, np.newaxis], n_segments, axis=1)
    return np.repeat(np.arange(n_segments, dtype=np.int64)[np.newaxis], n_systems, axis=0)
