"""Concordant, discordant and tied pairs of (system, segment) scores, for all metrics and groups at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import Bucket, GroupedScores, Groups, group_scores
from metaeval.kernels.arrays.sorted_scores import HumanOrder, SortedPairCounts, SortedScores

DENSE_SIZE = 64  # groups up to this size: every pair is looked at; above: n log n
NOISE = 1e-12  # of the largest human score in size: what rounding may take from a difference
OUTCOMES = ("n_concordant", "n_discordant", "n_tied_human", "n_tied_metric", "n_tied_both")
BATCH_PAIRS = 1 << 19  # pairs of one metric held in memory at a time
CACHED = 1 << 16  # values of several metrics that are looked at together


@dataclass(frozen=True)
class PairCounts:
    """Pairs of each metric and group by outcome: int64 (n_metrics, n_groups), unless said otherwise.

    n_concordant, n_discordant: human scores differ, metric scores differ by more than epsilon, in the same
        or the opposite direction.
    n_tied_human, n_tied_metric, n_tied_both: tied on one side only, or on both.
    n_scores: (n_groups,) judged scores. labels: (n_groups,) the group's label.
    n_distinct: number of distinct values of the human or the metric scores, whichever is smaller (tau_c's k);
        -1 where the counts are not those of whole groups.
    epsilon: (n_metrics,) the threshold used, in the metric's units.
    """

    n_concordant: Ints
    n_discordant: Ints
    n_tied_human: Ints
    n_tied_metric: Ints
    n_tied_both: Ints
    n_scores: Ints
    labels: Ints
    n_distinct: Ints
    epsilon: Floats

    @property
    def n_pairs(self) -> Ints:
        """All pairs, (n_metrics, n_groups)."""
        return self.n_concordant + self.n_discordant + self.n_tied_human + self.n_tied_metric + self.n_tied_both

    def __add__(self, other: PairCounts) -> PairCounts:
        """Counts of the same metrics over the pairs of both, for example two evaluation sets, each pooled."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in (*OUTCOMES, "n_scores")}
        return replace(self, **sums)

    def pooled(self) -> PairCounts:
        """Counts added up over all groups, as one group labelled 0."""

        sums = {name: getattr(self, name).sum(axis=-1, keepdims=True) for name in (*OUTCOMES, "n_scores")}
        no_group = np.full((len(self.epsilon), 1), -1, dtype=np.int64)
        return replace(self, **sums, labels=np.zeros(1, dtype=np.int64), n_distinct=no_group)


def pair_counts(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    labels: npt.ArrayLike,
    epsilon: npt.ArrayLike = 0.0,
    *,
    relative: bool = False,
) -> PairCounts:
    """Count the unordered pairs of (system, segment) scores inside each group by outcome, exactly, for all metrics.

    human: (n_systems, n_segments), NaN = not judged; these scores form no pair. metrics: (n_metrics, n_systems,
        n_segments). labels: (n_systems, n_segments), see `grouping.group_labels`; -1 = not used. Groups with fewer than
        2 judged scores are excluded.
    epsilon: a pair is tied on the metric if the float64 difference of its scores is at most epsilon in size; one
        number, or one number per metric. relative: epsilon is in standard deviations (divisor n) of the metric over the
        scores used. Human scores are tied if they are equal.
    Raises ValueError: shapes, a missing metric score where humans judged, a negative epsilon.
    Source: the counts of Deutsch et al. 2023, table 2.
    >>> counts = pair_counts([[0.0], [1.0], [1.0]], [[[1.0], [2.0], [5.0]]], [[0], [0], [0]], epsilon=1.0)
    >>> counts.n_concordant.tolist(), counts.n_tied_human.tolist(), counts.n_tied_metric.tolist()
    ([[1]], [[1]], [[1]])
    """
    scores = group_scores(human, metrics, labels)
    thresholds = checks.thresholds(epsilon, len(scores.metrics))
    if relative:
        thresholds = thresholds * standard_deviations(scores)
    return grouped_pair_counts(scores, thresholds)


def standard_deviations(scores: GroupedScores) -> Floats:
    """Standard deviation (divisor n) of each metric over the scores used, (n_metrics,); 0 without scores."""
    if not scores.groups.members.size:
        return np.zeros(len(scores.metrics))
    used = scores.metrics[:, np.sort(scores.groups.members)]
    deviations: Floats = used.std(axis=1)
    deviations[used.min(axis=1) == used.max(axis=1)] = 0.0
    return deviations


def sorted_members(scores: GroupedScores) -> list[SortedScores]:
    """For each metric, the members of groups whose pairs do not all fit in memory; empty without such groups."""
    large = scores.groups.sizes > DENSE_SIZE
    if not large.any():
        return []
    order = HumanOrder.of(scores.human, scores.groups.select(large))
    return [SortedScores.sort(order, values) for values in scores.metrics]


def grouped_pair_counts(
    scores: GroupedScores, epsilon: Floats, large_groups: Sequence[SortedScores] | None = None
) -> PairCounts:
    """`pair_counts` on checked arrays: epsilon (n_metrics,).

    large_groups: from `sorted_members`, passed in when several thresholds are requested.
    """
    groups, n_metrics = scores.groups, len(scores.metrics)
    # three numbers of every pair set fix the five: C - D, C + D, and the pairs the metric tells apart
    balance = np.zeros((3, n_metrics, len(groups.labels)), dtype=np.int64)
    human_untied = np.zeros(len(groups.labels), dtype=np.int64)
    n_distinct = np.zeros((n_metrics, len(groups.labels)), dtype=np.int64)
    small = groups.sizes <= DENSE_SIZE
    for bucket in groups.buckets():
        if bucket.size <= DENSE_SIZE:
            _count_bucket(scores, bucket, epsilon, balance, human_untied)
            n_distinct[:, bucket.groups] = _fewest_distinct(scores, bucket)
    if not small.all():
        large = np.flatnonzero(~small)
        for metric, members in enumerate(sorted_members(scores) if large_groups is None else large_groups):
            order = members.order
            human_untied[large] = order.n_pairs - order.n_tied
            balance[:, metric, large] = _balance(members.count(float(epsilon[metric])))
            n_distinct[metric, large] = np.minimum(order.n_distinct, members.n_distinct())
    return _by_outcome(groups, balance, human_untied, n_distinct, epsilon)


def pair_counts_over(
    scores: GroupedScores, metric: int, thresholds: Floats, large_groups: SortedScores | None = None
) -> PairCounts:
    """`grouped_pair_counts` of one metric at each of several thresholds: a row per threshold, in their order.

    thresholds: (n_thresholds,), each at least 0. large_groups: the metric's `sorted_members`; None without any. Each
    pair is looked at once. n_distinct is not counted.
    """
    groups, n = scores.groups, len(thresholds)
    shape = (n, len(groups.labels))
    balance = np.zeros((3, *shape), dtype=np.int64)
    human_untied = np.zeros(len(groups.labels), dtype=np.int64)
    order = np.argsort(thresholds)
    for bucket in groups.buckets():
        if bucket.size > DENSE_SIZE:
            continue
        for batch in group_batches(bucket):
            members, chosen = bucket.members[batch], bucket.groups[batch]
            human_sign, gaps = human_order(scores.human, members), differences(scores.metrics[metric], members)
            outcome = 1 + human_sign * np.sign(gaps).astype(np.int8)
            # how many thresholds keep the pair apart: a bin for each number, outcome and group
            n_below = np.searchsorted(thresholds[order], np.abs(gaps), side="left")
            places = (n_below * 3 + outcome) * len(chosen) + np.arange(len(chosen))
            counts = np.bincount(places.ravel(), minlength=3 * (n + 1) * len(chosen)).reshape(n + 1, 3, len(chosen))
            apart = counts[:0:-1].cumsum(axis=0)[::-1]  # (n_thresholds, 3, g): discordant, tied by humans, concordant
            rows = np.ix_(order, chosen)
            balance[0][rows] = apart[:, 2] - apart[:, 0]
            balance[1][rows] = apart[:, 2] + apart[:, 0]
            balance[2][rows] = apart.sum(axis=1)
            human_untied[chosen] = np.count_nonzero(human_sign, axis=0)
    if large_groups is not None:
        large = np.flatnonzero(groups.sizes > DENSE_SIZE)
        human_untied[large] = large_groups.order.n_pairs - large_groups.order.n_tied
        for place, threshold in enumerate(thresholds.tolist()):
            balance[:, place, large] = _balance(large_groups.count(threshold))
    return _by_outcome(groups, balance, human_untied, np.full(shape, -1, dtype=np.int64), thresholds)


def _balance(counts: SortedPairCounts) -> Ints:
    order = counts.n_concordant + counts.n_discordant
    return np.stack([counts.n_concordant - counts.n_discordant, order, order + counts.n_tied_human])


def _by_outcome(groups: Groups, balance: Ints, human_untied: Ints, n_distinct: Ints, epsilon: Floats) -> PairCounts:
    difference, untied, metric_untied = balance
    return PairCounts(
        n_concordant=(untied + difference) // 2,
        n_discordant=(untied - difference) // 2,
        n_tied_human=metric_untied - untied,
        n_tied_metric=human_untied - untied,
        n_tied_both=groups.n_pairs - human_untied - metric_untied + untied,
        n_scores=groups.sizes,
        labels=groups.labels,
        n_distinct=n_distinct,
        epsilon=epsilon,
    )


def group_batches(bucket: Bucket) -> Iterator[slice]:
    """Slices of the bucket's groups that hold at most BATCH_PAIRS pairs each (at least one group)."""
    n_pairs = bucket.size * (bucket.size - 1) // 2
    step = max(1, BATCH_PAIRS // n_pairs)
    for start in range(0, len(bucket.groups), step):
        yield slice(start, start + step)


def differences(values: Floats, members: Ints) -> Floats:
    """First score minus second score of every pair: (n_pairs, ..., g) for values (..., n) and members (g, size)."""
    by_place = np.ascontiguousarray(np.moveaxis(values[..., members], -1, 0))  # (size, ..., g)
    size = len(by_place)
    gaps = np.empty((size * (size - 1) // 2, *by_place.shape[1:]))
    start = 0
    for place in range(size - 1):
        end = start + size - 1 - place
        np.subtract(by_place[place], by_place[place + 1 :], out=gaps[start:end])
        start = end
    return gaps


def human_order(human: Floats, members: Ints) -> npt.NDArray[np.int8]:
    """Sign of the human difference of every pair, by exact comparison: (n_pairs, g)."""
    by_place = np.ascontiguousarray(human[members].T)
    first, second = np.triu_indices(members.shape[1], 1)
    a, b = by_place[first], by_place[second]
    return (a > b).view(np.int8) - (a < b).view(np.int8)


def _count_bucket(scores: GroupedScores, bucket: Bucket, epsilon: Floats, balance: Ints, human_untied: Ints) -> None:
    for batch in group_batches(bucket):
        members, groups = bucket.members[batch], bucket.groups[batch]
        human_sign = human_order(scores.human, members)
        human_untied[groups] = np.count_nonzero(human_sign, axis=0)
        for some in _metric_batches(len(scores.metrics), human_sign.size):
            gaps, threshold = differences(scores.metrics[some], members), epsilon[some, np.newaxis]
            sign = (gaps > threshold).view(np.int8) - (gaps < -threshold).view(np.int8)  # (n_pairs, m, g)
            balance[2][some, groups] = _column_sums(np.abs(sign))
            sign *= human_sign[:, np.newaxis]
            balance[0][some, groups] = _column_sums(sign)
            balance[1][some, groups] = _column_sums(np.abs(sign))


def _metric_batches(n_metrics: int, n_each: int) -> Iterator[slice]:
    """Slices of metrics that together have few enough values for the cache, of n_each each (at least one metric)."""
    step = max(1, CACHED // n_each)
    for start in range(0, n_metrics, step):
        yield slice(start, start + step)


def _column_sums(signs: npt.NDArray[np.int8]) -> Ints:
    # (n_pairs, m, g) of -1, 0, 1 -> (m, g); sums of at most 127 rows fit int8, which is many times faster
    total = np.zeros(signs.shape[1:], dtype=np.int64)
    for start in range(0, len(signs), 127):
        total += np.add.reduce(signs[start : start + 127], axis=0, dtype=np.int8)
    return total


def _fewest_distinct(scores: GroupedScores, bucket: Bucket) -> Ints:
    human = _n_distinct(scores.human[bucket.members])
    found = np.empty((len(scores.metrics), len(human)), dtype=np.int64)
    for some in _metric_batches(len(scores.metrics), bucket.members.size):
        found[some] = np.minimum(human, _n_distinct(scores.metrics[some][:, bucket.members]))
    return found


def _n_distinct(values: Floats) -> Ints:
    ordered = np.sort(values, axis=-1)
    n_steps: Ints = (ordered[..., 1:] != ordered[..., :-1]).sum(axis=-1, dtype=np.int64)
    return n_steps + 1


def thresholded_pair_counts(
    human: npt.ArrayLike, metrics: npt.ArrayLike, labels: npt.ArrayLike, threshold: float = 25.0
) -> PairCounts:
    """Count pairs whose human scores differ by at least `threshold`, unaffected by rounding: -2.1 and -5.1 differ by 3.

    Arguments as in `pair_counts`; metric ties are exact. Nothing is tied on the human side, so n_tied_human
    and n_tied_both are 0. Raises ValueError: as `pair_counts`, or a threshold that is not positive.
    Source: the daRR of WMT17-20 (Bojar et al. 2017), threshold 25 raw DA points.
    """
    if not threshold > 0:
        raise ValueError(f"threshold must be positive, got {threshold}")
    scores = group_scores(human, metrics, labels)
    shape = (len(scores.metrics), len(scores.groups.labels))
    n_concordant, n_discordant, n_tied = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    least = threshold - NOISE * np.abs(np.nan_to_num(scores.human)).max(initial=0)
    for groups, first, second in _score_pairs(scores.groups):
        gap = scores.human[first] - scores.human[second]
        far = (np.abs(gap) >= least) & (gap != 0)
        ahead = np.where(gap > 0, first, second)[far]
        behind = np.where(gap > 0, second, first)[far]
        for metric, values in enumerate(scores.metrics):
            won, lost = values[ahead] > values[behind], values[ahead] < values[behind]
            for counts, outcome in ((n_concordant, won), (n_discordant, lost), (n_tied, ~(won | lost))):
                counts[metric] += np.bincount(groups[far][outcome], minlength=shape[1])
    zeros = np.zeros(shape, dtype=np.int64)
    unknown = np.full(shape, -1, dtype=np.int64)
    epsilon = np.zeros(shape[0])
    sizes, names = scores.groups.sizes, scores.groups.labels
    return PairCounts(n_concordant, n_discordant, zeros, n_tied, zeros, sizes, names, unknown, epsilon)


def _score_pairs(groups: Groups) -> Iterator[tuple[Ints, Ints, Ints]]:
    # all pairs of (system, segment) scores in bounded batches: (group, first score, second score), each (n,)
    for bucket in groups.buckets():
        for batch in group_batches(bucket):
            members = bucket.members[batch]
            for rows in _row_batches(bucket.size):
                first, second = np.nonzero(np.arange(bucket.size) > np.arange(rows.start, rows.stop)[:, None])
                first += rows.start
                group = np.repeat(bucket.groups[batch], first.size)
                yield group, members[:, first].ravel(), members[:, second].ravel()


def _row_batches(size: int) -> Iterator[range]:
    step = max(1, 4 * BATCH_PAIRS // size)
    for start in range(0, size, step):
        yield range(start, min(size, start + step))
