"""How stable meta-metrics and counts of significant pairs are: systems or segments excluded, p-values drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.systems import difference_signs
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, ratio
from metaeval.kernels.resampling.clusters import significance_clusters
from metaeval.kernels.resampling.draws import block_sizes, resample_counts, single_blas_thread
from metaeval.kernels.resampling.permutation import TOLERANCE


def system_ablation(
    agreements: npt.ArrayLike, sizes: Sequence[int], rng: np.random.Generator, n_trials: int = 1000
) -> Floats:
    """Pearson's r of the metrics' values on random subsets of systems with their values on all, (n_sizes, n_trials).

    agreements: (n_metrics, n_systems, n_systems), only i < j is read: what each pair of systems adds to the metric's
    value, which is the mean over pairs (0 or 1 for pairwise accuracy, 1 − |p − p| for soft pairwise accuracy). A subset
    of k systems keeps its own pairs; segments stay as they are. NaN where all metrics have the same value in a subset.
    Raises ValueError: shapes, fewer than 3 metrics, a size below 2 or above the number of systems.
    Source: Thompson et al. 2024, section 4.1.
    """
    given = np.asarray(agreements, dtype=np.float64)
    if given.ndim != 3 or given.shape[1] != given.shape[2] or given.shape[0] < 3:
        raise ValueError(f"agreements must be (3 metrics or more, n_systems, n_systems), got {given.shape}")
    n_systems = given.shape[1]
    if not all(2 <= size <= n_systems for size in sizes):
        raise ValueError(f"sizes must be 2 to {n_systems}, got {list(sizes)}")
    first, second = np.triu_indices(n_systems, 1)
    pairs = given[:, first, second]  # (M, n_pairs)
    whole = pairs.mean(axis=1)
    found = np.empty((len(sizes), n_trials))
    for place, size in enumerate(sizes):
        order = rng.permuted(np.tile(np.arange(n_systems), (n_trials, 1)), axis=1)
        kept = np.zeros((n_trials, n_systems), dtype=np.bool_)
        np.put_along_axis(kept, order[:, :size], values=True, axis=1)
        counted = (kept[:, first] & kept[:, second]).astype(np.float64)
        with single_blas_thread():
            values = counted @ pairs.T / (size * (size - 1) / 2)  # (n_trials, M)
        found[place] = _correlations(values, whole)
    return found


def _correlations(rows: Floats, one: Floats) -> Floats:
    """Pearson's r of every row with one vector; NaN where either is constant up to rounding."""
    rows, one = rows - rows.mean(axis=1, keepdims=True), one - one.mean()
    lengths = np.sqrt((rows**2).sum(axis=1)) * np.sqrt((one**2).sum())
    return np.asarray(np.clip(ratio(rows @ one, lengths, lengths > 1e-12), -1.0, 1.0), dtype=np.float64)


@dataclass(frozen=True)
class SegmentAblation:
    """Resampled values, (n_sizes, n_draws, n_metrics): of pairwise and of soft pairwise accuracy."""

    accuracy: Floats
    soft_accuracy: Floats


def segment_ablation(
    human: npt.ArrayLike, metrics: npt.ArrayLike, sizes: Sequence[int], rng: np.random.Generator, n_draws: int = 1000
) -> SegmentAblation:
    """Pairwise and soft pairwise accuracy on so many segments, drawn with replacement.

    human: (n_systems, n_segments), NaN = not judged; metrics: (n_metrics, n_systems, n_segments). System scores are
    means over the drawn segments that are judged for the system; p-values are the normal limit of the paired
    permutation test over the pair's common drawn segments, so that nothing else is drawn (within 0.0016 of 1000 signs).
    A draw in which a system has no judged segment is NaN.
    Raises ValueError: shapes, a missing metric score where humans judged, a size below 1.
    Source: Thompson et al. 2024, section 4.2.
    """
    people = checks.human_scores(human)
    judged = ~np.isnan(people)
    automatic = checks.metric_scores(metrics, judged)
    if not all(size >= 1 for size in sizes):
        raise ValueError(f"sizes must be 1 or more, got {list(sizes)}")
    scores = np.where(judged, np.concatenate([people[np.newaxis], automatic]), 0.0)  # (1 + M, N, S)
    pieces = [
        _redrawn(scores, judged, size, stream, n)
        for size, each in zip(sizes, rng.spawn(len(sizes)), strict=True)
        for stream, n in zip(each.spawn(len(block_sizes(n_draws))), block_sizes(n_draws), strict=True)
    ]
    shape = (len(sizes), n_draws, len(automatic))
    return SegmentAblation(
        np.concatenate([one.accuracy[0] for one in pieces]).reshape(shape),
        np.concatenate([one.soft_accuracy[0] for one in pieces]).reshape(shape),
    )


def _redrawn(scores: Floats, judged: Bools, size: int, stream: np.random.Generator, n_draws: int) -> SegmentAblation:
    from scipy.special import ndtr

    n_scorers, n_systems, n_segments = scores.shape
    first, second = np.triu_indices(n_systems, 1)
    picks = stream.integers(0, n_segments, size=(n_draws, size))
    weights = np.stack([np.bincount(one, minlength=n_segments) for one in picks]).astype(np.float64)
    accuracy = np.empty((1, n_draws, n_scorers - 1))
    soft = np.empty_like(accuracy)
    common = judged[first] & judged[second]  # (n_pairs, S)
    with single_blas_thread():
        n_judged = weights @ judged.T  # (n_draws, N)
        is_whole = (n_judged > 0).all(axis=1)
        human_signs: npt.NDArray[np.int8] = np.empty(0, dtype=np.int8)
        p_human: Floats = np.empty(0)
        for scorer, values in enumerate(scores):
            means = (weights @ values.T) / np.maximum(n_judged, 1.0)
            signs = difference_signs(means)
            gaps = np.where(common, values[first] - values[second], 0.0)
            total, variance = weights @ gaps.T, weights @ (gaps * gaps).T
            z = total / np.sqrt(np.where(variance > 0, variance, 1.0))
            p = np.where(variance > 0, ndtr(-z), 1.0)
            if scorer == 0:
                human_signs, p_human = signs, p
                continue
            accuracy[0, :, scorer - 1] = np.where(is_whole, (signs == human_signs).mean(axis=1), np.nan)
            soft[0, :, scorer - 1] = np.where(is_whole, 1.0 - np.abs(p - p_human).mean(axis=1), np.nan)
    return SegmentAblation(accuracy, soft)


@dataclass(frozen=True)
class CountNoise:
    """Standard errors, between runs with other random seeds, of the significant pairs and of the clusters."""

    n_significant: float
    n_clusters: float


def count_noise(
    null: npt.ArrayLike,
    values: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    other_values: npt.ArrayLike = (),
    alpha: float = 0.05,
    n_resamples: int = 200,
) -> CountNoise:
    """Redraw the resamples of a two-sided permutation test and count again; then the same for other values.

    null: (n_pairs, n_draws) differences under the null hypothesis of metrics a < b in row order, shared draws along the
    second axis; all pairs follow the same redrawn resamples, so that the dependence between pairs is kept.
    values: (M,). other_values: (k, M) with other random seeds, where the values themselves are drawn (spa): their
    counts by the same null distribution add their variance.
    Raises ValueError: shapes that don't fit.
    """
    drawn, scores = np.asarray(null, dtype=np.float64), np.asarray(values, dtype=np.float64)
    others = np.asarray(other_values, dtype=np.float64).reshape(-1, scores.size)
    first, second = np.triu_indices(scores.size, 1)
    if drawn.ndim != 2 or drawn.shape[0] != first.size or not drawn.shape[1]:
        raise ValueError(f"{drawn.shape} differences do not fit {scores.size} metrics ({first.size} pairs)")
    sizes = np.abs(drawn)

    def extreme(of: Floats) -> Floats:
        gaps = np.abs(of[first] - of[second])
        return (~(sizes < gaps[:, np.newaxis] - TOLERANCE)).astype(np.float64)  # NaN counts as extreme

    n_draws = drawn.shape[1]
    weights = resample_counts(rng, n_resamples, n_draws)
    redrawn = [_counts(scores, one, alpha) for one in (weights @ extreme(scores).T) / n_draws]
    by_seed = [_counts(one, extreme(one).mean(axis=1), alpha) for one in (scores, *others)]
    variance = np.var(redrawn, axis=0, ddof=1)
    if len(by_seed) > 1:
        variance += np.var(by_seed, axis=0, ddof=1)
    return CountNoise(*np.sqrt(variance).tolist())


def _counts(values: Floats, p: Floats, alpha: float) -> tuple[int, int]:
    """Significant pairs and clusters; p: (n_pairs,) of metrics a < b, the same in both directions."""
    matrix = np.full((values.size, values.size), np.nan)
    first, second = np.triu_indices(values.size, 1)
    matrix[first, second] = matrix[second, first] = p
    return int(np.count_nonzero(p <= alpha)), int(significance_clusters(values, matrix, alpha).max())
