"""Can a metric replace an annotator? It can if it agrees with the other annotators as well as each of them does."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

Scoring = Literal["accuracy", "rmse"]
_TOLERANCE = 1e-12
_FEWEST_CLUSTERS = 6


class AlternativeAnnotator(NamedTuple):
    """A metric against each annotator, both compared with the remaining annotators.

    winning_rate: share of the tested annotators whom the metric significantly beats; .5 or more passes the test.
    advantage_probability: mean over the tested annotators of `advantage`.
    p: (n_annotators,) one-sided p-values before correction; NaN for annotators who were not tested.
    advantage: (n_annotators,) share of items on which the metric agrees at least as well as the annotator.
    is_beaten: (n_annotators,) whether the null hypothesis is rejected after correction.
    n_items: (n_annotators,) number of items that count.
    """

    winning_rate: float
    advantage_probability: float
    p: Floats
    advantage: Floats
    is_beaten: Bools
    n_items: Ints


def alternative_annotator_test(
    annotations: npt.ArrayLike,
    metric: npt.ArrayLike,
    *,
    epsilon: float,
    scoring: Scoring = "accuracy",
    min_items: int = 30,
    q: float = 0.05,
    clusters: npt.ArrayLike | None = None,
) -> AlternativeAnnotator:
    """Test the metric as an alternative to each annotator, leaving out one annotator at a time.

    annotations: (n_annotators, n_items), NaN where an annotator did not judge; categories as numbers, or scores.
    metric: (n_items,) on the same scale, NaN for a missing score. Items without a metric score, or with fewer than two
        annotations, do not count; annotators with fewer than min_items of the remaining items are not tested.
    scoring: agreement with the others is the share of equal annotations, or minus the root mean squared difference.
    epsilon: how much less often than an annotator the metric may be right, because it costs less: .2 compared with
        experts, .15 with skilled annotators, .1 with crowd workers.
    q: false discovery rate of the Benjamini–Yekutieli correction over annotators.
    clusters: (n_items,) items with the same number, such as items of one document, are treated as dependent: the t-test
        then uses cluster totals, and its degrees of freedom are the number of clusters minus 1. None: items are
        independent, as in the source.
    The null hypothesis of each annotator: the share of items on which the annotator is at least as good exceeds the
    metric's share by epsilon or more. Winning rate and advantage probability are NaN if no annotator can be tested.
    Raises ValueError: shapes that do not match, an infinite value, or fewer than 6 clusters.
    Source: Calderon, Reichart and Dror 2025, section 3.
    """
    given, scores, labels = _checked(annotations, metric, scoring, clusters)
    is_there = ~np.isnan(given) & ~np.isnan(scores)
    is_there &= is_there.sum(axis=0) >= 2
    n_annotators = len(given)
    p, advantage = np.full(n_annotators, np.nan), np.full(n_annotators, np.nan)
    n_items = is_there.sum(axis=1)
    for annotator in np.flatnonzero(n_items >= min_items):
        items = is_there[annotator]
        others = np.delete(given[:, items], annotator, axis=0)
        own = _disagreement(given[annotator, items], others, scoring)
        of_metric = _disagreement(scores[items], others, scoring)
        tolerance = _TOLERANCE * (1 + np.abs(own))
        metric_wins, annotator_wins = of_metric <= own + tolerance, own <= of_metric + tolerance
        difference = annotator_wins.astype(np.float64) - metric_wins
        p[annotator] = _p_below(difference, epsilon, None if labels is None else labels[items])
        advantage[annotator] = metric_wins.mean()
    is_tested = ~np.isnan(advantage)
    is_beaten = _rejected(p, q)
    n_tested = int(is_tested.sum())
    return AlternativeAnnotator(
        winning_rate=float(is_beaten.sum() / n_tested) if n_tested else float("nan"),
        advantage_probability=float(advantage[is_tested].mean()) if n_tested else float("nan"),
        p=p,
        advantage=advantage,
        is_beaten=is_beaten,
        n_items=n_items,
    )


def _checked(
    annotations: npt.ArrayLike, metric: npt.ArrayLike, scoring: str, clusters: npt.ArrayLike | None
) -> tuple[Floats, Floats, npt.NDArray[np.generic] | None]:
    checks.known(scoring, get_args(Scoring), "scoring")
    given, scores = np.asarray(annotations, dtype=np.float64), np.asarray(metric, dtype=np.float64)
    if given.ndim != 2 or scores.shape != given.shape[1:]:
        raise ValueError(
            f"annotations must be (n_annotators, n_items) and metric (n_items,), got {given.shape} and {scores.shape}"
        )
    if np.isinf(given).any() or np.isinf(scores).any():
        raise ValueError("annotations and metric must be finite; NaN marks what is missing")
    labels = None if clusters is None else np.asarray(clusters)
    if labels is not None and labels.shape != scores.shape:
        raise ValueError(f"clusters must be (n_items,) = {scores.shape}, got {labels.shape}")
    return given, scores, labels


def _disagreement(one: Floats, others: Floats, scoring: Scoring) -> Floats:
    """Mean disagreement of one annotation per item with the other annotations: (n_items,).

    Returns mean squares instead of their roots, because both have the same order.
    """
    distance = (others != one).astype(np.float64) if scoring == "accuracy" else (others - one) ** 2
    return np.asarray(np.mean(distance, axis=0, where=~np.isnan(others)))


def _p_below(difference: Floats, epsilon: float, labels: npt.NDArray[np.generic] | None) -> float:
    """One-sided p-value of a mean difference below epsilon, by a t-test over items or clusters."""
    from scipy.stats import t

    distance = difference - epsilon
    if labels is None:
        n = len(distance)
        error = distance.std(ddof=1) / np.sqrt(n)
    else:
        _, number = np.unique(labels, return_inverse=True)
        n = int(number.max()) + 1
        if n < _FEWEST_CLUSTERS:
            raise ValueError(f"{n} clusters are too few for a test, which needs {_FEWEST_CLUSTERS}")
        residuals = np.bincount(number, distance - distance.mean(), minlength=n)
        error = np.sqrt(n / (n - 1) * (residuals**2).sum()) / len(distance)
    if error <= _TOLERANCE:
        return 0.0 if distance.mean() < 0 else 1.0
    return float(t.cdf(distance.mean() / error, n - 1))


def _rejected(p: Floats, q: float) -> Bools:
    """True for the null hypotheses that Benjamini and Yekutieli's step-up procedure rejects; NaN means not tested."""
    from scipy.stats import false_discovery_control

    is_test = ~np.isnan(p)
    rejected = np.zeros(len(p), dtype=np.bool_)
    if is_test.any():
        rejected[is_test] = false_discovery_control(p[is_test], method="by") <= q
    return rejected
