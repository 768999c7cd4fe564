"""Weighted tau of system scores: disagreements among the best systems weigh more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats


def weighted_tau(human: npt.ArrayLike, metrics: npt.ArrayLike) -> Floats:
    """Vigna's weighted τ with hyperbolic weights, the mean over ranking by either side, (n_metrics,), in [−1, 1].

    human: (n_systems,), NaN = not judged, such systems are excluded. metrics: (n_metrics, n_systems).
    NaN where all human or all metric scores are equal, or no system is judged.
    Raises ValueError: shapes, or a missing metric score of a judged system.
    Source: Vigna 2015; it is SciPy's `weightedtau`.
    """
    from scipy.stats import weightedtau

    human, metrics = checks.system_scores(human, metrics)
    judged = ~np.isnan(human)
    value = np.full(len(metrics), np.nan)
    if np.ptp(human[judged]) > 0 if judged.any() else False:
        for place, metric in enumerate(metrics[:, judged]):
            if np.ptp(metric) > 0:
                value[place] = weightedtau(human[judged], metric).statistic
    return value
