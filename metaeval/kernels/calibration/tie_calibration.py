"""Tie calibration: the tie threshold of each metric at which it agrees best with the human scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import (
    PairCounts,
    differences,
    group_batches,
    grouped_pair_counts,
    human_order,
    sorted_members,
)
from metaeval.kernels.agreement.tau import acc23, group_mean, tau_23
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.arrays.grouping import GroupedScores, Groups, group_scores
from metaeval.kernels.arrays.sorted_scores import HumanOrder, SortedScores

from .gap_search import GapSearch, GapSource
from .gap_sources import ListedPairs, ScorePairs

CalibratedStatistic = Literal["acc23", "tau_23"]
Advance = Callable[[int, int], None]  # how much is done, how much there is
LISTED_PAIRS = 1 << 21  # up to so many pairs all are held in memory
LARGEST = 1 << 62


@dataclass(frozen=True)
class Calibration:
    """Result of `calibrate`; arrays (n_metrics,).

    value: the statistic at epsilon, mean over groups. epsilon: the smallest optimal threshold, in the metric's
    units. epsilon_high: every threshold in [epsilon, epsilon_high) gives the same value; infinity where the value
    is not left again. counts: the pair counts at epsilon. n_groups: groups in the mean.
    """

    statistic: CalibratedStatistic
    value: Floats
    epsilon: Floats
    epsilon_high: Floats
    counts: PairCounts
    n_groups: int


def calibrate(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    labels: npt.ArrayLike,
    statistic: CalibratedStatistic = "acc23",
    progress: Advance | None = None,
) -> Calibration:
    """For each metric the one tie threshold that maximises the mean over groups of acc23 or tau_23; exact.

    human: (n_systems, n_segments), NaN = not judged. metrics: (n_metrics, n_systems, n_segments), finite where
        judged. labels: see `grouping.group_labels`; groups with fewer than 2 judged scores are excluded.
    All pairs with the same metric difference become ties together; nothing is sampled at any size. On equal
    values the smallest threshold wins; values are compared as whole numbers over a common denominator of the
    groups' numbers of pairs, or as fractions where that exceeds 64 bits. The threshold is 0 or the difference of
    a human-tied pair. tau_23 = 2 acc23 − 1, so both have the same threshold.
    Without any group, value and thresholds are NaN. progress: told how many metrics are done.
    Raises ValueError: as `pair_counts`, or an unknown statistic.
    Source: Deutsch et al. 2023, section 6, algorithms 1 and 2. Differs from them by not sampling pairs.
    >>> found = calibrate([[0.0], [0.0], [1.0]], [[[1.0], [1.5], [3.0]]], [[0], [0], [0]])
    >>> found.value.tolist(), found.epsilon.tolist(), found.epsilon_high.tolist()
    ([1.0], [0.5], [1.5])
    """
    scores = group_scores(human, metrics, labels)
    mean = _mean_of(statistic)
    n_metrics, n_groups = len(scores.metrics), len(scores.groups.labels)
    epsilon, epsilon_high = np.full(n_metrics, np.nan), np.full(n_metrics, np.nan)
    if n_groups:
        weights, error = pair_weights(scores.groups.n_pairs)
        for metric, source in enumerate(_sources(scores, weights)):
            if progress is not None:
                progress(metric, n_metrics)
            exact = partial(_exact_value, scores, metric) if error else None
            optimum = GapSearch(source, error, exact).run()
            epsilon[metric], epsilon_high[metric] = optimum.epsilon, optimum.epsilon_high
    counts = grouped_pair_counts(scores, np.nan_to_num(epsilon))
    return Calibration(statistic, mean(counts), epsilon, epsilon_high, counts, n_groups)


def calibration_curve(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    labels: npt.ArrayLike,
    epsilons: npt.ArrayLike,
    statistic: CalibratedStatistic = "acc23",
    progress: Advance | None = None,
) -> Floats:
    """The mean over groups of acc23 or tau_23 at given thresholds, (n_metrics, n_thresholds).

    epsilons: (n_thresholds,) for all metrics, or (n_metrics, n_thresholds), each at least 0. progress: told how many
    thresholds are done. All else as in `calibrate`. Raises ValueError: as there, or thresholds of another shape.
    """
    scores = group_scores(human, metrics, labels)
    mean = _mean_of(statistic)
    n_metrics = len(scores.metrics)
    thresholds = np.asarray(epsilons, dtype=np.float64)
    if thresholds.ndim == 1:
        thresholds = np.broadcast_to(thresholds, (n_metrics, thresholds.size))
    if thresholds.ndim != 2 or len(thresholds) != n_metrics:
        raise ValueError(f"epsilons must be (n_thresholds,) or ({n_metrics}, n_thresholds), got {thresholds.shape}")
    values = np.empty(thresholds.shape)
    large_groups = sorted_members(scores)
    for place in range(thresholds.shape[1]):
        if progress is not None:
            progress(place, thresholds.shape[1])
        column = checks.thresholds(thresholds[:, place], n_metrics)
        values[:, place] = mean(grouped_pair_counts(scores, column, large_groups))
    return values


def pair_weights(n_pairs: Ints) -> tuple[Ints, int]:
    """Whole-number weight of one pair in each group of a mean over groups, and the weights' rounding error.

    n_pairs: (n_groups,). Exactly proportional to 1 / n_pairs where that fits into 64 bits, with error 0.
    Otherwise rounded down; the error is what the weights of all pairs together have lost at most.
    """
    common = math.lcm(*np.unique(n_pairs).tolist())
    if common * len(n_pairs) <= LARGEST:
        return common // n_pairs, 0
    return LARGEST // len(n_pairs) // n_pairs, int(n_pairs.sum())


def exact_mean(counts: PairCounts) -> Fraction:
    """Mean over groups of acc23 of one metric as a fraction."""
    n_pairs = counts.n_pairs[0]
    right = counts.n_concordant[0] + counts.n_tied_both[0]
    total = Fraction(0)
    for size in np.unique(n_pairs).tolist():
        total += Fraction(int(right[n_pairs == size].sum()), size)
    return total / len(n_pairs)


def _exact_value(scores: GroupedScores, metric: int, threshold: float) -> Fraction:
    one = GroupedScores(scores.human, scores.metrics[metric : metric + 1], scores.groups)
    return exact_mean(grouped_pair_counts(one, np.array([threshold])))


def _mean_of(statistic: CalibratedStatistic) -> Callable[[PairCounts], Floats]:
    checks.known(statistic, get_args(CalibratedStatistic), "statistic")
    function = acc23 if statistic == "acc23" else tau_23
    return lambda counts: group_mean(function(counts)).value


def _sources(scores: GroupedScores, weights: Ints) -> Iterator[GapSource]:
    if int(scores.groups.n_pairs.sum()) <= LISTED_PAIRS:
        listed = _PairList.of(scores.human, scores.groups, weights)
        yield from (listed.source(values) for values in scores.metrics)
    else:
        order = HumanOrder.of(scores.human, scores.groups)
        for values in scores.metrics:
            yield ScorePairs(SortedScores.sort(order, values), weights)


@dataclass(frozen=True)
class _PairList:
    """The pairs of all groups: scores (g, size), human order and tie (n_pairs, g), weights, batch by batch."""

    batches: list[tuple[Ints, npt.NDArray[np.int8], Bools, Ints]]
    is_uniform: bool

    @classmethod
    def of(cls, human: Floats, groups: Groups, weights: Ints) -> _PairList:
        batches = []
        for bucket in groups.buckets():
            for batch in group_batches(bucket):
                members = bucket.members[batch]
                order = human_order(human, members)
                batches.append((members, order, order == 0, weights[bucket.groups[batch]]))
        return cls(batches, bool((weights == 1).all()))

    def source(self, values: Floats) -> ListedPairs:
        gaps, tied, weights = [], [], []
        for members, order, is_tied, weight in self.batches:
            gap = differences(values, members)
            matters = (gap * order) > 0
            matters |= is_tied
            gaps.append(np.abs(gap[matters]))
            tied.append(is_tied[matters])
            if not self.is_uniform:
                weights.append(np.broadcast_to(weight, gap.shape)[matters])
        all_weights = None if self.is_uniform else np.concatenate(weights)
        return ListedPairs(np.concatenate(gaps), np.concatenate(tied), all_weights)
