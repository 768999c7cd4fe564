"""Soft pairwise accuracy, prepared for resampling with replacement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats, Ints

from .copies import Origins
from .resampled_statistics import AnyResample, ResampleStatistic, checked_scores, times_drawn
from .sign_flip import BATCH_VALUES, ROUNDING, TOLERANCE, normal_p_values, sign_flip_p_values


@dataclass(frozen=True)
class _SoftPairwise:
    """Soft pairwise accuracy of a resample; signs go with positions, not with segments."""

    signs: npt.NDArray[np.int8] | None

    def __call__(self, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        judged = ~np.isnan(human)
        scores = np.concatenate([human[np.newaxis], metrics])
        if self.signs is None:
            p = normal_p_values(scores, judged)
        else:
            p = sign_flip_p_values(scores, judged, self.signs[:, : human.shape[1]])
        first, second = np.triu_indices(len(human), 1)
        counted = origins.system_pairs(len(human)) & (judged[first] & judged[second]).any(axis=1)
        if not counted.any():
            return np.full(len(metrics), np.nan)
        first, second = first[counted], second[counted]
        distances = np.abs(p[0, first, second] - p[1:, first, second])
        return np.asarray(1.0 - distances.mean(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class SoftPairwiseResample:
    """Soft pairwise accuracy by drawn signs where each segment is judged for all systems or none; segments redrawn.

    Σ σ d ≥ Σ d says the same as "the differences of the flipped segments add up to 0 or less", up to 1e-9 Σ |d|.
    scores: (S, 1 + M, N), people first, without what systems share on a segment, 0 where not judged; distances:
    (S, 1 + M, n_pairs) |d|; flips: (S, n_flips) 1 where the sign is −1; judged: (S,). general: where systems are
    redrawn.
    """

    scores: Floats
    distances: Floats
    flips: Floats
    judged: Floats
    general: AnyResample

    @property
    def shape(self) -> tuple[int, int]:
        """See `ResampleStatistic`."""
        return self.general.shape

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`; NaN where no judged segment is drawn."""
        if systems is not None or segments is None:
            return self.general.values(systems, segments, n_draws)
        n_segments, n_scorers, n_systems = self.scores.shape
        counts = times_drawn(segments, n_draws, n_segments)
        distances = (counts @ self.distances.reshape(n_segments, -1)).reshape(n_draws, n_scorers, -1)
        sizes = (counts @ np.abs(self.scores).reshape(n_segments, -1)).reshape(n_draws, n_scorers, n_systems)
        rounding = ROUNDING * sizes.max(axis=2, keepdims=True)
        has_any = counts @ self.judged > 0
        p = np.stack([self._p_values(segments[k], distances[k], rounding[k]) for k in range(n_draws)])
        found = 1.0 - np.abs(p[:, :1] - p[:, 1:]).mean(axis=2)
        return np.where(has_any[:, np.newaxis], found, np.nan)

    def _p_values(self, segments: Ints, distances: Floats, rounding: Floats) -> Floats:
        """(1 + M, n_pairs) inner p-values of one resample; signs go with positions."""
        _, n_scorers, n_systems = self.scores.shape
        flips = self.flips[: len(segments)]
        first, second = np.triu_indices(n_systems, 1)
        p = np.empty(distances.shape)
        step = max(1, BATCH_VALUES // (self.flips.shape[1] * first.size))
        for start in range(0, n_scorers, step):
            batch = slice(start, start + step)
            scores = self.scores[segments, batch].reshape(len(segments), -1)
            sums = (scores.T @ flips).reshape(-1, n_systems, self.flips.shape[1])
            slack = 0.5 * TOLERANCE * distances[batch]
            small = sums[:, first] - sums[:, second] <= slack[:, :, np.newaxis]
            p[batch] = np.count_nonzero(small, axis=2) / self.flips.shape[1]
        p[distances == 0] = 1.0
        for scorer, pair in np.argwhere((distances > 0) & (0.5 * TOLERANCE * distances < rounding)):
            gaps = self.scores[segments, scorer, first[pair]] - self.scores[segments, scorer, second[pair]]
            gaps = gaps / distances[scorer, pair]
            p[scorer, pair] = np.count_nonzero(gaps @ flips <= 0.5 * TOLERANCE) / self.flips.shape[1]
        return p


def soft_pairwise_resample(
    human: npt.ArrayLike, metrics: npt.ArrayLike, signs: npt.ArrayLike | None
) -> ResampleStatistic:
    """Soft pairwise accuracy prepared for `bootstrap`; signs as in `soft_pairwise_swap`, None = normal limit."""
    human, metrics = checked_scores(human, metrics)
    inner = None if signs is None else np.asarray(signs).astype(np.int8)
    general = AnyResample(_SoftPairwise(inner), human, metrics)
    judged = ~np.isnan(human)
    if inner is None or len(human) < 2 or not (judged == judged[0]).all():
        return general
    scores = np.where(judged, np.concatenate([human[np.newaxis], metrics]), 0.0).transpose(2, 0, 1)
    first, second = np.triu_indices(len(human), 1)
    distances = np.abs(scores[:, :, first] - scores[:, :, second])
    centred = scores - scores.mean(axis=2, keepdims=True)
    flips = (inner < 0).T.astype(np.float64)
    return SoftPairwiseResample(centred, distances, flips, judged[0].astype(np.float64), general)
