"""AP correlation of system scores: disagreements near the top of the metric's ranking weigh more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats, Ints

from .pairwise_accuracy import difference_signs


def tau_ap(
    human: npt.ArrayLike, metrics: npt.ArrayLike, *, raw_ties: bool = False, systems: Ints | None = None
) -> Floats:
    """τ_ap of each metric with the human scores, (n_metrics,), in [−1, 1].

    2 / (N − 1) · Σ over ranks i ≥ 2 in the metric's ranking of C(i) / (i − 1), minus 1; C(i): systems above rank i
    whose order to the one at rank i is that of the human scores. Not symmetric: the ranks are the metric's.
    human: (n_systems,), NaN = not judged, such systems are excluded. metrics: (n_metrics, n_systems).
    Ties as in `pairwise_accuracy`: a zero difference on one side only is a disagreement, zero on both sides agrees;
    systems that the metric ties share their ranks: the mean over all orders of them.
    raw_ties: as in `pairwise_accuracy`. systems: (n_systems,) which system a row is, None = each another; two rows of
    one system make no pair.
    NaN with fewer than 2 judged systems.
    Raises ValueError: shapes, or a missing metric score of a judged system.
    Source: Yilmaz, Aslam and Robertson 2008, section 4; they have no ties.
    >>> tau_ap([4.0, 3.0, 2.0, 1.0], [[3.0, 4.0, 2.0, 1.0], [4.0, 3.0, 1.0, 2.0]]).round(4).tolist()
    [0.3333, 0.7778]
    """
    human, metrics = checks.system_scores(human, metrics)
    judged = ~np.isnan(human)
    n = int(np.count_nonzero(judged))
    if n < 2:
        return np.full(len(metrics), np.nan)
    first, second = np.triu_indices(n, 1)
    signs = difference_signs(metrics[:, judged], raw_ties=raw_ties)  # (M, n_pairs)
    order = np.zeros((len(metrics), n, n), dtype=np.int8)
    order[:, first, second], order[:, second, first] = signs, -signs
    n_above, n_tied = (order < 0).sum(axis=2), (order == 0).sum(axis=2)
    below, within = rank_weights(n)
    lower = np.where(signs > 0, second, first)
    row = np.arange(len(metrics))[:, np.newaxis]
    weights = np.where(signs == 0, within[n_above, n_tied][:, first], below[n_above, n_tied][row, lower])
    if systems is not None:
        weights = weights * (systems[judged][first] != systems[judged][second])
    right = np.where(signs == difference_signs(human[judged], raw_ties=raw_ties), weights, 0.0)
    value = np.full(len(metrics), np.nan)
    total = weights.sum(axis=1)
    np.divide(right.sum(axis=1), total, out=value, where=total > 0)
    return 2.0 * value - 1.0


def rank_weights(n_systems: int) -> tuple[Floats, Floats]:
    """What a pair of systems weighs in τ_ap: two tables (n_systems, n_systems + 1) by [systems above, systems tied].

    The first is of a pair whose lower system has so many above it and shares its ranks with so many (itself included):
    the mean of 1 / (rank − 1) over these ranks. The second is of a pair of tied systems: the mean over their orders.
    >>> below, within = rank_weights(3)
    >>> below[1, 1].item(), below[2, 1].item(), within[0, 2].item()
    (1.0, 0.5, 1.0)
    """
    above, tied = np.arange(n_systems)[:, np.newaxis], np.arange(n_systems + 1)[np.newaxis]
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, 2 * n_systems + 1))])
    sums = harmonic[np.maximum(above + tied - 1, 0)]  # 1 + 1/2 + ... up to the last of the shared ranks
    below = (sums - harmonic[np.maximum(above - 1, 0)]) / np.maximum(tied, 1)
    within = 2.0 * (tied - 1 - above * (sums - harmonic[above])) / np.maximum(tied * (tied - 1), 1)
    return below, within
