"""τ_ap of hybrids, for permutation tests."""

from __future__ import annotations

import numpy as np

from metaeval.kernels.agreement.pairwise_accuracy import difference_signs
from metaeval.kernels.agreement.tau_ap import rank_weights
from metaeval.kernels.arrays.checks import Floats

from .permutation_system import hybrid_signs


def tau_ap_of_hybrids(kept: Floats, taken: Floats, human: Floats) -> Floats:
    """(k, M, M) τ_ap of every hybrid: see `permutation_system.HybridStatistic` and `tau_ap.tau_ap`."""
    n_systems = human.size
    pairs = list(zip(difference_signs(human), *np.triu_indices(n_systems, 1), strict=True))
    shape = (len(kept), kept.shape[1], kept.shape[1])
    n_above = np.zeros((n_systems, *shape), dtype=np.int16)
    n_tied = np.ones((n_systems, *shape), dtype=np.int16)
    for _, i, j in pairs:
        sign = hybrid_signs(kept, taken, i, j)
        n_above[i] += sign < 0
        n_above[j] += sign > 0
        n_tied[i] += sign == 0
        n_tied[j] += sign == 0
    below, within = rank_weights(n_systems)
    right, total = np.zeros(shape), np.zeros(shape)
    for human_sign, i, j in pairs:
        sign = hybrid_signs(kept, taken, i, j)
        weight = np.where(sign < 0, below[n_above[i], n_tied[i]], below[n_above[j], n_tied[j]])
        weight = np.where(sign == 0, within[n_above[i], n_tied[i]], weight)
        right += np.where(sign == human_sign, weight, 0.0)
        total += weight
    value = np.full(shape, np.nan)
    np.divide(right, total, out=value, where=total > 0)
    return 2.0 * value - 1.0
