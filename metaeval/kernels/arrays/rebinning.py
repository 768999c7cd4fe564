"""Scores with fewer values, or without ties: what that does to statistics of pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .checks import Floats


def equal_width_bins(scores: npt.ArrayLike, n_bins: int) -> Floats:
    """Number, from 0, of the bin of each score; NaN stays.

    The range from the smallest to the largest score is cut into n_bins of equal width; the largest score is in the last
    bin; equal scores are all in bin 0.
    Raises ValueError: no bin.
    Source: Deutsch et al. 2023, section 4.2.
    >>> equal_width_bins([0.0, 0.24, 0.5, 1.0], 4).tolist()
    [0.0, 0.0, 2.0, 3.0]
    """
    if n_bins < 1:
        raise ValueError(f"{n_bins} bins: at least 1 is needed")
    values = np.asarray(scores, dtype=np.float64)
    if not values.size or np.isnan(values).all():
        return values.copy()
    low, high = np.nanmin(values), np.nanmax(values)
    if low == high:
        return np.where(np.isnan(values), np.nan, 0.0)
    return np.asarray(np.minimum(np.floor((values - low) / (high - low) * n_bins), n_bins - 1), dtype=np.float64)


def broken_ties(scores: npt.ArrayLike, rng: np.random.Generator) -> Floats:
    """Places of the scores in ascending order, from 0, equal ones in random order; NaN stays.

    Source: Deutsch et al. 2023, section 6.1 (ties broken at random).
    >>> broken_ties([0.5, 0.1, 0.9], np.random.default_rng(0)).tolist()
    [1.0, 0.0, 2.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    flat = values.ravel()
    places = np.empty(flat.size)
    places[np.lexsort((rng.random(flat.size), flat))] = np.arange(flat.size)
    return np.asarray(np.where(np.isnan(values), np.nan, places.reshape(values.shape)), dtype=np.float64)
