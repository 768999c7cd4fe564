"""The organisers' test of acc_eq and tau_eq: each metric keeps its own tie threshold, pair outcomes are swapped."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import differences, group_batches, human_order
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.arrays.grouping import Bucket, GroupedScores, group_scores
from metaeval.kernels.resampling.draws import Alternative, block_sizes, check_alternative, outcomes_in_order
from metaeval.kernels.resampling.permutation import difference_p_values

PairStatistic = Literal["acc23", "tau_23"]
Signs = npt.NDArray[np.int8]
#: Pairs of scores whose outcomes are held at a time, for each metric.
BATCH_PAIRS = 1 << 16
#: Groups of up to this many scores are laid out whole; larger ones row by row.
WHOLE_GROUP = 64


@dataclass(frozen=True)
class PairsTest:
    """Outcome of the pairs test for all pairs of M metrics.

    p: (M, M), [a, b] is the p-value of "a is better than b" (two-sided: symmetric); `>=`, no + 1; NaN on the
        diagonal. values: (M,) acc23 or tau_23 at each metric's own threshold, mean over groups.
    n_only: (M, M) pairs of scores that metric a gets right and metric b wrong. is_exact: McNemar's closed form;
        else n_draws binomial draws (0 where none were made). null: (n_pairs, n_draws) drawn differences a − b
        for a < b, if kept.
    """

    p: Floats
    values: Floats
    n_only: Ints
    is_exact: bool
    n_draws: int
    null: Floats | None


@dataclass(frozen=True)
class PairOutcomes:
    """Right and wrong pairs by size of group: groups of one size weigh their pairs alike.

    n_only: (n_sizes, M, M) pairs that a gets right and b wrong; n_right: (n_sizes, M); n_groups, n_pairs:
    (n_sizes,) groups of that size and score pairs in each of them.
    """

    n_only: Ints
    n_right: Ints
    n_groups: Ints
    n_pairs: Ints

    @property
    def weights(self) -> Floats:
        """(n_sizes,) what one pair adds to the mean over groups of the share of right pairs."""
        return np.asarray(1.0 / (self.n_pairs * float(self.n_groups.sum())), dtype=np.float64)


def pair_outcome_p_values(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    labels: npt.ArrayLike,
    epsilon: npt.ArrayLike,
    *,
    statistic: PairStatistic = "acc23",
    alternative: Alternative = "greater",
    rng: np.random.Generator | None = None,
    n_draws: int = 1000,
    keep_null: bool = False,
    executor: Executor | None = None,
    n_threads: int | None = None,
) -> PairsTest:
    """Is metric a better than metric b, by acc23 or tau_23 at each metric's own tie threshold?

    human: (N, S), NaN = not judged; metrics: (M, N, S); labels: (N, S), see `grouping.group_labels`;
    epsilon: (M,) or one number, the calibrated thresholds, which are not calibrated again.
    The pairs of scores on which exactly one of the two is right are swapped between them by fair coins. With
    groups of one size p is exact: P(Bin(n, ½) ≥ n only a right), n = pairs on which one alone is right;
    two-sided P(|2X − n| ≥ |2 n_a − n|). Else Bin(n_g, ½) is drawn for all groups of one size together, and
    p = share of draws with Δ ≥ Δ observed (|Δ| two-sided), which needs `rng`.
    keep_null: keep drawn differences, also where p is exact.
    The coins of different pairs are independent, but pairs of one group share scores: with more than 2 scores a
    group the test finds far too many differences (docs/levels.md); `permutation_groups.right_pairs_swap` with
    swapped groups holds its level.
    Raises ValueError: arrays, fewer than 2 metrics, no group, unknown statistic or alternative, no rng where
        draws are needed. Source: the shared task's segment-level test since 2023; McNemar 1947.
    """
    checks.known(statistic, get_args(PairStatistic), "statistic")
    check_alternative(alternative)
    outcomes = pair_outcomes(human, metrics, labels, epsilon)
    unit = 2.0 if statistic == "tau_23" else 1.0
    shares = outcomes.weights @ outcomes.n_right
    values = 2.0 * shares - 1.0 if statistic == "tau_23" else shares
    is_exact = len(outcomes.weights) == 1
    n_only = outcomes.n_only.sum(axis=0)
    if is_exact and not keep_null:
        return PairsTest(mcnemar_p_values(n_only, alternative), values, n_only, True, 0, None)
    if rng is None:
        raise ValueError(
            "rng is needed: groups differ in size, so p is estimated by resampling, or the null distribution is kept"
        )
    null = unit * _drawn_differences(outcomes, rng, n_draws, executor, n_threads)
    if is_exact:
        p = mcnemar_p_values(n_only, alternative)
    else:
        p = difference_p_values(null, values, alternative=alternative)
    return PairsTest(p, values, n_only, is_exact, n_draws, null if keep_null else None)


def mcnemar_p_values(n_only: npt.ArrayLike, alternative: Alternative = "greater") -> Floats:
    """Exact p-values from the numbers of pairs that one metric alone gets right, (M, M); NaN on the diagonal.

    n_only: (M, M), [a, b] = right by a, wrong by b. One-sided P(X ≥ n_only[a, b]), two-sided
    P(|2X − n| ≥ |2 n_only[a, b] − n|), X ~ Bin(n_only[a, b] + n_only[b, a], ½). Without such pairs p = 1.
    >>> float(mcnemar_p_values([[0, 3], [1, 0]])[0, 1])
    0.3125
    """
    from scipy.special import betainc

    n_alone = np.asarray(n_only, dtype=np.float64)
    n = n_alone + n_alone.T
    least = np.maximum(n_alone, n_alone.T) if alternative == "two-sided" else n_alone
    # P(Bin(n, ½) ≥ k) = I_½(k, n − k + 1) for k ≥ 1
    tail = np.where(least > 0, betainc(np.maximum(least, 1.0), np.maximum(n - least + 1.0, 1.0), 0.5), 1.0)
    p = np.minimum(2.0 * tail, 1.0) if alternative == "two-sided" else tail
    if alternative == "two-sided":
        p = np.where(n_alone == n_alone.T, 1.0, p)
    np.fill_diagonal(p, np.nan)
    return np.asarray(p, dtype=np.float64)


def pair_outcomes(
    human: npt.ArrayLike, metrics: npt.ArrayLike, labels: npt.ArrayLike, epsilon: npt.ArrayLike
) -> PairOutcomes:
    """Count, for all metrics against all, the pairs of scores that one gets right and the other wrong.

    Right: concordant, or tied on both sides; ties of the metric |Δm| ≤ ε. Arguments as in `pair_outcome_p_values`.
    """
    scores = group_scores(human, metrics, labels)
    checks.several(len(scores.metrics))
    if not scores.groups.labels.size:
        raise ValueError("no group has two judged scores")
    thresholds = checks.thresholds(epsilon, len(scores.metrics))
    n_right, n_only, n_groups, n_pairs = [], [], [], []
    for bucket in scores.groups.buckets():
        both = _both_right(scores, bucket, thresholds)
        right = np.diagonal(both).copy()
        n_right.append(right)
        n_only.append(right[:, np.newaxis] - both)
        n_groups.append(len(bucket.groups))
        n_pairs.append(bucket.size * (bucket.size - 1) // 2)
    return PairOutcomes(np.stack(n_only), np.stack(n_right), np.array(n_groups), np.array(n_pairs))


def _both_right(scores: GroupedScores, bucket: Bucket, thresholds: Floats) -> Ints:
    """(M, M) pairs of the bucket that both metrics get right; the diagonal: that one does."""
    total = np.zeros((len(thresholds), len(thresholds)), dtype=np.int64)
    layout = _whole_groups if bucket.size <= WHOLE_GROUP else _long_rows
    for right in layout(scores, bucket, thresholds):
        outcomes = right.astype(np.float32)  # whole numbers below 2^24: products are exact
        total += np.rint(outcomes @ outcomes.T).astype(np.int64)
    return total


def _is_right(gaps: Floats, human_sign: Signs, threshold: npt.ArrayLike) -> Bools:
    bound = np.asarray(threshold, dtype=np.float64)
    return np.asarray(((gaps > bound).view(np.int8) - (gaps < -bound).view(np.int8)) == human_sign)


def _whole_groups(scores: GroupedScores, bucket: Bucket, thresholds: Floats) -> Iterator[Bools]:
    """(M, pairs) right or wrong, for some groups at a time."""
    n_pairs = bucket.size * (bucket.size - 1) // 2
    step = max(1, BATCH_PAIRS // n_pairs)
    for wide in group_batches(bucket):
        for start in range(wide.start, min(wide.stop, len(bucket.groups)), step):
            members = bucket.members[start : min(start + step, wide.stop)]
            human_sign = human_order(scores.human, members)
            yield np.stack(
                [
                    _is_right(differences(values, members), human_sign, threshold).ravel()
                    for values, threshold in zip(scores.metrics, thresholds, strict=True)
                ]
            )


def _long_rows(scores: GroupedScores, bucket: Bucket, thresholds: Floats) -> Iterator[Bools]:
    """The same for large groups: the pairs of one score after the other with all later ones."""
    for members in bucket.members:
        human, metrics = scores.human[members], scores.metrics[:, members]
        rows: list[Bools] = []
        n_held = 0
        for first in range(len(members) - 1):
            gap = human[first] - human[first + 1 :]
            human_sign = (gap > 0).view(np.int8) - (gap < 0).view(np.int8)
            gaps = metrics[:, first, np.newaxis] - metrics[:, first + 1 :]
            rows.append(_is_right(gaps, human_sign, thresholds[:, np.newaxis]))
            n_held += len(human_sign)
            if n_held >= BATCH_PAIRS:
                yield np.concatenate(rows, axis=1)
                rows, n_held = [], 0
        if rows:
            yield np.concatenate(rows, axis=1)


@dataclass(frozen=True)
class _Coins:
    n_alone: Ints  # (n_metric_pairs, n_sizes)
    weights: Floats
    streams: list[np.random.Generator]
    sizes: list[int]


def _drawn_differences(
    outcomes: PairOutcomes, rng: np.random.Generator, n_draws: int, executor: Executor | None, n_threads: int | None
) -> Floats:
    """(n_metric_pairs, n_draws) differences of the share of right pairs under the null, for a < b."""
    rows, columns = np.triu_indices(outcomes.n_only.shape[1], 1)
    n_alone = outcomes.n_only + outcomes.n_only.transpose(0, 2, 1)
    sizes = block_sizes(n_draws)
    streams = rng.spawn(len(sizes))
    of_pair = np.ascontiguousarray(n_alone[:, rows, columns].T)
    tasks = [_Coins(of_pair, outcomes.weights, [s], [n]) for s, n in zip(streams, sizes, strict=True)]
    with outcomes_in_order(_tossed, tasks, executor, n_threads) as blocks:
        return np.concatenate(list(blocks), axis=1)


def _tossed(task: _Coins) -> list[Floats]:
    blocks = []
    for stream, size in zip(task.streams, task.sizes, strict=True):
        heads = stream.binomial(task.n_alone, 0.5, size=(size, *task.n_alone.shape))
        blocks.append(np.ascontiguousarray(((2 * heads - task.n_alone) @ task.weights).T))
    return blocks
