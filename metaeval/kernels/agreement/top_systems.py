"""The best systems by their human scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools


def top_systems(human: npt.ArrayLike, n: int) -> Bools:
    """(n_systems,) the n best systems by their human scores; all where fewer are judged.

    human: (n_systems,), higher is better, NaN = not judged, such systems are not among them. Systems with the score of
    the n-th best are all among them, so no order of names decides and there may be more than n.
    Raises ValueError: not one-dimensional, n below 1.
    >>> top_systems([0.5, 0.9, np.nan, 0.7, 0.7], 2).tolist()
    [False, True, False, True, True]
    """
    scores = np.asarray(human, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(f"human must be (n_systems,), got {scores.ndim} dimensions")
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    judged = np.sort(scores[~np.isnan(scores)])
    last = judged[-n] if judged.size >= n else -np.inf
    return np.asarray(scores >= last)
