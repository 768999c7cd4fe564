"""Checks of kernel arguments in one place: shapes, finiteness, missing scores, known words; and ratios."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
EQUAL = 1e-12  # values nearer than this differ by rounding alone


def human_scores(human: npt.ArrayLike) -> Floats:
    """Human scores as float64 (n_systems, n_segments); NaN = not judged.

    Raises ValueError: not two-dimensional, or an infinite value.
    """
    array = np.asarray(human, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"human must be (n_systems, n_segments), got {array.ndim} dimensions")
    if np.isinf(array).any():
        system, segment = np.argwhere(np.isinf(array))[0]
        raise ValueError(f"human score of system {system}, segment {segment} is infinite")
    return array


def metric_scores(metrics: npt.ArrayLike, used: Bools) -> Floats:
    """Metric scores as float64 (n_metrics, n_systems, n_segments).

    A single metric may be passed as (n_systems, n_segments).
    used: (n_systems, n_segments), True where a score is needed.
    Raises ValueError: the shape does not match `used`, or a needed score is NaN or infinite; the message names metric,
        system and segment by index.
    """
    array = np.asarray(metrics, dtype=np.float64)
    if array.ndim == 2:
        array = array[np.newaxis]
    if array.ndim != 3 or array.shape[1:] != used.shape:
        expected = ", ".join(str(n) for n in used.shape)
        raise ValueError(f"metrics must be (n_metrics, {expected}), got {np.asarray(metrics).shape}")
    for metric, scores in enumerate(array):
        bad = used & ~np.isfinite(scores)
        if bad.any():
            system, segment = (int(i) for i in np.argwhere(bad)[0])
            raise ValueError(
                f"metric {metric} has no finite score ({scores[system, segment]}) for system {system}, "
                f"segment {segment}, which is judged; expected a score wherever there is a judgement: "
                "exclude the metric or set the human score to NaN there"
            )
    return array


def system_scores(human: npt.ArrayLike, metrics: npt.ArrayLike) -> tuple[Floats, Floats]:
    """System-level scores: human (n_systems,), NaN = not judged, and metrics (n_metrics, n_systems).

    A single metric may be passed as (n_systems,). Raises ValueError: as in `human_scores` and `metric_scores`.
    """
    human = np.asarray(human, dtype=np.float64)
    metrics = np.asarray(metrics, dtype=np.float64)
    if human.ndim != 1:
        raise ValueError(f"human must be (n_systems,), got {human.ndim} dimensions")
    if metrics.ndim == 1:
        metrics = metrics[np.newaxis]
    if metrics.ndim != 2 or metrics.shape[1] != human.size:
        raise ValueError(f"metrics must be (n_metrics, {human.size}), got {metrics.shape}")
    human_scores(human[:, np.newaxis])
    metric_scores(metrics[:, :, np.newaxis], ~np.isnan(human)[:, np.newaxis])
    return human, metrics


def group_labels(labels: npt.ArrayLike, shape: tuple[int, ...]) -> Ints:
    """Group labels as int64 (n_systems, n_segments), -1 = score not used.

    Raises ValueError: not integers, another shape, or a label below -1.
    """
    array = np.asarray(labels)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"labels must be integers, got {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"labels must have the shape of human, {shape}, got {array.shape}")
    if array.size and array.min() < -1:
        raise ValueError(f"labels must be at least -1, got {array.min()}")
    return array.astype(np.int64)


def thresholds(epsilon: npt.ArrayLike, n_metrics: int) -> Floats:
    """Tie thresholds as float64 (n_metrics,), from one number or one number per metric.

    Raises ValueError: another shape, a NaN, or a negative threshold.
    """
    array = np.asarray(epsilon, dtype=np.float64)
    if array.shape not in ((), (n_metrics,)):
        raise ValueError(f"epsilon must be one number or ({n_metrics},), got shape {array.shape}")
    if not (array >= 0).all():
        raise ValueError(f"epsilon must be at least 0, got {array}")
    return np.broadcast_to(array, (n_metrics,)).copy()


def probabilities(p: npt.ArrayLike, name: str) -> Floats:
    """p-values as float64 (..., n_systems, n_systems), of which only i < j is read.

    Raises ValueError: not square, fewer than 2 systems, or a value above the diagonal outside [0, 1].
    """
    array = np.asarray(p, dtype=np.float64)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise ValueError(f"{name} must be (n_systems, n_systems), got {array.shape}")
    if array.shape[-1] < 2:
        raise ValueError(f"{name} needs at least 2 systems, got {array.shape[-1]}")
    upper = array[..., *np.triu_indices(array.shape[-1], 1)]
    if not ((upper >= 0) & (upper <= 1)).all():
        raise ValueError(f"{name} has a value outside [0, 1] or a NaN above the diagonal")
    return array


def count(value: int, name: str, least: int = 1) -> int:
    """A whole number of at least `least`, else ValueError."""
    if int(value) != value or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def known(value: object, words: Collection[str], what: str) -> None:
    """Raises ValueError: the value is not one of these words."""
    if value not in words:
        raise ValueError(f"unknown {what} {value!r}; expected one of {', '.join(words)}")


def several(n_metrics: int) -> None:
    """Raises ValueError: fewer than two metrics."""
    if n_metrics < 2:
        raise ValueError(f"{n_metrics} metric: a comparison needs at least 2")


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike, defined: npt.ArrayLike | None = None) -> Floats:
    """numerator / denominator, with broadcasting; NaN where undefined, by default where the denominator is 0."""
    above, below = np.asarray(numerator), np.asarray(denominator)
    found = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=found, where=below > 0 if defined is None else np.asarray(defined))
    return found
