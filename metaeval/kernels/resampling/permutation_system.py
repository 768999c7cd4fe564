"""System-level Pearson, Spearman and Kendall of hybrids, for permutation tests.

A hybrid's system score is what metric a keeps plus what is taken from metric b; each part is one product of
the swap masks with the scores, shared by all pairs of metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.correlation import average_ranks
from metaeval.kernels.agreement.pairwise_accuracy import difference_signs
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

from .permutation import TOLERANCE, SwapStatistic, standardise
from .permutation_pearson import NOISE
from .swap_units import Swap, mask_shape

SystemMeasure = Literal["pearson", "spearman", "kendall"]
#: What each hybrid's system scores keep and what they take, both (k, M, N), and human scores (N,) -> (k, M, M).
HybridStatistic = Callable[[Floats, Floats, Floats], Floats]
Signs = npt.NDArray[np.int8]


@dataclass(frozen=True)
class SystemSwap(SwapStatistic):
    """A system-level measure of every hybrid.

    shares: what each score adds to its system's score, standardised: (M, N, S), or (M, N) system scores.
    human: (N,) system scores. systems: (N,) their places in a mask.
    """

    statistic: HybridStatistic
    swap: Swap
    shares: Floats
    human: Floats
    systems: Ints

    def hybrids(self, swaps: Bools) -> Floats:
        """See `permutation.SwapStatistic`; correlations of constant scores are NaN."""
        return self.statistic(*self._system_scores(swaps), self.human)

    def _system_scores(self, swaps: Bools) -> tuple[Floats, Floats]:
        """What each system's score keeps and what is taken from elsewhere: both (k, M, N)."""
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
    measure: SystemMeasure | HybridStatistic,
    swap: Swap = "inputs",
    *,
    truth: npt.ArrayLike | None = None,
) -> SystemSwap:
    """A system-level measure prepared for `permutation_test`.

    human: (N, S), NaN = not judged, and metrics (M, N, S): system scores are means over the judged scores; or
        human (N,) and metrics (M, N): system scores as they were submitted, for swap="systems" only.
        Systems without a judged score are excluded from the statistic.
    measure: a name, or a function of hybrids (a module-level one, for processes). System scores of one metric nearer
        than 1e-9 standard deviations are tied.
    truth: (N,) human system scores in place of the means of human.
    Raises ValueError: an unknown measure or swap, shapes.
    """
    if isinstance(measure, str) and measure not in _STATISTICS:
        raise ValueError(f"unknown measure {measure!r}; expected one of {', '.join(_STATISTICS)}")
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
        means = np.full(len(human), np.nan)
        np.divide(np.where(judged, human, 0.0).sum(axis=1), n_judged, out=means, where=n_judged > 0)
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
    value = np.full(product.shape, np.nan)
    np.divide(product, np.sqrt(np.where(defined, variance, 1.0) * human_squares), out=value, where=defined)
    return value


def _squares(kept: Floats, taken: Floats) -> Floats:
    # Σ over systems of (kept + taken)²: (k, M, N) twice -> (k, M, M)
    squares = (kept**2).sum(axis=2)[:, :, np.newaxis] + (taken**2).sum(axis=2)[:, np.newaxis, :]
    squares += 2.0 * kept @ taken.transpose(0, 2, 1)
    return np.asarray(squares, dtype=np.float64)


def hybrid_signs(kept: Floats, taken: Floats, i: np.integer, j: np.integer) -> Signs:
    """Sign of the difference of two systems' scores by each hybrid, (k, M, M)."""
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
    value = np.full(shape, np.nan)
    length = np.sqrt(n_untied * float(np.count_nonzero(human_signs)))
    np.divide(balance, length, out=value, where=length > 0)
    return value


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
    length = np.sqrt((ranks**2).sum(axis=0) * float(centred_human @ centred_human))
    value = np.full(product.shape, np.nan)
    np.divide(product, length, out=value, where=length > 0)
    return value


_STATISTICS: Mapping[str, HybridStatistic] = MappingProxyType(
    {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}
)
