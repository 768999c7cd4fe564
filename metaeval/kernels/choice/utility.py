"""How useful it looks to annotate a segment, from what metrics say of the systems' outputs; higher is chosen first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats


def metric_average(scores: npt.ArrayLike) -> Floats:
    """−mean over systems, (..., N, S) -> (..., S): segments that look difficult; NaN where a score is missing.

    >>> metric_average([[0.5, 1.0], [0.7, 1.0]]).tolist()
    [-0.6, -1.0]
    """
    return np.asarray(-np.asarray(scores, dtype=np.float64).mean(axis=-2))


def metric_variance(scores: npt.ArrayLike) -> Floats:
    """Variance over systems (ddof 0), (..., N, S) -> (..., S): segments on which systems differ; NaN as above.

    >>> metric_variance([[0.0, 1.0], [2.0, 1.0]]).tolist()
    [1.0, 0.0]
    """
    return np.asarray(np.asarray(scores, dtype=np.float64).var(axis=-2))


def metric_consistency(scores: npt.ArrayLike) -> Floats:
    """τ_c of a segment's scores with the systems' means, (N, S) -> (S,): segments that order systems as the whole does.

    The means are over the segments given, without those that a score is missing of, which are NaN. 0 where all scores
    of a segment, or all means, are equal: there is nothing to order.
    >>> metric_consistency([[3.0, 1.0, 2.0], [2.0, 2.0, 2.0], [1.0, 1.5, 2.0]]).round(3).tolist()[::2]
    [0.889, 0.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    complete = ~np.isnan(values).any(axis=0)
    found = np.full(values.shape[1], np.nan)
    if not complete.any() or len(values) < 2:
        return found
    there = values[:, complete]
    means = there.mean(axis=1)
    first, second = np.triu_indices(len(values), 1)
    order = np.sign(means[first] - means[second])  # (P,)
    n_ahead = (np.sign(there[first] - there[second]) * order[:, np.newaxis]).sum(axis=0)  # concordant − discordant
    ranked = np.sort(there, axis=0)
    n_distinct = np.minimum(1 + np.count_nonzero(np.diff(ranked, axis=0), axis=0), len(np.unique(means)))
    classes = np.where(n_distinct > 1, n_distinct, 2)
    tau = 2.0 * n_ahead / (len(values) ** 2 * (classes - 1) / classes)
    found[complete] = np.where(n_distinct > 1, np.clip(tau, -1.0, 1.0), 0.0)
    return found


def standardised(scores: npt.ArrayLike) -> Floats:
    """Scores (M, N, S) of each metric with mean 0 and standard deviation 1 over all that is there; a constant one is 0.

    >>> standardised([[[1.0, 3.0]], [[5.0, 5.0]]]).tolist()
    [[[-1.0, 1.0]], [[0.0, 0.0]]]
    """
    values = np.asarray(scores, dtype=np.float64)
    found = np.empty_like(values)
    for place, one in enumerate(values):
        there = one[~np.isnan(one)]
        spread = there.std() if there.size and np.ptp(there) > 0 else 0.0
        found[place] = (one - there.mean()) / spread if spread > 0 else one * 0.0
    return found
