"""Decisions prepared for resampling: a resample says how often each output counts; its threshold is chosen again."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.decisions import (
    Statistic,
    average_precision_of_curve,
    best_place,
    curve_order,
    roc_auc_of_curve,
    statistic_of_counts,
)
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.resampling.draws import BLOCK, times_drawn

from .resampled_statistics import checked_scores

#: (k, n) how often each judged output counts -> (k, M) values.
OfWeights = Callable[[Floats], Floats]
#: n_true, n_false (k, n_thresholds) of falling thresholds, n_good, n_bad (k, 1) -> (k,).
OfCurve = Callable[[Floats, Floats, Floats, Floats], Floats]


@dataclass(frozen=True)
class WeightedResample:
    """A statistic of outputs, each counted as often as its system and segment were drawn.

    judged: (N, S) True for judged outputs; statistic takes these row by row.
    """

    judged: Bools
    statistic: OfWeights

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.judged.shape[0]), int(self.judged.shape[1])

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        rows, columns = np.nonzero(self.judged)
        of_segments = times_drawn(segments, n_draws, self.shape[1])
        of_systems = times_drawn(systems, n_draws, self.shape[0])
        parts = [slice(start, start + BLOCK) for start in range(0, n_draws, BLOCK)]
        return np.concatenate(
            [self.statistic(of_segments[part][:, columns] * of_systems[part][:, rows]) for part in parts]
        )


def decision_resample(
    good: npt.ArrayLike,
    metrics: npt.ArrayLike,
    statistic: Statistic,
    beta2: float = 1.0,
    thresholds: npt.ArrayLike | None = None,
) -> WeightedResample:
    """A statistic of decisions prepared for `bootstrap`.

    good: (N, S) 1, 0 or NaN; metrics: (M, N, S). thresholds: (M,) fixed thresholds; None chooses the best threshold in
    each resample by the statistic (by F for precision and recall).
    """
    is_good, scores, judged = _flat(good, metrics)
    if thresholds is None:
        return WeightedResample(judged, _curves(is_good, scores, partial(_best, statistic, beta2)))
    called = scores >= np.asarray(thresholds, dtype=float)[:, np.newaxis]

    def at_thresholds(weights: Floats) -> Floats:
        n_good = (weights * is_good).sum(axis=1, keepdims=True)
        n_bad = weights.sum(axis=1, keepdims=True) - n_good
        return statistic_of_counts(
            statistic, beta2, weights @ (called & is_good).T, weights @ (called & ~is_good).T, n_good, n_bad
        )

    return WeightedResample(judged, at_thresholds)


def curve_resample(good: npt.ArrayLike, metrics: npt.ArrayLike, name: str) -> WeightedResample:
    """average_precision or roc_auc prepared for `bootstrap`; arguments as in `decision_resample`."""
    is_good, scores, judged = _flat(good, metrics)
    of_curve = {"average_precision": average_precision_of_curve, "roc_auc": roc_auc_of_curve}[name]
    return WeightedResample(judged, _curves(is_good, scores, of_curve))


def error_resample(human: npt.ArrayLike, metrics: npt.ArrayLike, power: int) -> WeightedResample:
    """Minus the root mean squared error (power 2) or the mean absolute error (1) of scores prepared for `bootstrap`."""
    humans, scores = checked_scores(human, metrics)
    judged = ~np.isnan(humans)
    errors = np.abs(scores[:, judged] - humans[judged]) ** power

    def of_weights(weights: Floats) -> Floats:
        mean = ratio(weights @ errors.T, weights @ np.ones(errors.T.shape))
        return -(mean ** (1 / power))

    return WeightedResample(judged, of_weights)


def calibrated_resample(
    good: npt.ArrayLike, metrics: npt.ArrayLike, folds: npt.ArrayLike, brier: Callable[..., float]
) -> WeightedResample:
    """Minus the cross-fitted Brier score prepared for `bootstrap`; folds: (N, S). Each resample is fitted again."""
    is_good, scores, judged = _flat(good, metrics)
    parts = np.asarray(folds)[judged]

    def of_weights(weights: Floats) -> Floats:
        return np.array([[-brier(is_good, one, parts, row) for one in scores] for row in weights])

    return WeightedResample(judged, of_weights)


def _best(statistic: Statistic, beta2: float, n_true: Floats, n_false: Floats, n_good: Floats, n_bad: Floats) -> Floats:
    """The statistic at the best threshold of a resample, NaN if all or none of its outputs are good."""
    place = best_place(statistic, beta2, n_true, n_false, n_good, n_bad)
    rows = np.arange(len(n_true))
    at = (n_true[rows, place], n_false[rows, place], n_good[:, 0], n_bad[:, 0])
    found = statistic_of_counts(statistic, beta2, *at)
    return np.where((n_good * n_bad)[:, 0] > 0, found, np.nan)


def _curves(is_good: Bools, scores: Floats, of_curve: OfCurve) -> OfWeights:
    orders = [curve_order(one) for one in scores]

    def of_weights(weights: Floats) -> Floats:
        n_good = (weights * is_good).sum(axis=1, keepdims=True)
        n_bad = weights.sum(axis=1, keepdims=True) - n_good
        counts = weights.astype(np.float32)  # whole numbers, exact below 2^24
        found = np.empty((len(weights), len(scores)))
        for metric, (order, ends) in enumerate(orders):
            sorted_counts = counts[:, order]
            n_called = np.cumsum(sorted_counts, axis=1)[:, ends].astype(np.float64)
            n_true = np.cumsum(sorted_counts * is_good[order], axis=1)[:, ends].astype(np.float64)
            found[:, metric] = of_curve(n_true, n_called - n_true, n_good, n_bad)
        return found

    return of_weights


def _flat(good: npt.ArrayLike, metrics: npt.ArrayLike) -> tuple[Bools, Floats, Bools]:
    """(n,) whether judged outputs are good, (M, n) their scores, and (N, S) which are judged."""
    goods, scores = checked_scores(good, metrics)
    judged = ~np.isnan(goods)
    return goods[judged] == 1, scores[:, judged], judged
