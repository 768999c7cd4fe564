"""The organisers' test of acc_eq and tau_eq: each metric keeps its own tie threshold, and pair outcomes are swapped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import differences, human_order
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import Bucket, GroupedScores, group_scores
from metaeval.kernels.resampling.draws import Alternative, blocks
from metaeval.kernels.resampling.permutation import difference_p_values
from metaeval.kernels.resampling.prepared import PairStatistic

#: Pairs of scores whose outcomes are held at a time, for each metric.
BATCH_PAIRS = 1 << 16


@dataclass(frozen=True)
class PairsTest:
    """Outcome of the pairs test for all pairs of M metrics.

    p: (M, M), [a, b] is the p-value of "a is better than b" (two-sided: symmetric); `>=`, no + 1; NaN on the
        diagonal. values: (M,) acc23 or tau_23 at each metric's own threshold, mean over groups.
    n_only: (M, M) pairs of scores that metric a gets right and metric b wrong. is_exact: p is McNemar's closed form;
        otherwise it comes from n_draws binomial draws (0 if none were made). null: (n_pairs, n_draws) drawn differences
        a − b for a < b, if kept.
    """

    p: Floats
    values: Floats
    n_only: Ints
    is_exact: bool
    n_draws: int
    null: Floats | None


@dataclass(frozen=True)
class PairOutcomes:
    """Right and wrong pairs by group size: pairs in groups of the same size have the same weight.

    n_only: (n_sizes, M, M) pairs that a gets right and b wrong; n_right: (n_sizes, M); n_groups, n_pairs:
    (n_sizes,) groups of that size and score pairs in each of them.
    """

    n_only: Ints
    n_right: Ints
    n_groups: Ints
    n_pairs: Ints

    @property
    def weights(self) -> Floats:
        """(n_sizes,) how much one right pair adds to the mean share of right pairs over groups."""
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
) -> PairsTest:
    """Is metric a better than metric b, by acc23 or tau_23 at each metric's own tie threshold?

    human: (N, S), NaN = not judged; metrics: (M, N, S); labels: (N, S), see `grouping.group_labels`;
    epsilon: (M,) or one number, the calibrated thresholds, which are not recalibrated.
    The pairs of scores on which exactly one of the two metrics is right are swapped between them by fair coin flips. If
    all groups have the same size, p is exact: P(Bin(n, ½) ≥ n_a), where n pairs are right for one metric only and n_a
    of them for a; two-sided, P(|2X − n| ≥ |2 n_a − n|). Otherwise Bin(n_g, ½) is drawn for all groups of one size
    together, and p is the share of draws with Δ ≥ Δ observed (|Δ| if two-sided), which needs `rng`.
    keep_null: keep drawn differences, even if p is exact.
    The coins of different pairs are independent, but pairs of one group share scores. With more than 2 scores per group
    the test finds far too many differences (docs/levels.md), with hundreds it does so in most data sets. Measures
    therefore offer it only by item; `permutation_groups.right_pairs_swap` with swapped groups holds its level.
    Raises ValueError: arrays, fewer than 2 metrics, no group, unknown statistic or alternative, no rng where
        draws are needed. Source: the shared task's segment-level test since 2023; McNemar 1947.
    """
    checks.known(statistic, get_args(PairStatistic), "statistic")
    checks.known(alternative, get_args(Alternative), "alternative")
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
    null = unit * _drawn_differences(outcomes, rng, n_draws)
    if is_exact:
        p = mcnemar_p_values(n_only, alternative)
    else:
        p = difference_p_values(null, values, alternative=alternative)
    return PairsTest(p, values, n_only, is_exact, n_draws, null if keep_null else None)


def mcnemar_p_values(n_only: npt.ArrayLike, alternative: Alternative = "greater") -> Floats:
    """Exact p-values from the numbers of pairs that only one metric gets right, (M, M); NaN on the diagonal.

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
    """Count, for every two metrics, the pairs of scores that one metric gets right and the other gets wrong.

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
    """(M, M) pairs of the bucket that both metrics get right; on the diagonal, that the metric itself does."""
    total = np.zeros((len(thresholds), len(thresholds)), dtype=np.int64)
    step = max(1, BATCH_PAIRS // (bucket.size * (bucket.size - 1) // 2))
    for start in range(0, len(bucket.groups), step):
        members = bucket.members[start : start + step]
        human_sign = human_order(scores.human, members)
        outcomes = np.empty((len(thresholds), human_sign.size), dtype=np.float32)  # whole numbers below 2^24 are exact
        for own, values, threshold in zip(outcomes, scores.metrics, thresholds, strict=True):
            gaps = differences(values, members)
            own[:] = (((gaps > threshold).view(np.int8) - (gaps < -threshold).view(np.int8)) == human_sign).ravel()
        total += np.rint(outcomes @ outcomes.T).astype(np.int64)
    return total


def _drawn_differences(outcomes: PairOutcomes, rng: np.random.Generator, n_draws: int) -> Floats:
    """(n_metric_pairs, n_draws) differences in the share of right pairs under the null hypothesis, for a < b."""
    rows, columns = np.triu_indices(outcomes.n_only.shape[1], 1)
    n_alone = outcomes.n_only + outcomes.n_only.transpose(0, 2, 1)
    n_alone = np.ascontiguousarray(n_alone[:, rows, columns].T)  # (n_metric_pairs, n_sizes)
    found = []
    for stream, size in blocks(rng, n_draws):
        heads = stream.binomial(n_alone, 0.5, size=(size, *n_alone.shape))
        found.append(((2 * heads - n_alone) @ outcomes.weights).T)
    return np.concatenate(found, axis=1)
