"""Utilities of segments, against SciPy and by hand."""

import numpy as np
import pytest
from scipy import stats

from metaeval.kernels.choice.utility import metric_average, metric_consistency, metric_variance, standardised


def test_consistency_is_scipy_s_tau_c_with_the_means_of_the_systems() -> None:
    rng = np.random.default_rng(3)
    for n_values in (2, 3, 50):  # many ties, some, hardly any
        scores = rng.integers(0, n_values, size=(7, 60)).astype(float)
        means = scores.mean(axis=1)
        with np.errstate(invalid="ignore"):
            expected = [stats.kendalltau(one, means, variant="c").statistic if np.ptp(one) else 0.0 for one in scores.T]
        assert metric_consistency(scores) == pytest.approx(expected, abs=1e-12)


def test_a_segment_with_a_missing_score_has_no_utility_and_counts_in_no_mean() -> None:
    scores = np.array([[1.0, 2.0, 9.0], [2.0, 1.0, np.nan], [3.0, 0.0, 0.0]])
    for of in (metric_average, metric_variance, metric_consistency):
        assert np.isnan(of(scores)).tolist() == [False, False, True]
    assert metric_consistency(scores)[:2] == pytest.approx(metric_consistency(scores[:, :2]))


def test_one_system_orders_nothing() -> None:
    assert np.isnan(metric_consistency([[1.0, 2.0]])).all()


def test_standardised_scores_have_no_scale_and_keep_what_is_missing() -> None:
    scores = np.array([[[1.0, 2.0, np.nan], [4.0, 0.0, 3.0]]])
    found = standardised(scores)
    assert np.isnan(found).tolist() == np.isnan(scores).tolist()
    assert found == pytest.approx(standardised(scores * 17 - 4), nan_ok=True)
    assert (np.nanmean(found), np.nanstd(found)) == pytest.approx((0, 1))
