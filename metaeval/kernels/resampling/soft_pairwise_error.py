"""The standard error of soft pairwise accuracy over segments, without resampling."""

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats


def soft_pairwise_standard_errors(human: npt.ArrayLike, metrics: npt.ArrayLike, judged: npt.ArrayLike) -> Floats:
    """Infinitesimal jackknife of SPA over segments: the limit of its bootstrap standard deviation, deterministic.

    human: (N, S), metrics: (M, N, S), judged: (N, S) bool, which scores count. SPA is that of the normal p-values
    1 − Φ(D / √Q) with D = Σ d_s and Q = Σ d_s² over the differences of two systems, of which U_s is the derivative by
    the weight of segment s; the result is √Σ (U_s − Ū)². Segments nobody judged do not count.
    Returns (M,); NaN where no two systems have common segments, or with fewer than 2 segments.
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
    n_segments = mask.shape[1]
    if not n_pairs or n_segments < 2:
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
