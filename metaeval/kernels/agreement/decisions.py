"""Metrics as classifiers of outputs: good where the score reaches a threshold."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats

Statistic = Literal["mcc", "f_beta", "precision", "recall"]


@dataclass(frozen=True)
class Decision:
    """What a metric's threshold makes of outputs; an output is called good where its score is at least the threshold.

    n_true, n_false: of outputs called good, those that are and those that are not; n_good, n_bad: of all outputs.
    """

    threshold: float
    n_true: int
    n_false: int
    n_good: int
    n_bad: int

    @property
    def precision(self) -> float:
        """Share of good ones among outputs called good; NaN where none is called good."""
        return _ratio(self.n_true, self.n_true + self.n_false)

    @property
    def recall(self) -> float:
        """Share called good among good outputs; NaN without any."""
        return _ratio(self.n_true, self.n_good)

    @property
    def prevalence(self) -> float:
        """Share of good outputs."""
        return _ratio(self.n_good, self.n_good + self.n_bad)

    def f_beta(self, beta2: float = 1.0) -> float:
        """(1 + β²) P R / (β² P + R); 0 where nothing good is called good, NaN without good outputs."""
        return float(_statistic("f_beta", beta2, self.n_true, self.n_false, self.n_good, self.n_bad))

    @property
    def mcc(self) -> float:
        """Matthews' correlation coefficient; 0 where all are called good or none, NaN where all are good or none."""
        return float(_statistic("mcc", 1.0, self.n_true, self.n_false, self.n_good, self.n_bad))


def decide(good: npt.ArrayLike, scores: npt.ArrayLike, threshold: float) -> Decision:
    """What a threshold makes of a metric's scores.

    good: (n,) 1 where an output is good, 0 where it is not, NaN where nobody says. scores: (n,), NaN where missing.
    Outputs without either do not count.
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
    """The decision by the score that maximises a statistic, the smallest such score; None where it is never defined.

    good, scores: as in `decide`. On the same data the best is optimistic: see resampling for intervals.
    Source: Perrella et al. 2024 (F with β² = 1/2).

    >>> found = best_decision([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    >>> found.threshold, found.precision, found.recall
    (0.4, 0.6666666666666666, 1.0)
    """
    is_good, values = _both(good, scores)
    if not len(values):
        return None
    thresholds, n_true, n_false = _curve(is_good, values)
    n_good = int(is_good.sum())
    found = _statistic(statistic, beta2, n_true, n_false, n_good, len(is_good) - n_good)
    if np.isnan(found).all():
        return None
    best = int(np.flatnonzero(found == np.nanmax(found))[-1])  # thresholds fall
    return Decision(float(thresholds[best]), int(n_true[best]), int(n_false[best]), n_good, len(is_good) - n_good)


def average_precision(good: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Mean precision at the scores of good outputs, where equal scores count together; NaN without good outputs."""
    is_good, values = _both(good, scores)
    if not is_good.any():
        return float("nan")
    _, n_true, n_false = _curve(is_good, values)
    return float(np.sum(np.diff(n_true, prepend=0) * n_true / (n_true + n_false)) / n_true[-1])


def roc_auc(good: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Share of pairs of a good and a bad output whose good one scores higher, ties half; NaN without pairs."""
    is_good, values = _both(good, scores)
    if is_good.all() or not is_good.any():
        return float("nan")
    _, n_true, n_false = _curve(is_good, values)
    before = n_true - np.diff(n_true, prepend=0) / 2
    return float(np.sum(np.diff(n_false, prepend=0) * before) / (n_true[-1] * n_false[-1]))


def reranking_precision(human: npt.ArrayLike, metric: npt.ArrayLike) -> tuple[float, float]:
    """How often what a metric finds best of a segment's outputs is what people find best, and its human score.

    human, metric: (n_systems, n_segments); outputs without either do not count. First: the mean over segments of the
    share, among outputs with the metric's highest score, of those with the highest human score. Second: the mean over
    segments of the mean human score of what the metric selects. NaN without segments.
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


def _curve(is_good: npt.NDArray[np.bool_], values: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct scores, falling, and how many good and bad outputs have at least each."""
    order = np.argsort(-values, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(values[order]) != 0, True))
    n_true = np.cumsum(is_good[order])[ends].astype(float)
    return values[order][ends], n_true, ends + 1.0 - n_true


def _statistic(
    name: Statistic, beta2: float, n_true: npt.ArrayLike, n_false: npt.ArrayLike, n_good: int, n_bad: int
) -> Floats:
    tp, fp = np.asarray(n_true, dtype=float), np.asarray(n_false, dtype=float)
    fn, tn = n_good - tp, n_bad - fp
    with np.errstate(invalid="ignore", divide="ignore"):
        if name == "mcc":
            root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
            value = np.where((root == 0) & (n_good * n_bad > 0), 0.0, (tp * tn - fp * fn) / root)
        elif name == "f_beta":
            value = (1 + beta2) * tp / ((1 + beta2) * tp + beta2 * fn + fp) if n_good else np.full(tp.shape, np.nan)
        else:
            value = tp / (tp + fp) if name == "precision" else tp / (tp + fn)
    return np.asarray(value, dtype=float)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
