"""Statistics prepared for resampling with replacement: fast if they are sums over segments.

A system drawn twice counts twice, but it makes no pair with itself (see `resampled_items`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.correlation import (
    CORRELATIONS,
    Correlation,
    correlation_of_rows,
    pairwise_difference_pearson,
    system_correlation,
)
from metaeval.kernels.agreement.systems import PairwiseAgreement, Ties, difference_signs, pairwise_accuracy, tau_ap
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.resampling.draws import Origins, times_drawn
from metaeval.kernels.resampling.prepared import ResampleStatistic

from .permutation_pearson import centred_in_segments

Statistic = Callable[[Floats, Floats, Origins], Floats]
#: Of system scores: human (N,), metrics (M, N), where the rows come from -> (M,).
SystemStatistic = Callable[[Floats, Floats, Origins], Floats]
#: Variances that are a smaller share of the mean square are rounding noise: the scores are constant.
NOISE = 1e-12


@dataclass(frozen=True)
class AnyResample:
    """Any statistic, computed again on the arrays of each resample.

    statistic: (human (N, S), metrics (M, N, S), where rows and columns come from) -> (M,).
    """

    statistic: Statistic
    human: Floats
    metrics: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.human.shape[0]), int(self.human.shape[1])

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        return np.stack([self._of_draw(_row(systems, k), _row(segments, k)) for k in range(n_draws)])

    def _of_draw(self, systems: Ints | None, segments: Ints | None) -> Floats:
        human, metrics = self.human, self.metrics
        if systems is not None:
            human, metrics = human[systems], metrics[:, systems]
        if segments is not None:
            human, metrics = human[:, segments], metrics[:, :, segments]
        return self.statistic(human, metrics, Origins(systems, segments))


@dataclass(frozen=True)
class DocumentResample:
    """A statistic whose segments are picked in whole documents; every column belongs to a document.

    documents: (S,) each segment's document, from 0 without gaps.
    """

    statistic: ResampleStatistic
    documents: Ints

    @property
    def shape(self) -> tuple[int, int]:
        """(N systems, number of documents)."""
        return self.statistic.shape[0], int(self.documents.max()) + 1

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        """See `ResampleStatistic`; segments: indices of documents."""
        if segments is None:
            return self.statistic.values(systems, None, n_draws)
        size = np.bincount(self.documents)
        order = np.argsort(self.documents, kind="stable")
        members = np.full((len(size), size.max()), -1, dtype=np.int64)
        members[self.documents[order], np.arange(order.size) - np.repeat(np.cumsum(size) - size, size)] = order
        return self.statistic.values(systems, members[segments].reshape(n_draws, -1), n_draws)


@dataclass(frozen=True)
class SegmentSumsResample:
    """Pearson without grouping, or Pairwise Difference Pearson, from sums over segments.

    product, metric_square: (M, S); human_square: (S,). For Pearson also the sums and numbers of scores for centring:
    metric_sum (M, S), human_sum, n_scores (S,); None for Pairwise Difference Pearson.
    """

    product: Floats
    metric_square: Floats
    human_square: Floats
    means: tuple[Floats, Floats, Floats] | None
    general: AnyResample

    @property
    def shape(self) -> tuple[int, int]:
        return self.general.shape

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        if systems is not None:
            return self.general.values(systems, segments, n_draws)
        counts = times_drawn(segments, n_draws, self.shape[1])
        product, square = counts @ self.product.T, counts @ self.metric_square.T
        human_square = (counts @ self.human_square)[:, np.newaxis]
        if self.means is None:
            defined = (square > 0) & (human_square > 0)
            return np.where(defined, ratio(product, np.sqrt(square * human_square)), 0.0)
        metric_sum, human_sum, n_scores = self.means
        n = (counts @ n_scores)[:, np.newaxis]
        total, human_total = counts @ metric_sum.T, (counts @ human_sum)[:, np.newaxis]
        variance = square - total**2 / n
        human_variance = human_square - human_total**2 / n
        constant = (variance <= NOISE * square) | (human_variance <= NOISE * human_square)
        length = np.where(constant, 0.0, np.sqrt(np.maximum(variance * human_variance, 0.0)))
        return ratio(product - total * human_total / n, length)


@dataclass(frozen=True)
class SystemResample:
    """A system-level measure on the means of the judged scores that were drawn.

    human: (N, S), metrics: (M, N, S), both 0 where not judged. Systems without a judged score are excluded.
    """

    statistic: SystemStatistic
    human: Floats
    metrics: Floats
    judged: Bools

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.human.shape[0]), int(self.human.shape[1])

    def values(self, systems: Ints | None, segments: Ints | None, n_draws: int) -> Floats:
        n_metrics, n_systems, n_segments = self.metrics.shape
        counts = times_drawn(segments, n_draws, n_segments)
        n_judged = counts @ self.judged.T.astype(np.float64)  # (k, N)
        human = ratio(counts @ self.human.T, n_judged)
        sums = (counts @ self.metrics.reshape(-1, n_segments).T).reshape(n_draws, n_metrics, n_systems)
        metrics = ratio(sums, np.broadcast_to(n_judged[:, np.newaxis], sums.shape))
        if systems is not None:
            human = np.take_along_axis(human, systems, axis=1)
            metrics = np.take_along_axis(metrics, systems[:, np.newaxis], axis=2)
        if isinstance(self.statistic, (_SystemCorrelation, _PairwiseAccuracy)) and not np.isnan(human).any():
            return self.statistic.of_draws(human, metrics, systems)
        return np.stack([self.statistic(human[k], metrics[k], Origins(_row(systems, k))) for k in range(n_draws)])


@dataclass(frozen=True)
class _SystemCorrelation:
    """A correlation of system scores."""

    name: Correlation

    def __call__(self, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        return system_correlation(without_noise(human), without_noise(metrics), self.name)

    def of_draws(self, human: Floats, metrics: Floats, systems: Ints | None) -> Floats:
        """The same for many draws, all systems judged: human (k, N), metrics (k, M, N) -> (k, M)."""
        human = np.stack([without_noise(scores) for scores in human])[:, np.newaxis]
        metrics = np.stack([without_noise(scores) for scores in metrics])
        return correlation_of_rows(human, metrics, self.name)


@dataclass(frozen=True)
class _PairwiseAccuracy:
    """Pairwise accuracy of system scores."""

    ties: Ties

    def __call__(self, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        found = pairwise_accuracy(human, metrics, self.ties)
        if self.ties == "organisers" and origins.systems is not None:  # copies tie on both sides, which would be right
            n = found.n_agree - found.n_pairs
            judged = ~np.isnan(human)
            kept = int(np.count_nonzero(Origins(origins.systems[judged]).system_pairs(int(judged.sum()))))
            found = PairwiseAgreement(n + kept, np.full_like(found.n_pairs, kept))
        return found.accuracy

    def of_draws(self, human: Floats, metrics: Floats, systems: Ints | None) -> Floats:
        """The same for many draws, all systems judged: human (k, N), metrics (k, M, N) -> (k, M)."""
        signs = difference_signs(human)[:, np.newaxis]
        counted = signs != 0 if self.ties == "tship" else np.ones_like(signs, dtype=np.bool_)
        if systems is not None:
            first, second = np.triu_indices(human.shape[1], 1)
            counted = counted & (systems[:, first] != systems[:, second])[:, np.newaxis]
        agree = (difference_signs(metrics) == signs) & counted
        return ratio(agree.sum(axis=2).astype(np.float64), np.broadcast_to(counted.sum(axis=2), agree.shape[:2]))


def any_resample(human: npt.ArrayLike, metrics: npt.ArrayLike, statistic: Statistic) -> AnyResample:
    """Any statistic (human (N, S), metrics (M, N, S), origins) -> (M,) prepared for `bootstrap`; slow."""
    return AnyResample(statistic, *checked_scores(human, metrics))


def pearson_resample(human: npt.ArrayLike, metrics: npt.ArrayLike) -> SegmentSumsResample:
    """Segment-level Pearson without grouping, prepared for `bootstrap`."""
    human, metrics = checked_scores(human, metrics)
    judged = ~np.isnan(human)
    h = np.where(judged, human - human[judged].mean(), 0.0)
    means = metrics[:, judged].mean(axis=1)[:, np.newaxis, np.newaxis]
    m = np.where(judged, metrics - means, 0.0)
    centring = (m.sum(axis=1), h.sum(axis=0), judged.sum(axis=0).astype(np.float64))
    general = AnyResample(_pearson_of_all, human, metrics)
    return SegmentSumsResample((m * h).sum(axis=1), (m**2).sum(axis=1), (h**2).sum(axis=0), centring, general)


def pairwise_difference_resample(human: npt.ArrayLike, metrics: npt.ArrayLike) -> SegmentSumsResample:
    """Pairwise Difference Pearson prepared for `bootstrap`."""
    human, metrics = checked_scores(human, metrics)
    judged = ~np.isnan(human)
    n = judged.sum(axis=0)
    h, m = centred_in_segments(human, judged), centred_in_segments(metrics, judged)
    general = AnyResample(_pairwise_difference_pearson, human, metrics)
    product, square = n * (m * h).sum(axis=1), n * (m**2).sum(axis=1)
    return SegmentSumsResample(product, square, n * (h**2).sum(axis=0), None, general)


def system_resample(human: npt.ArrayLike, metrics: npt.ArrayLike, measure: str | SystemStatistic) -> SystemResample:
    """A system-level measure on means of judged scores, prepared for `bootstrap`: by name, or a function."""
    if measure == "tau_ap":
        measure = _tau_ap
    if isinstance(measure, str):
        checks.known(measure, CORRELATIONS, "measure")
    human, metrics = checked_scores(human, metrics)
    judged = ~np.isnan(human)
    statistic = _SystemCorrelation(measure) if isinstance(measure, str) else measure  # type: ignore[arg-type]
    return SystemResample(statistic, np.where(judged, human, 0.0), np.where(judged, metrics, 0.0), judged)


def accuracy_resample(human: npt.ArrayLike, metrics: npt.ArrayLike, ties: Ties = "organisers") -> SystemResample:
    """Pairwise accuracy on means of judged scores, prepared for `bootstrap`."""
    return system_resample(human, metrics, _PairwiseAccuracy(ties))


def _tau_ap(human: Floats, metrics: Floats, origins: Origins) -> Floats:
    return tau_ap(human, metrics, systems=origins.systems)


def _pearson_of_all(human: Floats, metrics: Floats, origins: Origins) -> Floats:
    values = CORRELATIONS["pearson"](human, metrics, np.zeros(human.shape, dtype=np.int64))
    return values[:, 0] if values.shape[1] else np.full(len(metrics), np.nan)


def _pairwise_difference_pearson(human: Floats, metrics: Floats, origins: Origins) -> Floats:
    return pairwise_difference_pearson(human, metrics)  # differences of copies are 0 and add nothing


def checked_scores(human: npt.ArrayLike, metrics: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Human (N, S) and metric (M, N, S) scores.

    Raises ValueError: shapes, a missing score, or no human score at all.
    """
    scores = checks.human_scores(human)
    if not (~np.isnan(scores)).any():
        raise ValueError("no (system, segment) pair has a human score")
    return scores, checks.metric_scores(metrics, ~np.isnan(scores))


def _row(picks: Ints | None, draw: int) -> Ints | None:
    return None if picks is None else picks[draw][picks[draw] >= 0]


def without_noise(scores: Floats) -> Floats:
    """System scores rounded 12 digits below the largest, so that ties do not depend on the order of summation."""
    largest = float(np.nanmax(np.abs(scores), initial=0.0))
    if largest == 0.0:
        return scores
    return np.round(scores, 12 - int(np.ceil(np.log10(largest))))
