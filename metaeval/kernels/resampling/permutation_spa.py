"""Soft pairwise accuracy of hybrids, for permutation tests: drawn inner p-values and the normal limit.

The inner paired permutation test flips the sign of some segments. Σ σ d ≥ Σ d is the same as "the differences d of the
flipped segments add up to 0 or less", so only these sums are needed. A hybrid's sum is a part kept from metric a plus a
part taken from metric b.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.draws import single_blas_thread
from metaeval.kernels.resampling.permutation import standardise
from metaeval.kernels.resampling.prepared import TOLERANCE, Swap, SwapStatistic, mask_shape
from metaeval.kernels.resampling.system_tests import normal_p_values, sign_flip_p_values

from .flipped_sums import ROUNDING, FlippedSums

#: Differences of segments held at a time in the normal limit, over metrics and system pairs.
PAIRED = 1 << 17


@dataclass(frozen=True)
class SoftPairwiseSwap(SwapStatistic):
    """Soft pairwise accuracy of every hybrid, with drawn inner signs; segments or single scores are swapped.

    Counts are whole numbers: `hybrids` is −Σ over system pairs of |human count − hybrid count|.
    scores: (M, N, S) standardised, 0 where not judged; judged: (N, S); flips: (n_flips, S), True where the
    sign is −1; human_counts: (n_pairs,) of the inner test on the human scores.
    """

    swap: Swap
    scores: Floats
    judged: Bools
    flips: Bools
    human_counts: Ints

    def hybrids(self, swaps: Bools) -> Floats:
        sums = self._flipped.drawn(swaps)
        n_metrics = self.n_metrics
        shifts = np.arange(n_metrics)
        other = (shifts + shifts[:, np.newaxis]) % n_metrics  # [shift, a]: the metric that a takes from
        values = np.empty((len(swaps), n_metrics, n_metrics))
        for draw in range(len(swaps)):
            distance = np.zeros((n_metrics, n_metrics), dtype=np.int64)
            for pairs, counts in sums.counts(draw):
                distance += np.abs(counts - self.human_counts[pairs, np.newaxis, np.newaxis]).sum(axis=0)
            values[draw, shifts, other] = -distance
        return values

    @cached_property
    def _flipped(self) -> FlippedSums:
        return FlippedSums(self.swap, self.scores, self.judged, self.flips)

    def __getstate__(self) -> dict[str, object]:
        """The state without sums, which another process can compute faster than it could read them."""
        return {name: value for name, value in self.__dict__.items() if name != "_flipped"}


@dataclass(frozen=True)
class SoftPairwiseLimitSwap(SwapStatistic):
    """Soft pairwise accuracy of every hybrid by the normal limit (n=inf); segments or single scores are swapped.

    p = Φ(−Σ d / √Σ d²) over the common segments, 1 where all d are 0. Fields as in `SoftPairwiseSwap`;
    human_p: (n_pairs,).
    """

    swap: Swap
    scores: Floats
    judged: Bools
    human_p: Floats

    def hybrids(self, swaps: Bools) -> Floats:
        distance = np.zeros((len(swaps), self.n_metrics, self.n_metrics))
        first, second = np.triu_indices(len(self.judged), 1)
        if self.swap == "inputs":
            coins = swaps.astype(np.float64)
            step = max(1, PAIRED // max(1, self.n_metrics * self.judged.shape[1]))
            for start in range(0, first.size, step):
                pairs = slice(start, start + step)
                distance += self._distance(coins, first[pairs], second[pairs], self.human_p[pairs])
        else:
            for human_p, i, j in zip(self.human_p, first, second, strict=True):
                both = self.judged[i] & self.judged[j]
                total, square = _score_sums(
                    self.scores[:, i, both], self.scores[:, j, both], swaps[:, i][:, both], swaps[:, j][:, both]
                )
                distance += np.abs(normal_p(total, square, int(both.sum())) - human_p)
        return 1.0 - distance / max(self.human_p.size, 1)

    def _distance(self, coins: Floats, first: Ints, second: Ints, human_p: Floats) -> Floats:
        """Σ over some system pairs of |human p − hybrid p|, (k, M, M); coins: (k, S), 1 where a segment is swapped."""
        both = self.judged[first] & self.judged[second]  # (pairs, S)
        gaps = np.where(both, self.scores[:, first] - self.scores[:, second], 0.0)  # (M, pairs, S)
        total, square = _segment_sums(gaps, coins)
        n_common = both.sum(axis=1)[:, np.newaxis, np.newaxis]
        p = normal_p(total, square, n_common)  # (k, pairs, M, M)
        return np.asarray(np.abs(p - human_p[:, np.newaxis, np.newaxis]).sum(axis=1))


@dataclass(frozen=True)
class SoftPairwiseSystemSwap(SwapStatistic):
    """Soft pairwise accuracy of every hybrid if whole systems are swapped, from one table of distances.

    distance: (M, M, n_pairs), |human p − p| with the first system's scores from one metric and the second's
    from another; whole counts, or p-values in the normal limit.
    """

    distance: Floats

    def hybrids(self, swaps: Bools) -> Floats:
        n_metrics = self.n_metrics
        first, second = np.triu_indices(self.mask_shape[0], 1)
        mine, other = swaps[:, first], swaps[:, second]  # (k, n_pairs): taken from the other metric?
        own = np.ascontiguousarray(np.diagonal(self.distance))  # (n_pairs, M)
        flat = self.distance.reshape(n_metrics**2, -1).T  # (n_pairs, M²)
        shape = (len(swaps), n_metrics, n_metrics)
        total = ((~mine & ~other).astype(np.float64) @ own)[:, :, np.newaxis]
        total = total + ((mine & other).astype(np.float64) @ own)[:, np.newaxis, :]
        total += ((~mine & other).astype(np.float64) @ flat).reshape(shape)
        total += ((mine & ~other).astype(np.float64) @ flat).reshape(shape).transpose(0, 2, 1)
        return -total


def soft_pairwise_swap(
    human: npt.ArrayLike, metrics: npt.ArrayLike, signs: npt.ArrayLike | None, swap: Swap = "inputs"
) -> SwapStatistic:
    """Soft pairwise accuracy prepared for `permutation_test`.

    human: (N, S), NaN = not judged: each system pair uses its common segments; metrics: (M, N, S).
    signs: −1 and 1, (n_flips, S), of the inner test, see `system_tests.draw_signs`: drawn once, shared by humans,
        all metrics, all hybrids and all draws; None: the normal limit.
    Ties of the inner test as in `sign_flip_p_values`: within 1e-9 Σ |d| (if single scores or systems are swapped,
    within 1e-9 Σ (|x_i| + |x_j|), which is no less), or the rounding of the sums.
    Raises ValueError: shapes, fewer than 2 systems, a missing metric score where humans judged, other signs.
    Source: Thompson et al. 2024, eq. 1 and section 5; Deutsch et al. 2021 for the swaps.
    """
    human = checks.human_scores(human)
    judged = ~np.isnan(human)
    metrics = checks.metric_scores(metrics, judged)
    scores = standardise(human, metrics)
    shape = mask_shape(swap, judged.shape)
    upper = np.triu_indices(len(human), 1)
    if signs is None:
        human_p = normal_p_values(human[np.newaxis], judged)[0][upper]
        if swap != "systems":
            return SoftPairwiseLimitSwap(swap, scores, judged, human_p, n_metrics=len(scores), mask_shape=shape)
        distance = np.abs(_crossed_p(scores, judged) - human_p)
        return SoftPairwiseSystemSwap(
            distance, n_metrics=len(scores), mask_shape=shape, scale=1.0 / human_p.size, offset=1.0
        )
    flips = np.asarray(signs) < 0
    n_flips = len(flips)
    human_p = sign_flip_p_values(human[np.newaxis], judged, signs)[0][upper]
    human_counts = np.rint(human_p * n_flips).astype(np.int64)
    share = 1.0 / (n_flips * human_counts.size)  # of one count in all flips of all system pairs
    if swap != "systems":
        return SoftPairwiseSwap(
            swap,
            scores,
            judged,
            flips,
            human_counts,
            n_metrics=len(scores),
            mask_shape=shape,
            scale=share,
            offset=1.0,
            tolerance=0.0,
        )
    distance = np.abs(_crossed_counts(scores, judged, flips) - human_counts).astype(np.float64)
    return SoftPairwiseSystemSwap(
        distance, n_metrics=len(scores), mask_shape=shape, scale=share, offset=1.0, tolerance=0.0
    )


def _segment_sums(gaps: Floats, coins: Floats) -> tuple[Floats, Floats]:
    """Σ d and Σ d² of every hybrid: gaps (M, pairs, s), coins (k, s) -> (k, pairs, M, M) twice."""
    n_metrics, n_pairs, n_segments = gaps.shape
    columns = np.stack([gaps, gaps**2]).reshape(-1, n_segments)
    taken = (coins @ columns.T).reshape(len(coins), 2, n_metrics, n_pairs)  # (k, s) @ (s, 2·M·pairs)
    kept = columns.sum(axis=1).reshape(2, n_metrics, n_pairs) - taken
    sums = kept.swapaxes(2, 3)[..., :, np.newaxis] + taken.swapaxes(2, 3)[..., np.newaxis, :]
    return sums[:, 0], sums[:, 1]


def _score_sums(first: Floats, second: Floats, swap_first: Bools, swap_second: Bools) -> tuple[Floats, Floats]:
    """The same if the two systems' scores are swapped separately: scores (M, s), swaps (k, s)."""
    shape = (len(swap_first), len(first), len(first))
    total, square = np.empty(shape), np.empty(shape)
    for draw, (mask_first, mask_second) in enumerate(zip(swap_first, swap_second, strict=True)):
        taken_first, taken_second = np.where(mask_first, first, 0.0), np.where(mask_second, second, 0.0)
        kept_first, kept_second = first - taken_first, second - taken_second
        kept, taken = kept_first - kept_second, taken_first - taken_second
        total[draw] = np.add.outer(kept.sum(axis=1), taken.sum(axis=1))
        square[draw] = np.add.outer((kept**2).sum(axis=1), (taken**2).sum(axis=1)) + 2.0 * kept @ taken.T
    return total, square


def normal_p(total: Floats, square: Floats, n_segments: int | Ints = 0) -> Floats:
    """Φ(−total / √square); 1 where all d are 0, that is, where their squares are no more than rounding error."""
    from scipy.special import ndtr

    varied = square > ROUNDING * ROUNDING * n_segments
    z = total / np.sqrt(np.where(varied, square, 1.0))
    return np.where(varied, ndtr(-z), 1.0)


def _crossed_p(scores: Floats, judged: Bools) -> Floats:
    """[a, b, pair]: normal p with the first system's scores from metric a, the second's from metric b."""
    n_metrics, n_systems = scores.shape[:2]
    pairs = list(zip(*np.triu_indices(n_systems, 1), strict=True))
    p = np.empty((n_metrics, n_metrics, len(pairs)))
    for pair, (i, j) in enumerate(pairs):
        both = judged[i] & judged[j]
        first, second = scores[:, i, both], scores[:, j, both]
        for a in range(n_metrics):
            gaps = first[a] - second
            p[a, :, pair] = normal_p(gaps.sum(axis=1), (gaps**2).sum(axis=1), int(both.sum()))
    return p


def _crossed_counts(scores: Floats, judged: Bools, flips: Bools) -> Ints:
    """[a, b, pair]: inner count with the first system's scores from metric a, the second's from metric b."""
    n_metrics, n_systems = scores.shape[:2]
    pairs = list(zip(*np.triu_indices(n_systems, 1), strict=True))
    counts = np.empty((n_metrics, n_metrics, len(pairs)), dtype=np.int64)
    every_flip = np.ascontiguousarray(flips.T).astype(np.float64)
    for pair, (i, j) in enumerate(pairs):
        both = judged[i] & judged[j]
        first, second = scores[:, i, both], scores[:, j, both]
        flipped = every_flip[both]
        with single_blas_thread():
            first_sums, second_sums = first @ flipped, second @ flipped  # (M, s) @ (s, n_flips)
        size = np.add.outer(np.abs(first).sum(axis=1), np.abs(second).sum(axis=1))
        slack = 0.5 * TOLERANCE * size + ROUNDING * scores.shape[2]
        for a in range(n_metrics):
            small = first_sums[a] <= second_sums + slack[a][:, np.newaxis]
            counts[a, :, pair] = np.count_nonzero(small, axis=1)
    return counts
