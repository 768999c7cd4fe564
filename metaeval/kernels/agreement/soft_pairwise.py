"""Soft pairwise accuracy: how alike human and metric p-values of system pairs are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats


def soft_pairwise_accuracy(
    p_human: npt.ArrayLike, p_metric: npt.ArrayLike, *, counted: Bools | None = None, binary: bool = False
) -> Floats:
    """1 − mean over system pairs of |p_human − p_metric|, in [0, 1]; higher is better.

    p_human: (n_systems, n_systems), p_metric: (..., n_systems, n_systems), one matrix or many; [i, j] is the
        one-sided p-value of "system i is better than system j"; only i < j is read.
    counted: (n_systems, n_systems), the pairs that the mean is over, such as those with common segments; None: all.
    binary: p-values become 1 where they are 0.5 or more, else 0 (eq. 3), which is pairwise accuracy but for p-values
        of exactly 0.5.
    Returns (...): a number for one matrix.
    Raises ValueError: shapes differ, fewer than 2 systems, no pair, or a value above the diagonal outside [0, 1].
    Source: Thompson et al. 2024, eq. 1 and 3.
    >>> float(soft_pairwise_accuracy(np.full((2, 2), 0.3), np.full((2, 2), 0.5)))
    0.8
    """
    human = checks.probabilities(p_human, "p_human")
    metric = checks.probabilities(p_metric, "p_metric")
    if human.shape != metric.shape[-2:]:
        raise ValueError(f"p_human {human.shape} and p_metric {metric.shape} must have the same systems")
    every = np.ones(human.shape, dtype=np.bool_) if counted is None else np.asarray(counted, dtype=np.bool_)
    if every.shape != human.shape:
        raise ValueError(f"counted {every.shape} and p_human {human.shape} must have the same systems")
    first, second = np.nonzero(np.triu(every, 1))
    if not first.size:
        raise ValueError("no pair of systems is counted")
    human, metric = human[first, second], metric[..., first, second]
    if binary:
        return np.asarray(((human >= 0.5) == (metric >= 0.5)).mean(axis=-1), dtype=np.float64)
    return np.asarray(1.0 - np.abs(human - metric).mean(axis=-1), dtype=np.float64)
