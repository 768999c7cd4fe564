"""Pairwise accuracy of hybrids, for permutation tests; over several evaluation sets, too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pairwise_accuracy import Ties, difference_signs
from metaeval.kernels.arrays.checks import Bools, Floats

from .permutation import TOLERANCE, SwapStatistic, standardise
from .permutation_system import Signs, SystemSwap, system_swap
from .swap_units import Swap


@dataclass(frozen=True)
class Agreements:
    """Pairwise accuracy of hybrids, in whole pairs that agree; a share of them with raw_ties."""

    ties: Ties
    raw_ties: bool

    def signs(self, human: Floats) -> Signs:
        """Sign of the human difference of each system pair, (n_pairs,)."""
        return difference_signs(human, raw_ties=self.raw_ties)

    def is_counted(self, human: Floats) -> Bools:
        """System pairs that count, (n_pairs,)."""
        signs = self.signs(human)
        return np.asarray(signs != 0 if self.ties == "tship" else np.ones(signs.size, dtype=np.bool_))

    def n_counted(self, human: Floats) -> int:
        """How many they are."""
        return int(np.count_nonzero(self.is_counted(human)))

    def __call__(self, kept: Floats, taken: Floats, human: Floats) -> Floats:
        """See `HybridStatistic`."""
        shape = (len(kept), kept.shape[1], kept.shape[1])
        n_agree = np.zeros(shape)
        signs, counted = self.signs(human), self.is_counted(human)
        slack = 0.0 if self.raw_ties else TOLERANCE
        for pair, (i, j) in enumerate(zip(*np.triu_indices(human.size, 1), strict=True)):
            if not counted[pair]:
                continue
            mine = (kept[:, :, i] - kept[:, :, j])[:, :, np.newaxis]
            other = (taken[:, :, i] - taken[:, :, j])[:, np.newaxis, :]
            if signs[pair] > 0:
                n_agree += other > slack - mine
            elif signs[pair] < 0:
                n_agree += other < -slack - mine
            else:
                n_agree += np.abs(mine + other) <= slack
        if not self.raw_ties:
            return n_agree
        n_counted = int(np.count_nonzero(counted))
        return n_agree / n_counted if n_counted else np.full_like(n_agree, np.nan)


@dataclass(frozen=True)
class PooledSwap(SwapStatistic):
    """Pairwise accuracy pooled over evaluation sets: agreements added up, each set with masks of its own.

    parts: one `SystemSwap` of pairwise accuracy for each set, over the same metrics in the same order; see
    `pooled_swap`. A mask holds the units of the first set, then those of the second and so on.
    """

    parts: tuple[SystemSwap, ...]
    accuracy: Agreements

    def hybrids(self, swaps: Bools) -> Floats:
        """See `permutation.SwapStatistic`."""
        total = np.zeros((len(swaps), self.n_metrics, self.n_metrics))
        n_pairs = _n_counted(self.parts, self.accuracy)
        start = 0
        for part in self.parts:
            end = start + math.prod(part.mask_shape)
            agree = part.hybrids(swaps[:, start:end].reshape(-1, *part.mask_shape))
            if self.accuracy.raw_ties:  # a share of the set's own pairs
                agree *= self.accuracy.n_counted(part.human) / n_pairs if n_pairs else np.nan
            total += agree
            start = end
        return total


def accuracy_swap(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    swap: Swap = "inputs",
    *,
    ties: Ties = "organisers",
    raw_ties: bool = False,
    truth: npt.ArrayLike | None = None,
) -> SystemSwap:
    """Pairwise accuracy prepared for `permutation_test`.

    human, metrics, swap, truth: as of `system_swap`. ties: see `pairwise_accuracy`. raw_ties: zero differences of
    system scores, and equal differences of two accuracies, are compared as raw floats; else accuracies are compared as
    counts.
    Raises ValueError: an unknown tie rule, and as `system_swap`.
    """
    if ties not in get_args(Ties):
        raise ValueError(f"unknown ties {ties!r}; expected one of {', '.join(get_args(Ties))}")
    accuracy = Agreements(ties, raw_ties)
    found = system_swap(human, metrics, accuracy, swap, truth=truth)
    return replace(found, scale=_scale(accuracy, accuracy.n_counted(found.human)), tolerance=0.0)


def pooled_swap(
    sets: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], *, ties: Ties = "organisers", raw_ties: bool = False
) -> PooledSwap:
    """Pairwise accuracy pooled over evaluation sets, prepared for `permutation_test`: whole systems are swapped.

    sets: (human (N,), metrics (M, N)) system scores of each set, over the same metrics. Each metric is standardised
        over the system scores of all sets together, so what a swapped system brings along depends on the other sets.
    ties, raw_ties: as of `accuracy_swap`.
    Raises ValueError: as `accuracy_swap`; no set.
    Source: the shared tasks' pooled pairwise accuracy, 2021-2023.
    """
    if not sets:
        raise ValueError("nothing to pool: no evaluation set")
    parts = [accuracy_swap(human, metrics, "systems", ties=ties, raw_ties=raw_ties) for human, metrics in sets]
    human = np.concatenate([np.asarray(human, dtype=np.float64) for human, _ in sets])
    metrics = np.concatenate([np.asarray(metrics, dtype=np.float64) for _, metrics in sets], axis=1)
    places = np.cumsum([0, *(np.size(human) for human, _ in sets)])
    shares = standardise(human, metrics)
    accuracy = Agreements(ties, raw_ties)
    return PooledSwap(
        tuple(
            replace(part, shares=shares[:, start:end][:, part.systems])
            for part, start, end in zip(parts, places[:-1], places[1:], strict=True)
        ),
        accuracy,
        n_metrics=len(metrics),
        mask_shape=(sum(math.prod(part.mask_shape) for part in parts),),
        scale=_scale(accuracy, _n_counted(parts, accuracy)),
        tolerance=0.0,
    )


def _n_counted(parts: Sequence[SystemSwap], accuracy: Agreements) -> int:
    """Pairs of systems that count in all sets."""
    return sum(accuracy.n_counted(part.human) for part in parts)


def _scale(accuracy: Agreements, n_pairs: int) -> float:
    """One agreement as a share of all pairs; 1 for raw floats, NaN without a pair."""
    if accuracy.raw_ties:
        return 1.0
    return 1.0 / n_pairs if n_pairs else np.nan
