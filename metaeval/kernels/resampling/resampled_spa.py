"""Soft pairwise accuracy prepared for resampling with replacement, and its standard error without resampling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.resampling.draws import Origins, times_drawn
from metaeval.kernels.resampling.permutation_spa import normal_p
from metaeval.kernels.resampling.prepared import ResampleStatistic
from metaeval.kernels.resampling.resampled_statistics import AnyResample, checked_scores
from metaeval.kernels.resampling.system_tests import BATCH_VALUES, ROUNDING, TOLERANCE, sign_flip_p_values


def _of_arrays(signs: npt.NDArray[np.int8], human: Floats, metrics: Floats, origins: Origins) -> Floats:
    """Soft pairwise accuracy of a resample; signs go with positions, not with segments."""
    judged = ~np.isnan(human)
    p = sign_flip_p_values(np.concatenate([human[np.newaxis], metrics]), judged, signs[:, : human.shape[1]])
    first, second = np.triu_indices(len(human), 1)
    counted = origins.system_pairs(len(human)) & (judged[first] & judged[second]).any(axis=1)
    if not counted.any():
        return np.full(len(metrics), np.nan)
    first, second = first[counted], second[counted]
    distances = np.abs(p[0, first, second] - p[1:, first, second])
    return np.asarray(1.0 - distances.mean(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class SoftPairwiseResample:
    """Soft pairwise accuracy by drawn signs, if each segment is judged for all systems or for none.

    Σ σ d ≥ Σ d is the same as "the differences of the flipped segments add up to 0 or less", up to 1e-9 Σ |d|.
    scores: (S, 1 + M, N), human scores first, without the part that systems share on a segment, 0 where not judged;
    distances: (S, 1 + M, n_pairs) |d|; flips: (S, n_flips) 1 where the sign is −1; judged: (S,).
    """

    scores: Floats
    distances: Floats
    flips: Floats
    judged: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return self.scores.shape[2], self.scores.shape[0]

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`; NaN where no judged segment is drawn."""
        n_segments, n_scorers, n_systems = self.scores.shape
        first, second = np.triu_indices(n_systems, 1)
        if segments is None:
            p = self._p_values(np.arange(n_segments), self.distances.sum(axis=0), np.abs(self.scores).sum(axis=0))
            every_p, has_any = [p] * n_draws, np.full(n_draws, self.judged.any())
        else:
            counts = times_drawn(segments, n_draws, n_segments)
            distances = (counts @ self.distances.reshape(n_segments, -1)).reshape(n_draws, n_scorers, -1)
            sizes = (counts @ np.abs(self.scores).reshape(n_segments, -1)).reshape(n_draws, n_scorers, n_systems)
            every_p = [self._p_values(segments[k][segments[k] >= 0], distances[k], sizes[k]) for k in range(n_draws)]
            has_any = counts @ self.judged > 0
        found = np.full((n_draws, n_scorers - 1), np.nan)
        for draw in np.flatnonzero(has_any):
            if systems is None:
                one, other = first, second
            else:
                ones, others = np.triu_indices(systems.shape[1], 1)
                one, other = systems[draw, ones], systems[draw, others]
                one, other = one[one != other], other[one != other]  # copies of one system are no pair
            if one.size:
                p = every_p[draw][:, one, other]
                found[draw] = 1.0 - np.abs(p[:1] - p[1:]).mean(axis=1)
        return found

    def _p_values(self, segments: Ints, distances: Floats, sizes: Floats) -> Floats:
        """(1 + M, N, N) inner p-values of one resample; signs go with positions, not with segments.

        distances: (1 + M, n_pairs) Σ |d|; sizes: (1 + M, N) Σ |score|, for the rounding of sums.
        """
        _, n_scorers, n_systems = self.scores.shape
        flips = self.flips[: len(segments)]
        n_flips = flips.shape[1]
        first, second = np.triu_indices(n_systems, 1)
        p = np.ones((n_scorers, n_systems, n_systems))
        step = max(1, BATCH_VALUES // (n_flips * first.size))
        slack = 0.5 * TOLERANCE * distances[:, :, np.newaxis]
        for start in range(0, n_scorers, step):
            batch = slice(start, start + step)
            scores = self.scores[segments, batch].reshape(len(segments), -1)
            sums = (scores.T @ flips).reshape(-1, n_systems, n_flips)
            gaps = sums[:, first] - sums[:, second]
            p[batch, first, second] = np.count_nonzero(gaps <= slack[batch], axis=2) / n_flips
            p[batch, second, first] = np.count_nonzero(gaps >= -slack[batch], axis=2) / n_flips
        rounding = ROUNDING * sizes.max(axis=1, keepdims=True)
        for scorer, pair in np.argwhere(0.5 * TOLERANCE * distances < rounding):
            i, j = first[pair], second[pair]
            size = distances[scorer, pair]
            gap = (self.scores[segments, scorer, i] - self.scores[segments, scorer, j]) / (size if size > 0 else 1.0)
            sums = gap @ flips
            p[scorer, i, j] = 1.0 if size == 0 else np.count_nonzero(sums <= 0.5 * TOLERANCE) / n_flips
            p[scorer, j, i] = 1.0 if size == 0 else np.count_nonzero(sums >= -0.5 * TOLERANCE) / n_flips
        return p


@dataclass(frozen=True)
class SoftPairwiseLimitResample:
    """Soft pairwise accuracy by the normal limit, p = Φ(−Σ d / √Σ d²): two sums per system pair and resample.

    scores: (1 + M, N, S), human scores first, 0 where not judged; judged: (N, S).
    """

    scores: Floats
    judged: Bools

    @property
    def shape(self) -> tuple[int, int]:
        return self.scores.shape[1], self.scores.shape[2]

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`; NaN where no two systems have a common segment."""
        n_scorers, n_systems, n_segments = self.scores.shape
        first, second = np.triu_indices(n_systems, 1)
        common = self.judged[first] & self.judged[second]  # (n_pairs, S)
        times = times_drawn(segments, n_draws, n_segments)
        drawn = times_drawn(systems, n_draws, n_systems)
        n_picked = drawn[:, first] * drawn[:, second]  # (n_draws, n_pairs) of two systems
        n_picked[times @ common.T.astype(np.float64) == 0] = 0.0
        n_pairs = n_picked.sum(axis=1)
        found = np.empty((n_draws, n_scorers - 1))
        human: Floats = np.empty(0)
        for scorer, own in enumerate(self.scores):
            gaps = np.where(common, own[first] - own[second], 0.0)
            p = normal_p(times @ gaps.T, times @ (gaps * gaps).T)  # (n_draws, n_pairs)
            if scorer == 0:
                human = p
            else:
                found[:, scorer - 1] = (n_picked * np.abs(human - p)).sum(axis=1)
        return 1.0 - ratio(found, np.broadcast_to(n_pairs[:, np.newaxis], found.shape))


def soft_pairwise_resample(
    human: npt.ArrayLike, metrics: npt.ArrayLike, signs: npt.ArrayLike | None
) -> ResampleStatistic:
    """Soft pairwise accuracy prepared for `bootstrap`; signs as in `soft_pairwise_swap`, None = normal limit."""
    human, metrics = checked_scores(human, metrics)
    judged = ~np.isnan(human)
    if signs is None:
        scores = np.where(judged, np.concatenate([human[np.newaxis], metrics]), 0.0)
        return SoftPairwiseLimitResample(scores, judged)
    inner = np.asarray(signs).astype(np.int8)
    if len(human) < 2 or not (judged == judged[0]).all():
        return AnyResample(partial(_of_arrays, inner), human, metrics)
    scores = np.where(judged, np.concatenate([human[np.newaxis], metrics]), 0.0).transpose(2, 0, 1)
    first, second = np.triu_indices(len(human), 1)
    distances = np.abs(scores[:, :, first] - scores[:, :, second])
    centred = scores - scores.mean(axis=2, keepdims=True)
    flips = (inner < 0).T.astype(np.float64)
    return SoftPairwiseResample(centred, distances, flips, judged[0].astype(np.float64))


def soft_pairwise_standard_errors(
    human: npt.ArrayLike, metrics: npt.ArrayLike, judged: npt.ArrayLike, documents: Ints | None = None
) -> Floats:
    """Infinitesimal jackknife of SPA over segments: the limit of its bootstrap standard deviation, deterministic.

    human: (N, S), metrics: (M, N, S), judged: (N, S) bool, which scores count. SPA is computed from the normal p-values
    1 − Φ(D / √Q), with D = Σ d_s and Q = Σ d_s² over the differences of two systems. U_s is its derivative by the
    weight of segment s; the result is √Σ (U_s − Ū)². Unjudged segments do not count.
    documents: (S',) the document of each segment that counts, from 0; if passed, U is added up by document.
    Returns (M,); NaN where no two systems have common segments, or with fewer than 2 segments or documents.
    Raises ValueError: shapes differ, or a judged score is missing.
    Source: Efron 1982, section 6.3; Thompson et al. 2024, eq. 1, for SPA.
    """
    mask = np.asarray(judged, dtype=bool)
    scores = checks.metric_scores(np.concatenate([np.asarray(human, dtype=np.float64)[np.newaxis], metrics]), mask)
    used = mask.any(axis=0)
    scores, mask = scores[:, :, used], mask[:, used]
    influence = np.zeros((len(scores) - 1, mask.shape[1]))  # (M, S)
    n_pairs = 0
    for first, second in zip(*np.triu_indices(len(mask), 1), strict=True):
        both = mask[first] & mask[second]
        if not both.any():
            continue
        n_pairs += 1
        p, slopes = _p_and_slopes(scores[:, first, both] - scores[:, second, both])
        above = np.sign(p[0] - p[1:])  # (M,)
        influence[:, both] -= above[:, np.newaxis] * (slopes[0] - slopes[1:])
    if documents is not None:
        influence = np.stack([np.bincount(documents, weights=one) for one in influence])
    if not n_pairs or influence.shape[1] < 2:
        return np.full(len(scores) - 1, np.nan)
    influence /= n_pairs
    centred = influence - influence.mean(axis=1, keepdims=True)
    errors: Floats = np.sqrt((centred * centred).sum(axis=1))
    return errors


def _p_and_slopes(gaps: Floats) -> tuple[Floats, Floats]:
    """(K, S') differences -> (K,) normal p-values and (K, S') their derivatives by the weights of the segments."""
    from scipy.special import ndtr

    largest = np.abs(gaps).max(axis=1, keepdims=True)
    gaps = gaps / np.where(largest > 0, largest, 1.0)
    total, variance = gaps.sum(axis=1, keepdims=True), (gaps * gaps).sum(axis=1, keepdims=True)
    spread = np.sqrt(np.where(variance > 0, variance, 1.0))
    z = total / spread
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    slopes = -density * (gaps / spread - total * gaps * gaps / (2.0 * spread**3))
    return np.where(variance > 0, ndtr(-z), 1.0)[:, 0], slopes
