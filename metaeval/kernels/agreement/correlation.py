"""Pearson's r, Spearman's rho and Kendall's tau_b, per group and at system level; Pearson's r of differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import grouped_pair_counts
from metaeval.kernels.agreement.tau import tau_b
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, ratio
from metaeval.kernels.arrays.grouping import GroupedScores, group_scores

Correlation = Literal["pearson", "spearman", "kendall"]
BATCH_VALUES = 1 << 22  # numbers held in memory at a time


def pearson(human: npt.ArrayLike, metrics: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Pearson's r of each metric with the human scores inside each group, (n_metrics, n_groups), in [−1, 1].

    human: (n_systems, n_segments), NaN = not judged; these scores are excluded. metrics: (n_metrics, n_systems,
        n_segments). labels: see `grouping.group_labels`. Groups with fewer than 2 judged scores are excluded.
    NaN where all human or all metric scores of a group are equal. Average with `tau.group_mean`.
    Raises ValueError: shapes, or a missing metric score where humans judged.
    >>> pearson([[1.0], [2.0], [4.0]], [[[2.0], [4.0], [8.0]]], [[0], [0], [0]]).round(12).tolist()
    [[1.0]]
    """
    return _by_group(group_scores(human, metrics, labels), _standardised)


def spearman(human: npt.ArrayLike, metrics: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Spearman's rho, (n_metrics, n_groups); equal scores get their average rank. All else as in `pearson`."""
    return _by_group(group_scores(human, metrics, labels), _standardised_ranks)


def kendall(human: npt.ArrayLike, metrics: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Kendall's tau_b without a tie threshold, (n_metrics, n_groups); all else as in `pearson`."""
    scores = group_scores(human, metrics, labels)
    return tau_b(grouped_pair_counts(scores, np.zeros(len(scores.metrics))))


CORRELATIONS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike], Floats]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}


def system_correlation(human: npt.ArrayLike, metrics: npt.ArrayLike, statistic: Correlation) -> Floats:
    """Correlation of each metric's system scores with the human system scores, (n_metrics,).

    human: (n_systems,), NaN = not judged; these systems are excluded. metrics: (n_metrics, n_systems).
    NaN if all human or all metric scores are equal, or if fewer than 2 systems are judged.
    Raises ValueError: shapes, an unknown statistic, or a missing metric score of a judged system.
    >>> system_correlation([1.0, 2.0, 3.0], [[3.0, 2.0, 1.0]], "spearman").round(12).tolist()
    [-1.0]
    """
    human, metrics = checks.system_scores(human, metrics)
    labels = np.zeros((human.size, 1), dtype=np.int64)
    values = _named(statistic)(human[:, np.newaxis], metrics[:, :, np.newaxis], labels)
    return values[:, 0] if values.shape[1] else np.full(len(metrics), np.nan)


def correlation_of_rows(human: Floats, metrics: Floats, statistic: Correlation) -> Floats:
    """Correlation along the last axis of human (..., N) and metrics (..., N), which broadcast and contain no NaN.

    NaN where all values of either row are equal.
    >>> correlation_of_rows(np.array([[1.0, 2.0, 4.0]]), np.array([[2.0, 4.0, 8.0], [3.0, 2.0, 1.0]]), "kendall")
    array([ 1., -1.])
    """
    if statistic == "kendall":
        first, second = np.triu_indices(human.shape[-1], 1)
        one, other = (np.sign(scores[..., first] - scores[..., second]) for scores in (human, metrics))
        n_untied = np.count_nonzero(one, axis=-1) * np.count_nonzero(other, axis=-1)
        return ratio((one * other).sum(axis=-1), np.sqrt(n_untied))
    standardise = _standardised if _named(statistic) is pearson else _standardised_ranks
    values: Floats = np.clip((standardise(human) * standardise(metrics)).sum(axis=-1), -1.0, 1.0)
    return values


def correlation_matrix(metrics: npt.ArrayLike, labels: npt.ArrayLike, statistic: Correlation = "pearson") -> Floats:
    """Correlation of every metric with every other, (n_metrics, n_metrics), mean over groups.

    metrics: (n_metrics, n_systems, n_segments), finite where used. labels: see `grouping.group_labels`; -1 = not used
        (to use judged scores only, set the label to -1 where the human score is NaN).
    Groups in which either metric is constant are excluded from the mean of that entry, which is NaN if no group
    remains. The diagonal is 1 unless the metric is constant in every group.
    Raises ValueError: as `pearson`.
    """
    labels = np.asarray(labels)
    everywhere = np.zeros(labels.shape)
    scores = group_scores(everywhere, metrics, labels)
    if statistic == "kendall":
        return _kendall_matrix(scores)
    standardise = _standardised if _named(statistic) is pearson else _standardised_ranks
    total = np.zeros((len(scores.metrics), len(scores.metrics)))
    n_groups = np.zeros(total.shape, dtype=np.int64)
    for bucket in scores.groups.buckets():
        step = max(1, BATCH_VALUES // (len(scores.metrics) * bucket.size))
        for start in range(0, len(bucket.groups), step):
            values = standardise(scores.metrics[:, bucket.members[start : start + step]])
            defined = ~np.isnan(values[:, :, 0])  # (n_metrics, g)
            values = np.where(defined[:, :, np.newaxis], values, 0.0)
            total += np.einsum("agk,bgk->ab", values, values, optimize=False)
            as_count = defined.astype(np.int64)
            n_groups += as_count @ as_count.T
    return _mean_of_sums(total, n_groups)


def _kendall_matrix(scores: GroupedScores) -> Floats:
    n_metrics = len(scores.metrics)
    total = np.zeros((n_metrics, n_metrics))
    n_groups = np.zeros((n_metrics, n_metrics), dtype=np.int64)
    for metric in range(n_metrics):
        later = GroupedScores(scores.metrics[metric], scores.metrics[metric:], scores.groups)
        values = tau_b(grouped_pair_counts(later, np.zeros(n_metrics - metric)))
        defined = ~np.isnan(values)
        total[metric, metric:] = total[metric:, metric] = np.where(defined, values, 0.0).sum(axis=1)
        n_groups[metric, metric:] = n_groups[metric:, metric] = np.count_nonzero(defined, axis=1)
    return _mean_of_sums(total, n_groups)


def _mean_of_sums(total: Floats, n: npt.NDArray[np.int64]) -> Floats:
    mean = ratio(total, n)
    diagonal = np.arange(len(mean))
    mean[diagonal, diagonal] = np.where(n[diagonal, diagonal] > 0, 1.0, np.nan)
    return np.asarray(np.clip(mean, -1.0, 1.0), dtype=np.float64)


def _named(statistic: Correlation) -> Callable[[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike], Floats]:
    checks.known(statistic, CORRELATIONS, "correlation")
    return CORRELATIONS[statistic]


def _by_group(scores: GroupedScores, standardise: Callable[[Floats], Floats]) -> Floats:
    result = np.empty((len(scores.metrics), len(scores.groups.labels)))
    for bucket in scores.groups.buckets():
        step = max(1, BATCH_VALUES // bucket.size)
        for start in range(0, len(bucket.groups), step):
            members = bucket.members[start : start + step]
            groups = bucket.groups[start : start + step]
            human = standardise(scores.human[members])
            for metric, values in enumerate(scores.metrics):
                result[metric, groups] = (human * standardise(values[members])).sum(axis=-1)
    return np.clip(result, -1.0, 1.0)


def _standardised(values: Floats) -> Floats:
    """Values centred and scaled so that their squares add up to 1 along the last axis; NaN where all are equal."""
    low, high = values.min(axis=-1, keepdims=True), values.max(axis=-1, keepdims=True)
    constant = low == high
    # brought to [-1, 1] by a power of two first, so that squares neither overflow nor vanish
    exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    scaled = np.ldexp(values, -exponent)
    centred = scaled - scaled.mean(axis=-1, keepdims=True)
    spread = np.abs(centred).max(axis=-1, keepdims=True)
    centred = np.ldexp(centred, -np.frexp(spread)[1])
    centred -= centred.mean(axis=-1, keepdims=True)
    length = np.sqrt((centred * centred).sum(axis=-1, keepdims=True))
    return ratio(centred, length, ~constant)


def _standardised_ranks(values: Floats) -> Floats:
    return _standardised(average_ranks(values))


def average_ranks(values: Floats) -> Floats:
    """Ranks from 1 along the last axis; equal values share the mean of their ranks. NaN is not allowed."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    changes = ordered[..., 1:] != ordered[..., :-1]
    place = np.arange(values.shape[-1])
    # of each run of equal values the places of its first and its last one
    first = np.zeros(values.shape, dtype=np.int64)
    first[..., 1:] = np.where(changes, place[1:], 0)
    np.maximum.accumulate(first, axis=-1, out=first)
    last = np.full(values.shape, place.size - 1, dtype=np.int64)
    last[..., :-1] = np.where(changes, place[:-1], place.size - 1)
    backwards = last[..., ::-1]
    np.minimum.accumulate(backwards, axis=-1, out=backwards)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2.0 + 1.0, axis=-1)
    return ranks


def pairwise_difference_pearson(human: npt.ArrayLike, metrics: npt.ArrayLike) -> Floats:
    """Pearson's r between all within-segment differences of human and of metric scores, (n_metrics,).

    human: (n_systems, n_segments), NaN = not judged; a pair counts where both scores are judged. metrics:
        (n_metrics, n_systems, n_segments). Both orders of every pair enter, so the mean differences are 0
        and the sums over pairs are n_s Σ (h − mean_s)(m − mean_s) for each segment s.
    0 where no human or no metric score differs within any segment; in [−1, 1].
    Raises ValueError: shapes, or a missing metric score where humans judged.
    Source: DiIanni and Deutsch 2025, eq. 1; sums over pairs in closed form.
    >>> pairwise_difference_pearson([[0.0, 1.0], [1.0, 3.0]], [[[5.0, 1.0], [6.0, 3.0]]]).tolist()
    [1.0]
    """
    human = checks.human_scores(human)
    judged = ~np.isnan(human)
    metrics = checks.metric_scores(metrics, judged)
    human_part = _centred(human, judged)
    result = np.zeros(len(metrics))
    for metric, scores in enumerate(metrics):
        result[metric] = _cosine(human_part, _centred(scores, judged))
    return result


def _centred(scores: Floats, judged: Bools) -> Floats:
    """√n_s (score − mean_s) for the judged scores, 0 elsewhere; exactly 0 in a segment whose scores are all equal."""
    low = np.where(judged, scores, np.inf).min(axis=0)
    high = np.where(judged, scores, -np.inf).max(axis=0)
    n = np.count_nonzero(judged, axis=0)
    varies = judged & (low < high)
    filled = np.where(varies, scores, 0.0)
    mean = filled.sum(axis=0) / np.maximum(n, 1)
    centred = np.where(varies, filled - mean, 0.0)
    centred -= np.where(varies, centred.sum(axis=0) / np.maximum(n, 1), 0.0)
    largest = np.abs(centred).max(initial=0.0)
    # a power of two, so that squares neither overflow nor vanish
    scaled: Floats = np.ldexp(centred, -int(np.frexp(largest)[1])) * np.sqrt(n)
    return scaled


def _cosine(a: Floats, b: Floats) -> float:
    length = float(np.sqrt((a * a).sum()) * np.sqrt((b * b).sum()))
    if length == 0.0:
        return 0.0
    return float(np.clip((a * b).sum() / length, -1.0, 1.0))
