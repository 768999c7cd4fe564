"""Thresholds chosen again in each resample: decisions on other outputs, and costs."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.decisions import best_place, curve_order, statistic_of_counts
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.draws import times_drawn

LOOK_AT_ALL = float("inf")  # a threshold that no score reaches


@dataclass(frozen=True)
class Outputs:
    """One metric's judged outputs by descending score: (n,) arrays; ends: the last index of each distinct score.

    units: unit of each output, from 0 without gaps; units are resampled whole, and stay whole in cross-fitting.
    """

    good: Bools
    scores: Floats
    units: Ints
    ends: Ints

    @classmethod
    def sorted(cls, good: npt.ArrayLike, scores: npt.ArrayLike, units: npt.ArrayLike) -> "Outputs":
        """Build from (n,) arrays in any order. good: booleans."""
        values = np.asarray(scores, dtype=np.float64)
        order, ends = curve_order(values)
        return cls(np.asarray(good, dtype=np.bool_)[order], values[order], np.asarray(units)[order], ends)

    @property
    def n_units(self) -> int:
        return int(self.units.max()) + 1

    @property
    def once(self) -> Floats:
        """(1, n) every output once."""
        return np.ones((1, len(self.scores)))

    def drawn(self, rng: np.random.Generator, n_draws: int) -> Floats:
        """(n_draws, n) how often each output counts where units are drawn with replacement."""
        picks = rng.integers(0, self.n_units, (n_draws, self.n_units))
        return times_drawn(picks, n_draws, self.n_units)[:, self.units]

    def counts(self, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Good and bad outputs with at least each distinct score, (k, E), and in total, (k, 1)."""
        whole = weights.astype(np.float32)  # whole numbers, exact below 2^24
        n_called = np.cumsum(whole, axis=1)[:, self.ends].astype(np.float64)
        n_true = np.cumsum(whole * self.good, axis=1)[:, self.ends].astype(np.float64)
        n_false = n_called - n_true
        return n_true, n_false, n_true[:, -1:], n_false[:, -1:]

    def best(self, weights: Floats) -> Floats:
        """(k,) thresholds with the highest MCC, the smallest on ties; NaN if all outputs are good, or none is.

        Thresholds are scores of outputs that count.
        """
        n_true, n_false, n_good, n_bad = self.counts(weights)
        places = best_place("mcc", 1.0, n_true, n_false, n_good, n_bad)[:, np.newaxis]
        n_called = n_true + n_false
        drawn = (n_called >= np.take_along_axis(n_called, places, axis=1)).argmax(axis=1)
        return np.where((n_good * n_bad)[:, 0] > 0, self.scores[self.ends][drawn], np.nan)

    def called(self, weights: Floats, thresholds: Floats) -> Floats:
        """(4, k, T) good and bad outputs that reach each of the thresholds, (k, T), then all good and all bad outputs.

        NaN where a threshold is NaN.
        """
        n_true, n_false, n_good, n_bad = self.counts(weights)
        places = np.searchsorted(-self.scores[self.ends], -thresholds, side="right") - 1
        at = np.maximum(places, 0)
        found = [np.where(places >= 0, np.take_along_axis(one, at, axis=1), 0.0) for one in (n_true, n_false)]
        every = [np.broadcast_to(one, thresholds.shape) for one in (n_good, n_bad)]
        return np.where(np.isnan(thresholds), np.nan, np.array([*found, *every]))

    def cross_fitted(self, weights: Floats, n_folds: int) -> Floats:
        """(4, k) good and bad outputs that reach the threshold with the highest MCC on the units of other folds.

        The other two rows are all good and all bad outputs. NaN if the units of other folds have no good or no bad
        outputs. Units are assigned to folds in turn.
        """
        folds = self.units % n_folds
        total = np.zeros((4, len(weights)))
        for fold in np.unique(folds):
            own = folds == fold
            thresholds = self.best(np.where(own, 0.0, weights))[:, np.newaxis]
            inside, good = weights[:, own], self.good[own]
            reached = inside * (self.scores[own] >= thresholds)
            found = np.array([one @ of for one in (reached, inside) for of in (good, ~good)])  # whole numbers, exact
            total += np.where(np.isnan(thresholds[:, 0]), np.nan, found)
        return total

    def cheapest(self, weights: Floats, miss: float, look: float) -> tuple[Floats, Floats]:
        """(k,) the lowest cost per output, and its threshold, the smallest on ties; `LOOK_AT_ALL`: no threshold.

        miss: cost of publishing a bad output. look: cost of reviewing an output.
        """
        _, n_false, n_good, n_bad = self.counts(weights)
        n_called, n = np.cumsum(weights, axis=1)[:, self.ends], n_good + n_bad
        costs = np.concatenate([(miss * n_false + look * (n - n_called)) / n, np.full((len(weights), 1), look)], axis=1)
        thresholds = np.append(self.scores[self.ends], LOOK_AT_ALL)
        lowest = costs.min(axis=1)
        near = costs <= lowest[:, np.newaxis] * (1 + 1e-12)
        return lowest, np.where(near, thresholds, LOOK_AT_ALL).min(axis=1)


def mcc_of(counts: Floats) -> Floats:
    """Matthews' correlation from the counts of `Outputs.called` and `Outputs.cross_fitted`."""
    return statistic_of_counts("mcc", 1.0, *counts)
