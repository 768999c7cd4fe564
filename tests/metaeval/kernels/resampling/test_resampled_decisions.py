"""Decisions on resamples: each is the statistic of the outputs that were drawn, with a threshold of its own."""

from collections.abc import Callable

import numpy as np
import pytest

from metaeval.kernels.agreement.decisions import average_precision, best_decision, brier_score, decide, roc_auc
from metaeval.kernels.resampling.resampled_decisions import (
    WeightedResample,
    calibrated_resample,
    curve_resample,
    decision_resample,
    error_resample,
)

RNG = np.random.default_rng(4)
GOOD = np.where(RNG.random((4, 15)) < 0.1, np.nan, RNG.random((4, 15)) < 0.4)
METRICS = np.round(RNG.normal(size=(3, 4, 15)) + np.nan_to_num(GOOD), 1)
FOLDS = np.broadcast_to(np.arange(15) % 3, GOOD.shape)
One = Callable[[np.ndarray, np.ndarray, np.ndarray], float]  # good, scores, folds of drawn outputs -> value


def _best(name: str, beta2: float) -> One:
    def value(good: np.ndarray, scores: np.ndarray, folds: np.ndarray) -> float:
        found = best_decision(good, scores, name, beta2)  # type: ignore[arg-type]
        return found.f_beta(beta2) if name == "f_beta" else float(getattr(found, name))

    return value


def _brier(good: np.ndarray, scores: np.ndarray, folds: np.ndarray) -> float:
    there = ~np.isnan(good)
    return -brier_score(good[there] == 1, scores[there], folds[there])


CASES: dict[str, tuple[WeightedResample, One]] = {
    **{
        name: (decision_resample(GOOD, METRICS, name, 0.5), _best(name, 0.5))  # type: ignore[arg-type]
        for name in ("mcc", "f_beta", "precision", "recall")
    },
    "kept": (decision_resample(GOOD, METRICS, "mcc", 1.0, [0.5] * 3), lambda g, m, f: decide(g, m, 0.5).mcc),
    "average_precision": (curve_resample(GOOD, METRICS, "average_precision"), lambda g, m, f: average_precision(g, m)),
    "roc_auc": (curve_resample(GOOD, METRICS, "roc_auc"), lambda g, m, f: roc_auc(g, m)),
    "rmse": (error_resample(GOOD, METRICS, 2), lambda g, m, f: -float(np.sqrt(np.nanmean((g - m) ** 2)))),
    "mae": (error_resample(GOOD, METRICS, 1), lambda g, m, f: -float(np.nanmean(np.abs(g - m)))),
    "brier": (calibrated_resample(GOOD, METRICS, FOLDS, brier_score), _brier),
}


@pytest.mark.parametrize("name", CASES)
def test_a_resample_has_the_statistic_of_what_was_drawn(name: str) -> None:
    statistic, one = CASES[name]
    for units in ("segments", "systems", "both", "none"):
        rng, n = np.random.default_rng(1), 30
        systems = rng.integers(0, 4, (n, 4)) if units in ("systems", "both") else None
        segments = rng.integers(0, 15, (n, 15)) if units in ("segments", "both") else None
        found = statistic.values(systems, segments, n)
        for k in range(n):
            rows = np.arange(4) if systems is None else systems[k]
            columns = np.arange(15) if segments is None else segments[k]
            good, folds = (array[rows][:, columns] for array in (GOOD, FOLDS))
            expected = [one(good, metric[rows][:, columns], folds) for metric in METRICS]
            np.testing.assert_allclose(found[k], expected, atol=1e-12, err_msg=units)


def test_a_resample_whose_outputs_are_all_good_has_no_value() -> None:
    good = np.array([[1.0, 0.0], [1.0, 0.0]])
    for name in ("mcc", "precision"):
        found = decision_resample(good, np.ones((1, 2, 2)), name).values(None, np.array([[0, 0]]), 1)  # type: ignore[arg-type]
        assert np.isnan(found).all()
