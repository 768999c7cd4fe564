"""Pearson correlation of the differences between systems on the same segment (PDP)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats


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
    """√n_s (score − mean_s) of the judged scores, 0 elsewhere; exact zeros in a segment of equal scores."""
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
