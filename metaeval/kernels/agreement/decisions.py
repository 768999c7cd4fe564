"""Metrics as classifiers: an output is called good if its score reaches a threshold."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats, Ints

Statistic = Literal["mcc", "f_beta", "precision", "recall"]


@dataclass(frozen=True)
class Decision:
    """Counts of outputs classified by a metric's threshold: an output is called good if its score reaches the
    threshold.

    n_true, n_false: outputs called good that are good, and that are not. n_good, n_bad: all good and all bad outputs.
    """

    threshold: float
    n_true: int
    n_false: int
    n_good: int
    n_bad: int

    @property
    def precision(self) -> float:
        """Share of the outputs called good that are good; NaN if none is called good."""
        return _ratio(self.n_true, self.n_true + self.n_false)

    @property
    def recall(self) -> float:
        """Share of the good outputs that are called good; NaN without good outputs."""
        return _ratio(self.n_true, self.n_good)

    @property
    def prevalence(self) -> float:
        """Share of good outputs."""
        return _ratio(self.n_good, self.n_good + self.n_bad)

    def f_beta(self, beta2: float = 1.0) -> float:
        """(1 + β²) P R / (β² P + R); 0 if no good output is called good, NaN without good outputs."""
        return float(statistic_of_counts("f_beta", beta2, self.n_true, self.n_false, self.n_good, self.n_bad))

    @property
    def mcc(self) -> float:
        """Matthews' correlation coefficient; 0 if all or no outputs are called good, NaN if all or none are good."""
        return float(statistic_of_counts("mcc", 1.0, self.n_true, self.n_false, self.n_good, self.n_bad))


def decide(good: npt.ArrayLike, scores: npt.ArrayLike, threshold: float) -> Decision:
    """Classify outputs by a threshold on a metric's scores.

    good: (n,) 1 if an output is good, 0 if it is not, NaN if unknown. scores: (n,), NaN if missing. Outputs with either
    value missing do not count.
    """
    is_good, values = _both(good, scores)
    called = values >= threshold
    n_good = int(is_good.sum())
    return Decision(
        threshold, int((called & is_good).sum()), int((called & ~is_good).sum()), n_good, len(is_good) - n_good
    )


def best_decision(
    good: npt.ArrayLike, scores: npt.ArrayLike, statistic: Statistic = "mcc", beta2: float = 1.0
) -> Decision | None:
    """The decision at the smallest score that maximises a statistic; None if the statistic is never defined.

    Precision and recall are taken at the threshold with the highest F, because the highest precision says little about
    a metric and the highest recall is always 1. good, scores: as in `decide`. A threshold chosen on the same data gives
    an optimistic value: see resampling for intervals.
    Source: Perrella et al. 2024 (F with β² = 1/2).

    >>> found = best_decision([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    >>> found.threshold, found.precision, found.recall
    (0.4, 0.6666666666666666, 1.0)
    """
    is_good, values = _both(good, scores)
    n_good, n_bad = int(is_good.sum()), int((~is_good).sum())
    if not n_good or not (n_bad or statistic != "mcc"):
        return None
    thresholds, n_true, n_false = _curve(is_good, values)
    best = int(best_place(statistic, beta2, n_true, n_false, n_good, n_bad))
    return Decision(float(thresholds[best]), int(n_true[best]), int(n_false[best]), n_good, n_bad)


def best_place(
    statistic: Statistic, beta2: float, n_true: Floats, n_false: Floats, n_good: npt.ArrayLike, n_bad: npt.ArrayLike
) -> Ints:
    """(...) index of the threshold that maximises a statistic, the last on ties; thresholds fall along the last axis.

    Arguments as in `statistic_of_counts`. For precision and recall, the threshold maximises F.
    """
    by: Statistic = "f_beta" if statistic in ("precision", "recall") else statistic
    found = statistic_of_counts(by, beta2, n_true, n_false, n_good, n_bad)
    found = np.where(np.isnan(found), -np.inf, found)
    return np.asarray(found.shape[-1] - 1 - np.argmax(found[..., ::-1], axis=-1))


def average_precision(good: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Mean precision at the scores of good outputs; equal scores count together. NaN without good outputs."""
    is_good, values = _both(good, scores)
    if not is_good.any():
        return float("nan")
    _, n_true, n_false = _curve(is_good, values)
    return float(average_precision_of_curve(n_true, n_false, n_true[-1:], n_false[-1:]))


def average_precision_of_curve(n_true: Floats, n_false: Floats, n_good: Floats, n_bad: Floats) -> Floats:
    """Average precision from counts at falling thresholds, (..., n_thresholds); n_good, n_bad: (..., 1) or (1,)."""
    n_called = n_true + n_false
    precision = np.divide(n_true, n_called, out=np.zeros(np.shape(n_true)), where=n_called > 0)
    total = np.sum(np.diff(n_true, prepend=0, axis=-1) * precision, axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / np.asarray(n_good)[..., 0])


def roc_auc(good: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Share of (good, bad) pairs of outputs in which the good one scores higher; ties count half. NaN without pairs."""
    is_good, values = _both(good, scores)
    if is_good.all() or not is_good.any():
        return float("nan")
    _, n_true, n_false = _curve(is_good, values)
    return float(roc_auc_of_curve(n_true, n_false, n_true[-1:], n_false[-1:]))


def roc_auc_of_curve(n_true: Floats, n_false: Floats, n_good: Floats, n_bad: Floats) -> Floats:
    """Area under the ROC curve from counts at falling thresholds; arguments as in `average_precision_of_curve`."""
    before = n_true - np.diff(n_true, prepend=0, axis=-1) / 2
    total = np.sum(np.diff(n_false, prepend=0, axis=-1) * before, axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / (np.asarray(n_good)[..., 0] * np.asarray(n_bad)[..., 0]))


def cross_fitted(
    good: npt.ArrayLike, scores: npt.ArrayLike, folds: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Floats:
    """(n,) calibrated probability that each output is good, by isotonic regression on the outputs of the other folds.

    good: (n,) booleans; folds: (n,) numbers; weights: (n,) how often each output counts, None = once. The fit is
    interpolated linearly between scores and constant beyond them. NaN if no other fold has outputs.
    """
    is_good, values, parts = np.asarray(good, dtype=float), np.asarray(scores, dtype=float), np.asarray(folds)
    counts = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    found = np.full(len(values), np.nan)
    for fold in np.unique(parts):
        own = parts == fold
        others = ~own & (counts > 0)
        if others.any():
            found[own] = np.interp(values[own], *isotonic(is_good[others], values[others], counts[others]))
    return found


def isotonic(good: npt.ArrayLike, scores: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> tuple[Floats, Floats]:
    """Distinct scores in ascending order, and the calibrated probability at each: the best fit that never decreases."""
    from scipy.optimize import isotonic_regression

    values, places = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    counts = np.ones(len(places)) if weights is None else np.asarray(weights, dtype=float)
    n = np.bincount(places, counts)
    share = np.bincount(places, counts * np.asarray(good, dtype=float)) / n
    return values, np.asarray(isotonic_regression(share, weights=n).x, dtype=np.float64)


def brier_score(
    good: npt.ArrayLike, scores: npt.ArrayLike, folds: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> float:
    """Mean squared difference between cross-fitted probabilities and `good`; arguments as in `cross_fitted`."""
    counts = np.ones(np.size(scores)) if weights is None else np.asarray(weights, dtype=float)
    gaps = (cross_fitted(good, scores, folds, counts) - np.asarray(good, dtype=float)) ** 2
    there = counts > 0
    return float(np.sum((gaps * counts)[there]) / counts[there].sum())


def reranking_precision(human: npt.ArrayLike, metric: npt.ArrayLike) -> tuple[float, float]:
    """How often a metric's best output of a segment is also the best by human score, and that output's human score.

    human, metric: (n_systems, n_segments); outputs with either score missing do not count. Returns two means over
    segments. First, among the outputs with the metric's highest score, the share that also has the highest human score.
    Second, the mean human score of the outputs that the metric selects. NaN without segments.
    Source: Perrella et al. 2024.
    """
    humans, metrics = (np.asarray(values, dtype=float) for values in (human, metric))
    there = ~np.isnan(humans) & ~np.isnan(metrics)
    columns = there.any(axis=0)
    humans = np.where(there, humans, -np.inf)[:, columns]
    metrics = np.where(there, metrics, -np.inf)[:, columns]
    if not humans.size:
        return float("nan"), float("nan")
    selected = metrics == metrics.max(axis=0)
    best = humans == humans.max(axis=0)
    n = selected.sum(axis=0)
    scores = np.where(selected, humans, 0.0).sum(axis=0) / n
    return float(np.mean((selected & best).sum(axis=0) / n)), float(scores.mean())


def _both(good: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[npt.NDArray[np.bool_], Floats]:
    goods, values = (np.asarray(one, dtype=float).ravel() for one in (good, scores))
    there = ~np.isnan(goods) & ~np.isnan(values)
    return goods[there] == 1, values[there]


def curve_order(values: Floats) -> tuple[Ints, Ints]:
    """Indices of the scores in descending order, and the last position of each distinct score in that order."""
    order = np.argsort(-values, kind="stable")
    return order, np.flatnonzero(np.append(np.diff(values[order]) != 0, True))


def _curve(is_good: npt.NDArray[np.bool_], values: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct scores in descending order, and how many good and bad outputs score at least as high as each."""
    order, ends = curve_order(values)
    n_true = np.cumsum(is_good[order])[ends].astype(float)
    return values[order][ends], n_true, ends + 1.0 - n_true


def statistic_of_counts(
    name: Statistic,
    beta2: float,
    n_true: npt.ArrayLike,
    n_false: npt.ArrayLike,
    n_good: npt.ArrayLike,
    n_bad: npt.ArrayLike,
) -> Floats:
    """A statistic from counts, element by element; `Decision` defines the counts and when the statistic is NaN."""
    tp, fp, good, bad = (np.asarray(one, dtype=float) for one in (n_true, n_false, n_good, n_bad))
    fn, tn = good - tp, bad - fp
    with np.errstate(invalid="ignore", divide="ignore"):
        if name == "mcc":
            root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
            value = np.where((root == 0) & (good * bad > 0), 0.0, (tp * tn - fp * fn) / root)
        elif name == "f_beta":
            value = np.where(good > 0, (1 + beta2) * tp / ((1 + beta2) * tp + beta2 * fn + fp), np.nan)
        else:
            value = tp / (tp + fp) if name == "precision" else tp / (tp + fn)
    return np.asarray(value, dtype=float)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
