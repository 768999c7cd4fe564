"""Thresholds of resamples: each against a plain loop over drawn outputs, and against its published kernels."""

import numpy as np
import pytest

from metaeval.kernels.agreement.decisions import best_decision, decide
from metaeval.kernels.resampling.resampled_thresholds import LOOK_AT_ALL, Outputs, mcc_of

RNG = np.random.default_rng(3)
GOOD = RNG.random(90) < 0.4
SCORES = np.round(RNG.normal(size=90) + GOOD, 1)
UNITS = RNG.permutation(np.repeat(np.arange(15), 6))
OUTPUTS = Outputs.sorted(GOOD, SCORES, UNITS)
DRAWN = OUTPUTS.drawn(np.random.default_rng(4), 8)


def _rows(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Good, scores and units of drawn outputs, one row each."""
    times = weights.astype(int)
    return tuple(np.repeat(one, times) for one in (OUTPUTS.good, OUTPUTS.scores, OUTPUTS.units))  # type: ignore[return-value]


def test_units_are_drawn_whole() -> None:
    assert (DRAWN.sum(axis=1) == 90).all()
    for unit in range(15):
        assert (np.ptp(DRAWN[:, OUTPUTS.units == unit], axis=1) == 0).all()


def test_the_best_threshold_of_a_resample_is_that_of_its_outputs() -> None:
    for weights, threshold in zip(DRAWN, OUTPUTS.best(DRAWN), strict=True):
        good, scores, _ = _rows(weights)
        best = best_decision(good, scores)
        assert best is not None
        assert threshold == best.threshold
    whole = best_decision(GOOD, SCORES)
    assert whole is not None
    assert OUTPUTS.best(OUTPUTS.once)[0] == whole.threshold


def test_thresholds_call_what_reaches_them() -> None:
    thresholds = np.array([[-9.0, 0.35, 0.4, 9.0, np.nan]])
    counts = OUTPUTS.called(OUTPUTS.once, thresholds)[:, 0]
    for place, threshold in enumerate(thresholds[0, :4]):
        found = decide(GOOD, SCORES, threshold)
        assert counts[:, place].tolist() == [found.n_true, found.n_false, found.n_good, found.n_bad]
    assert np.isnan(counts[:, 4]).all()


def test_cross_fitted_outputs_are_judged_by_thresholds_of_other_units() -> None:
    for weights, counts in zip(DRAWN, OUTPUTS.cross_fitted(DRAWN, 5).T, strict=True):
        good, scores, units = _rows(weights)
        expected = np.zeros(4)
        for fold in range(5):
            own = units % 5 == fold
            best = best_decision(good[~own], scores[~own])
            assert best is not None
            found = decide(good[own], scores[own], best.threshold)
            expected += [found.n_true, found.n_false, found.n_good, found.n_bad]
        assert counts.tolist() == expected.tolist()
    all_good = Outputs.sorted(np.ones(4), np.arange(4), np.arange(4))
    assert np.isnan(mcc_of(all_good.cross_fitted(all_good.once, 2))).all()


def test_a_coin_is_worth_nothing_where_its_threshold_is_judged_on_other_units() -> None:
    rng, own, fitted = np.random.default_rng(5), [], []
    for _ in range(100):
        one = Outputs.sorted(rng.random(120) < 0.5, rng.normal(size=120), np.arange(120))
        own.append(mcc_of(one.called(one.once, one.best(one.once)[:, np.newaxis]))[0, 0])
        fitted.append(mcc_of(one.cross_fitted(one.once, 5))[0])
    assert np.mean(own) > 0.1
    # the standard error of a mean of 100 MCCs of 120 outputs is .01; folds make them a little too low
    assert -0.06 < np.mean(fitted) < 0.03


@pytest.mark.parametrize(("miss", "look"), [(10.0, 1.0), (2.0, 1.0), (1.0, 5.0)])
def test_the_lowest_cost_is_that_of_a_loop_over_thresholds(miss: float, look: float) -> None:
    costs, thresholds = OUTPUTS.cheapest(DRAWN, miss, look)
    for weights, cost, threshold in zip(DRAWN, costs, thresholds, strict=True):
        good, scores, _ = _rows(weights)
        of = {
            one: float(np.where(scores >= one, miss * ~good, look).mean()) for one in [*np.unique(SCORES), LOOK_AT_ALL]
        }
        assert cost == pytest.approx(min(of.values()))
        assert threshold == min(one for one, value in of.items() if value <= min(of.values()) + 1e-12)
