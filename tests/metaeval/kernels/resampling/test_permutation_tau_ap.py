"""τ_ap of hybrids against plain loops over the same masks."""

import numpy as np
import pytest

from metaeval.kernels.resampling.permutation import standardise
from metaeval.kernels.resampling.permutation_system import system_swap
from tests import naive


@pytest.mark.parametrize("swap", ["systems", "inputs", "both"])
def test_hybrids_equal_the_statistic_of_the_swapped_scores(swap: str) -> None:
    rng = np.random.default_rng(3)
    human = rng.integers(0, 3, (5, 4)).astype(float)
    human[2, 1] = np.nan
    metrics = rng.integers(0, 3, (3, 5, 4)).astype(float)
    statistic = system_swap(human, metrics, "tau_ap", swap)  # type: ignore[arg-type]
    masks = rng.integers(0, 2, (6, *statistic.mask_shape)).astype(bool)
    found = statistic.hybrids(masks)
    scores = np.where(np.isnan(human), np.nan, standardise(human, metrics))
    truth = np.nanmean(human, axis=1).round(9).tolist()
    for k, mask in enumerate(masks):
        taken = np.broadcast_to(mask[:, np.newaxis] if swap == "systems" else mask, human.shape)
        for a in range(3):
            for b in range(3):
                hybrid = np.nanmean(np.where(taken, scores[b], scores[a]), axis=1).round(9).tolist()
                assert found[k, a, b] == pytest.approx(naive.tau_ap(truth, hybrid), abs=1e-12)
