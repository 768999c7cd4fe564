"""Stability of measures and of counts of significant pairs: subsets of systems or segments, and redrawn p-values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.correlation import correlation_of_rows
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.clusters import significance_clusters
from metaeval.kernels.resampling.draws import blocks, resample_counts, single_blas_thread
from metaeval.kernels.resampling.prepared import TOLERANCE
from metaeval.kernels.resampling.resampled_spa import soft_pairwise_resample
from metaeval.kernels.resampling.resampled_statistics import accuracy_resample


def system_ablation(
    agreements: npt.ArrayLike, sizes: Sequence[int], rng: np.random.Generator, n_trials: int = 1000
) -> Floats:
    """Pearson's r between the metrics' values on random subsets of systems and on all systems, (n_sizes, n_trials).

    agreements: (n_metrics, n_systems, n_systems), only i < j is read: the contribution of each system pair to the
    metric's value, which is the mean over pairs (0 or 1 for pairwise accuracy, 1 − |p − p| for soft pairwise accuracy).
    A subset of k systems keeps its own pairs; segments stay as they are. NaN if all metrics have the same value on a
    subset.
    Source: Thompson et al. 2024, section 4.1.
    """
    given = np.asarray(agreements, dtype=np.float64)
    n_systems = given.shape[1]
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
        found[place] = correlation_of_rows(whole, values, "pearson")
    return found


def segment_ablation(
    human: npt.ArrayLike, metrics: npt.ArrayLike, sizes: Sequence[int], rng: np.random.Generator, n_draws: int = 1000
) -> list[tuple[Floats, Floats]]:
    """Pairwise and soft pairwise accuracy on segments drawn with replacement: two arrays (n_draws, M) for each size.

    human: (n_systems, n_segments), NaN = not judged; metrics: (M, n_systems, n_segments). System scores are means over
    the drawn segments that are judged for the system; p-values are the normal limit of the paired permutation test over
    the pair's common drawn segments, so that nothing else is drawn (within 0.0016 of 1000 signs).
    Raises ValueError: shapes, a missing metric score where humans judged. Source: Thompson et al. 2024, section 4.2.
    """
    hard, soft = accuracy_resample(human, metrics), soft_pairwise_resample(human, metrics, None)
    found = []
    for size, each in zip(sizes, rng.spawn(len(sizes)), strict=True):
        picks = [stream.integers(0, hard.shape[1], (n, size)) for stream, n in blocks(each, n_draws)]
        segments = np.concatenate(picks)  # of all draws: in blocks it takes six times as long
        with single_blas_thread():
            found.append((hard.values(None, segments, n_draws), soft.values(None, segments, n_draws)))
    return found


def count_noise(
    null: npt.ArrayLike,
    values: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    other_values: npt.ArrayLike = (),
    alpha: float = 0.05,
    n_resamples: int = 200,
) -> tuple[float, float]:
    """Redraw the resamples of a two-sided permutation test and count again; then repeat for other values.

    Returns the standard errors, between runs with other random seeds, of the significant pairs and of the clusters.

    null: (n_pairs, n_draws) differences under the null hypothesis of metrics a < b in row order, shared draws along the
    second axis; all pairs follow the same redrawn resamples, so that the dependence between pairs is kept.
    values: (M,). other_values: (k, M) values with other random seeds, for measures that draw the values themselves
    (spa): their counts under the same null distribution add their variance.
    """
    drawn, scores = np.asarray(null, dtype=np.float64), np.asarray(values, dtype=np.float64)
    others = np.asarray(other_values, dtype=np.float64).reshape(-1, scores.size)
    first, second = np.triu_indices(scores.size, 1)
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
    of_pairs, of_clusters = np.sqrt(variance).tolist()
    return of_pairs, of_clusters


def _counts(values: Floats, p: Floats, alpha: float) -> tuple[int, int]:
    """Significant pairs and clusters; p: (n_pairs,) of metrics a < b, the same in both directions."""
    matrix = np.full((values.size, values.size), np.nan)
    first, second = np.triu_indices(values.size, 1)
    matrix[first, second] = matrix[second, first] = p
    return int(np.count_nonzero(p <= alpha)), int(significance_clusters(values, matrix, alpha).max())
