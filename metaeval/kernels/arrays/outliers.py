"""Systems whose human score lies far from the others'."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .checks import Bools

CUTOFF = 2.5


def mad_outliers(human: npt.ArrayLike, cutoff: float = CUTOFF) -> Bools:
    """True for systems with |h − median| > cutoff · 1.4826 · MAD, (n_systems,).

    human: (n_systems,) system scores; NaN = not judged, excluded and no outlier. MAD: median of
        |h − median|. Where it is 0, every score that differs from the median is an outlier.
    Raises ValueError: not one-dimensional, an infinite score, or a cutoff that is not positive.
    Source: Mathur et al. 2020, section 4.1.
    >>> mad_outliers([1.0, 1.1, 1.2, 1.3, 9.0]).tolist()
    [False, False, False, False, True]
    """
    scores = np.asarray(human, dtype=np.float64)
    if scores.ndim != 1 or np.isinf(scores).any():
        raise ValueError(f"human must be finite or NaN, (n_systems,), got shape {scores.shape}")
    if not cutoff > 0:
        raise ValueError(f"cutoff must be positive, got {cutoff}")
    judged = ~np.isnan(scores)
    flags = np.zeros(scores.shape, dtype=bool)
    if judged.any():
        distance = np.abs(scores[judged] - np.median(scores[judged]))
        flags[judged] = distance > cutoff * 1.4826 * np.median(distance)
    return flags
