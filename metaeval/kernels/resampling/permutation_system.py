"""System-level correlations, pairwise accuracy and τ_ap of hybrids, for permutation tests.

A hybrid's system score is a part kept from metric a plus a part taken from metric b; each part is one product of the
swap masks with the scores, shared by all pairs of metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.correlation import average_ranks
from metaeval.kernels.agreement.systems import Ties, difference_signs, rank_weights
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.resampling.permutation import standardise
from metaeval.kernels.resampling.permutation_pearson import NOISE
from metaeval.kernels.resampling.prepared import TOLERANCE, Swap, SwapStatistic, mask_shape

#: What each hybrid's system scores keep and what they take, both (k, M, N), and human scores (N,) -> (k, M, M).
HybridStatistic = Callable[[Floats, Floats, Floats], Floats]
Signs = npt.NDArray[np.int8]


@dataclass(frozen=True)
class SystemSwap(SwapStatistic):
    """A system-level measure of every hybrid.

    shares: contribution of each score to its system's score, standardised: (M, N, S), or (M, N) system scores.
    human: (N,) system scores. systems: (N,) their indices in a mask.
    """

    statistic: HybridStatistic
    swap: Swap
    shares: Floats
    human: Floats
    systems: Ints

    def hybrids(self, swaps: Bools) -> Floats:
        """See `SwapStatistic`; correlations of constant scores are NaN."""
        return self.statistic(*self._system_scores(swaps), self.human)

    def _system_scores(self, swaps: Bools) -> tuple[Floats, Floats]:
        """The kept part and the taken part of each system's score: both (k, M, N)."""
        coins = swaps.astype(np.float64)
        whole = self.shares if self.shares.ndim == 2 else self.shares.sum(axis=2)
        if self.swap == "systems":
            taken = coins[:, np.newaxis, self.systems] * whole
        elif self.swap == "inputs":
            n_metrics, n_systems, n_segments = self.shares.shape
            flat = self.shares.reshape(-1, n_segments)
            taken = (coins @ flat.T).reshape(len(coins), n_metrics, n_systems)  # (k, S) @ (S, M·N)
        else:
            placed = enumerate(self.systems)
            by_system = [coins[:, place] @ self.shares[:, i].T for i, place in placed]  # (k, S) @ (S, M)
            taken = np.stack(by_system, axis=2)
        return whole - taken, taken


def system_swap(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    measure: str | HybridStatistic,
    swap: Swap = "inputs",
    *,
    truth: npt.ArrayLike | None = None,
) -> SystemSwap:
    """A system-level measure prepared for `permutation_test`.

    human: (N, S), NaN = not judged, and metrics (M, N, S): system scores are means over the judged scores; or human
        (N,) and metrics (M, N): system scores as submitted, for swap="systems" only. Systems without a judged score are
        excluded from the statistic.
    measure: a name, or a function of hybrids (a module-level function if processes are used). System scores of one
        metric are tied if they are within 1e-9 standard deviations.
    truth: (N,) human system scores, used instead of the means of human.
    Raises ValueError: an unknown measure or swap, shapes.
    """
    if isinstance(measure, str):
        checks.known(measure, _STATISTICS, "measure")
    if np.ndim(human) == 1:
        human, metrics = checks.system_scores(human, metrics)
        shares = standardise(human, metrics)
        means = human
    else:
        human = checks.human_scores(human)
        judged = ~np.isnan(human)
        metrics = checks.metric_scores(metrics, judged)
        n_judged = judged.sum(axis=1)
        shares = standardise(human, metrics) / np.maximum(n_judged, 1)[:, np.newaxis]
        means = ratio(np.where(judged, human, 0.0).sum(axis=1), n_judged)
    present = np.flatnonzero(~np.isnan(means))
    system_scores = means if truth is None else np.asarray(truth, dtype=np.float64)
    return SystemSwap(
        statistic=_STATISTICS[measure] if isinstance(measure, str) else measure,
        swap=swap,
        shares=shares[:, present],
        human=system_scores[present],
        systems=present,
        n_metrics=len(shares),
        mask_shape=mask_shape(swap, human.shape),
    )


def _pearson(kept: Floats, taken: Floats, human: Floats) -> Floats:
    centred_human = human - human.mean()
    human_squares = float(centred_human @ centred_human)
    # what a constant hybrid's variance may be by rounding: kept and taken can be large where their sums are 0
    sizes = (kept**2).sum(axis=2)[:, :, np.newaxis] + (taken**2).sum(axis=2)[:, np.newaxis, :]
    kept = kept - kept.mean(axis=2, keepdims=True)
    taken = taken - taken.mean(axis=2, keepdims=True)
    product = (kept @ centred_human)[:, :, np.newaxis] + (taken @ centred_human)[:, np.newaxis, :]
    variance = _squares(kept, taken)
    defined = (variance > NOISE * sizes) & (np.ptp(human) > 0)
    return ratio(product, np.sqrt(np.where(defined, variance, 1.0) * human_squares), defined)


def _squares(kept: Floats, taken: Floats) -> Floats:
    # Σ over systems of (kept + taken)²: (k, M, N) twice -> (k, M, M)
    squares = (kept**2).sum(axis=2)[:, :, np.newaxis] + (taken**2).sum(axis=2)[:, np.newaxis, :]
    squares += 2.0 * kept @ taken.transpose(0, 2, 1)
    return np.asarray(squares, dtype=np.float64)


def hybrid_signs(kept: Floats, taken: Floats, i: np.integer, j: np.integer) -> Signs:
    """Sign of the difference between two systems' scores for each hybrid, (k, M, M)."""
    gap = (kept[:, :, i] - kept[:, :, j])[:, :, np.newaxis] + (taken[:, :, i] - taken[:, :, j])[:, np.newaxis]
    return (gap > TOLERANCE).view(np.int8) - (gap < -TOLERANCE).view(np.int8)


def _kendall(kept: Floats, taken: Floats, human: Floats) -> Floats:
    human_signs = difference_signs(human)
    shape = (len(kept), kept.shape[1], kept.shape[1])
    balance, n_untied = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for human_sign, i, j in zip(human_signs, *np.triu_indices(kept.shape[2], 1), strict=True):
        sign = hybrid_signs(kept, taken, i, j)
        n_untied += sign != 0
        balance += human_sign * sign
    return ratio(balance, np.sqrt(n_untied * float(np.count_nonzero(human_signs))))


def _spearman(kept: Floats, taken: Floats, human: Floats) -> Floats:
    human_ranks = average_ranks(human)
    n_systems = kept.shape[2]
    ranks = np.zeros((n_systems, len(kept), kept.shape[1], kept.shape[1]))  # doubled and centred
    for i, j in zip(*np.triu_indices(n_systems, 1), strict=True):
        sign = hybrid_signs(kept, taken, i, j)
        ranks[i] += sign
        ranks[j] -= sign
    centred_human = human_ranks - human_ranks.mean()
    product = np.tensordot(centred_human, ranks, axes=1)
    return ratio(product, np.sqrt((ranks**2).sum(axis=0) * float(centred_human @ centred_human)))


def _tau_ap(kept: Floats, taken: Floats, human: Floats) -> Floats:
    """(k, M, M) τ_ap of every hybrid: see `HybridStatistic` and `systems.tau_ap`."""
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
    return 2.0 * ratio(right, total) - 1.0


_STATISTICS: Mapping[str, HybridStatistic] = MappingProxyType(
    {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall, "tau_ap": _tau_ap}
)


@dataclass(frozen=True)
class Agreements:
    """Pairwise accuracy of hybrids, as the number of pairs that agree; with raw_ties, as their share."""

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
        """Number of system pairs that count."""
        return int(np.count_nonzero(self.is_counted(human)))

    def __call__(self, kept: Floats, taken: Floats, human: Floats) -> Floats:
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
    """Pairwise accuracy pooled over evaluation sets: agreements are added up, and each set has its own masks.

    parts: one `SystemSwap` of pairwise accuracy per set, over the same metrics in the same order; see `pooled_swap`. A
    mask contains the units of the first set, then of the second, and so on.
    """

    parts: tuple[SystemSwap, ...]
    accuracy: Agreements

    def hybrids(self, swaps: Bools) -> Floats:
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

    human, metrics, swap, truth: as in `system_swap`. ties: see `pairwise_accuracy`. raw_ties: zero differences of
    system scores, and equal differences of two accuracies, are compared as raw floats; otherwise accuracies are
    compared as counts.
    Raises ValueError: an unknown tie rule, and as `system_swap`.
    """
    checks.known(ties, get_args(Ties), "ties")
    accuracy = Agreements(ties, raw_ties)
    found = system_swap(human, metrics, accuracy, swap, truth=truth)
    return replace(found, scale=_scale(accuracy, accuracy.n_counted(found.human)), tolerance=0.0)


def pooled_swap(
    sets: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], *, ties: Ties = "organisers", raw_ties: bool = False
) -> PooledSwap:
    """Pairwise accuracy pooled over evaluation sets, prepared for `permutation_test`: whole systems are swapped.

    sets: (human (N,), metrics (M, N)) system scores of each set, over the same metrics. Each metric is standardised
        over the system scores of all sets together, so the score of a swapped system depends on the other sets. ties,
        raw_ties: as in `accuracy_swap`.
    Raises ValueError: as in `accuracy_swap`, or if there is no set.
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
    """Number of system pairs that count, over all sets."""
    return sum(accuracy.n_counted(part.human) for part in parts)


def _scale(accuracy: Agreements, n_pairs: int) -> float:
    """One agreement as a share of all pairs; 1 for raw floats, NaN without pairs."""
    if accuracy.raw_ties:
        return 1.0
    return 1.0 / n_pairs if n_pairs else np.nan
