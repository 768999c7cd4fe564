"""Soft pairwise accuracy: how alike human and metric p-values of system pairs are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.sign_flip import draw_signs, normal_p_values, sign_flip_p_values


def soft_pairwise_accuracy(p_human: npt.ArrayLike, p_metric: npt.ArrayLike) -> Floats:
    """1 − mean over system pairs of |p_human − p_metric|, in [0, 1]; higher is better.

    p_human: (n_systems, n_systems), p_metric: (..., n_systems, n_systems), one matrix or many; [i, j] is the
        one-sided p-value of "system i is better than system j"; only i < j is read.
    Returns (...): a number for one matrix.
    Raises ValueError: shapes differ, fewer than 2 systems, or a value above the diagonal outside [0, 1].
    Source: Thompson et al. 2024, eq. 1.
    >>> float(soft_pairwise_accuracy(np.full((2, 2), 0.3), np.full((2, 2), 0.5)))
    0.8
    """
    human, metric = _upper(p_human, p_metric)
    return np.asarray(1.0 - np.abs(human - metric).mean(axis=-1), dtype=np.float64)


def binarised_pairwise_accuracy(p_human: npt.ArrayLike, p_metric: npt.ArrayLike) -> Floats:
    """The same with every p-value replaced by 1 if it is 0.5 or more, else 0: pairwise accuracy.

    Equal to `pairwise_accuracy` where no p-value is decided by ties at 0.5. Arguments and errors as in
    `soft_pairwise_accuracy`. Source: Thompson et al. 2024, eq. 3.
    """
    human, metric = _upper(p_human, p_metric)
    return np.asarray(((human >= 0.5) == (metric >= 0.5)).mean(axis=-1), dtype=np.float64)


def soft_pairwise_accuracies(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    rng: np.random.Generator | None = None,
    n_draws: int | None = 1000,
) -> Floats:
    """Soft pairwise accuracy of each metric from segment scores, (n_metrics,), in [0, 1].

    human: (n_systems, n_segments), NaN = not judged. metrics: (n_metrics, n_systems, n_segments).
    rng, n_draws: the signs, drawn once and shared by humans, metrics and system pairs. n_draws=None: the
        normal approximation, without rng.
    p_ij + p_ji exceeds 1 by the share of ties, so the value depends a little on the order of systems.
    Raises ValueError: shapes, fewer than 2 systems, a missing metric score on a judged cell, or no rng.
    Source: Thompson et al. 2024, eq. 1.
    """
    human = checks.human_scores(human)
    judged = ~np.isnan(human)
    metrics = checks.metric_scores(metrics, judged)
    scores = np.concatenate([human[np.newaxis], metrics])
    if n_draws is None:
        p = normal_p_values(scores, judged)
    elif rng is None:
        raise ValueError("rng is needed to draw signs; n_draws=None takes the normal approximation")
    else:
        p = sign_flip_p_values(scores, judged, draw_signs(rng, n_draws, human.shape[1]))
    return soft_pairwise_accuracy(p[0], p[1:])


def _upper(p_human: npt.ArrayLike, p_metric: npt.ArrayLike) -> tuple[Floats, Floats]:
    human = checks.probabilities(p_human, "p_human")
    metric = checks.probabilities(p_metric, "p_metric")
    if human.shape != metric.shape[-2:]:
        raise ValueError(f"p_human {human.shape} and p_metric {metric.shape} must have the same systems")
    first, second = np.triu_indices(human.shape[0], 1)
    return human[first, second], metric[..., first, second]
