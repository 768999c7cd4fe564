"""Studentised differences of two metrics: by hand, against a plain loop, and how often they find nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from metaeval.kernels.resampling.difference_tests import jackknife_test, segment_errors
from metaeval.kernels.resampling.resampled_statistics import any_resample, system_resample
from tests.drawn_units import resampled_units
from tests.helpers import refused


def mean_of_products(human: np.ndarray, metrics: np.ndarray, origins: object) -> np.ndarray:
    """A statistic whose jackknife is known: a mean over scores."""
    return np.asarray((human * metrics).mean(axis=(1, 2)))


def test_a_mean_over_systems_is_student_s_t_test() -> None:
    """The jackknife variance of a mean is its usual variance, so p is that of the paired t-test of system means."""
    human = np.ones((4, 2))
    metrics = np.array([[[1, 1], [2, 2], [4, 4], [9, 9]], [[0, 0], [1, 1], [5, 5], [2, 2]]], dtype=float)
    found = jackknife_test(any_resample(human, metrics, mean_of_products), "systems", alternative="greater")
    gaps = np.array([1.0, 1.0, -1.0, 7.0])
    error = gaps.std(ddof=1) / 2
    assert found.values.tolist() == [4.0, 2.0]
    assert found.error[0, 1] == pytest.approx(error)
    assert found.p[0, 1] == pytest.approx(student.sf(2 / error, 3))
    assert found.p[1, 0] == pytest.approx(student.cdf(2 / error, 3))
    assert np.isnan(np.diagonal(found.p)).all()
    both = jackknife_test(any_resample(human, metrics, mean_of_products), "systems", alternative="two-sided")
    assert both.p[0, 1] == both.p[1, 0] == pytest.approx(2 * student.sf(2 / error, 3))


def test_a_mean_over_segments_is_student_s_t_test() -> None:
    human = np.ones((2, 4))
    metrics = np.array([[[1, 2, 4, 9], [1, 2, 4, 9]], [[0, 1, 5, 2], [0, 1, 5, 2]]], dtype=float)
    found = jackknife_test(any_resample(human, metrics, mean_of_products), "segments", alternative="greater")
    error = np.array([1.0, 1.0, -1.0, 7.0]).std(ddof=1) / 2
    assert found.df == 3
    assert found.error[0, 1] == pytest.approx(error)
    assert found.p[0, 1] == pytest.approx(student.sf(2 / error, 3))


def test_many_segments_are_left_out_in_40_groups() -> None:
    rng = np.random.default_rng(2)
    human, metrics = np.ones((2, 90)), rng.normal(size=(2, 2, 90))
    found = jackknife_test(any_resample(human, metrics, mean_of_products), "segments", alternative="two-sided")
    gaps = (metrics[0] - metrics[1]).mean(axis=0)
    without = np.array([np.delete(gaps, np.arange(group, 90, 40)).mean() for group in range(40)])
    error = np.sqrt(39 / 40 * np.sum((without - without.mean()) ** 2))
    assert found.df == 39
    assert found.error[0, 1] == pytest.approx(error)
    assert found.p[0, 1] == pytest.approx(2 * student.sf(abs(gaps.mean()) / error, 39))


def test_the_error_of_a_mean_over_segments_is_that_of_a_mean() -> None:
    metrics = np.array([[[1, 2, 4, 9]], [[0, 1, 5, 2]]], dtype=float)
    found = segment_errors(any_resample(np.ones((1, 4)), metrics, mean_of_products))
    assert found == pytest.approx(metrics[:, 0].std(axis=1, ddof=1) / 2)
    assert np.isnan(segment_errors(any_resample(np.ones((1, 2)), metrics[:, :, :2], mean_of_products))).all()


def test_over_two_segments_no_variance_is_defined() -> None:
    statistic = any_resample(np.ones((3, 2)), np.zeros((2, 3, 2)), mean_of_products)
    found = jackknife_test(statistic, "segments")
    assert np.isnan(found.p).all()
    assert not np.isnan(found.values).any()


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), missing=st.booleans())
def test_the_variance_over_both_is_that_of_a_plain_loop(seed: int, missing: bool) -> None:
    rng = np.random.default_rng(seed)
    human, metrics = rng.normal(size=(5, 8)), rng.normal(size=(3, 5, 8))
    if missing:
        human[0, 0] = np.nan
    statistic = system_resample(human, metrics, "pearson")
    found = jackknife_test(statistic, "both", rng=np.random.default_rng(1), n_draws=30)

    def value(systems: list[int], segments: np.ndarray) -> np.ndarray:
        h = np.nanmean(human[np.ix_(systems, segments)], axis=1)
        judged = ~np.isnan(human[np.ix_(systems, segments)])
        means = [np.nanmean(np.where(judged, m[np.ix_(systems, segments)], np.nan), axis=1) for m in metrics]
        return np.array([np.corrcoef(h, one)[0, 1] for one in means])

    every = list(range(5))
    without = np.array([value([i for i in every if i != out], np.arange(8)) for out in every])
    drawn = np.concatenate(
        [segments for _, segments in resampled_units(np.random.default_rng(1), 30, "inputs", (5, 8))]  # type: ignore[arg-type]
    )
    worlds = np.array([value(every, picks) for picks in drawn])
    cut = np.array(
        [[value([i for i in every if i != out], np.delete(np.arange(8), s)) for s in range(8)] for out in every]
    )
    for a in range(3):
        for b in range(3):
            if a == b:
                continue
            left = without[:, a] - without[:, b]
            of_systems = 4 / 5 * np.sum((left - left.mean()) ** 2)
            of_segments = np.var(worlds[:, a] - worlds[:, b], ddof=1)
            gaps = cut[:, :, a] - cut[:, :, b]
            excess = gaps - gaps.mean(axis=0) - gaps.mean(axis=1)[:, np.newaxis] + gaps.mean()
            shared = np.sum(excess**2) * 4 * 7 / (5 * 8)
            variance = max(of_systems + of_segments - shared, of_systems, of_segments)
            gap = value(every, np.arange(8))
            assert found.error[a, b] == pytest.approx(np.sqrt(variance), rel=1e-6)
            expected = student.sf((gap[a] - gap[b]) / np.sqrt(variance), 4)
            assert found.p[a, b] == pytest.approx(expected, rel=1e-6)


def tau(human: np.ndarray, metrics: np.ndarray, origins: object) -> np.ndarray:
    first, second = np.triu_indices(len(human), 1)
    signs = [np.sign(one[first, 0] - one[second, 0]) for one in (human, *metrics)]
    return np.array([(signs[0] * one).mean() for one in signs[1:]])


def test_the_variance_over_pairs_of_systems_is_the_unbiased_one_of_a_plain_loop() -> None:
    """Squared mean minus the mean of products of pairs that share no system; no less than what single pairs add."""
    n = 7
    n_below = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        human = rng.normal(size=(n, 1))
        metrics = human + rng.normal(size=(2, n, 1)) * np.array([0.4, 0.8])[:, np.newaxis, np.newaxis]
        found = jackknife_test(any_resample(human, metrics, tau), "systems", pairs_once=True)
        signs = [np.sign(one - one.T) for one in (human, *metrics)]
        d = signs[0] * (signs[1] - signs[2])
        pairs = [(i, j) for i in range(n) for j in range(i)]
        mean = np.mean([d[pair] for pair in pairs])
        apart = [d[a] * d[b] for a in pairs for b in pairs if not set(a) & set(b)]
        # what a pair has beyond its systems: residuals of least squares, 7 x 4 / 2 degrees of freedom
        design = np.array([[1.0, *(float(k in pair) for k in range(n))] for pair in pairs])
        values = np.array([d[pair] for pair in pairs])
        residuals = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
        least = 2 * (residuals @ residuals) / (n * (n - 3) / 2) / (n * (n - 1))
        n_below += mean**2 - np.mean(apart) < least
        assert found.error[0, 1] ** 2 == pytest.approx(max(mean**2 - np.mean(apart), least))
    assert 0 < n_below < 20


def test_a_mean_over_systems_has_nothing_of_pairs() -> None:
    human, metrics = np.ones((6, 2)), np.random.default_rng(1).normal(size=(2, 6, 2))
    statistic = any_resample(human, metrics, mean_of_products)
    once, twice = (jackknife_test(statistic, "systems", pairs_once=pairs) for pairs in (True, False))
    np.testing.assert_allclose(once.error, twice.error)


def test_metrics_that_are_wrong_on_different_pairs_of_every_system_have_an_error() -> None:
    """Each of four systems is in one pair that either metric has wrong: without any of them the gap is the same."""
    human = np.arange(4.0)[:, np.newaxis]
    wrong = {0: [(0, 1), (2, 3)], 1: []}

    def known(rows: np.ndarray, metrics: np.ndarray, origins: object) -> np.ndarray:
        left = sorted(rows[:, 0].astype(int))
        pairs = [(a, b) for a in left for b in left if a < b]
        return np.array([np.mean([pair not in wrong[metric] for pair in pairs]) for metric in (0, 1)])

    statistic = any_resample(human, np.zeros((2, 4, 1)), known)
    assert jackknife_test(statistic, "systems").p[0, 1] == 1  # certain
    assert 0 < jackknife_test(statistic, "systems", pairs_once=True, alternative="two-sided").p[0, 1] < 1


def test_equal_metrics_differ_with_p_1_and_certain_differences_with_p_0() -> None:
    human = np.ones((3, 2))
    scores = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    metrics = np.stack([scores, scores, scores + 1])
    found = jackknife_test(any_resample(human, metrics, mean_of_products), "systems", alternative="two-sided")
    assert found.p[0, 1] == found.p[1, 0] == 1
    assert found.p[0, 2] == found.p[2, 0] == 0
    one = jackknife_test(any_resample(human, metrics, mean_of_products), "systems", alternative="greater")
    assert (one.p[0, 1], one.p[2, 0], one.p[0, 2]) == (1, 0, 1)


def test_on_fisher_s_scale_by_hand() -> None:
    """z of .8 minus z of .5 is ln 9 / 2 − ln 3 / 2; its error is that of the z without each system."""
    values = {4: [0.8, 0.5], 0: [0.6, 0.5], 1: [0.6, 0.0], 2: [0.8, 0.0], 3: [0.8, 0.5]}

    def known(human: np.ndarray, metrics: np.ndarray, origins: object) -> np.ndarray:
        left = 4 if len(human) == 4 else ({0, 1, 2, 3} - set(human[:, 0].astype(int))).pop()
        return np.array(values[left])

    statistic = any_resample(np.arange(4.0)[:, np.newaxis], np.zeros((2, 4, 1)), known)
    found = jackknife_test(statistic, "systems", alternative="two-sided", fisher=True)
    z = np.arctanh(np.array([values[left] for left in range(4)]))
    gaps = z[:, 0] - z[:, 1]
    error = np.sqrt(3 / 4 * np.sum((gaps - gaps.mean()) ** 2))
    assert found.values.tolist() == [0.8, 0.5]
    assert found.error[0, 1] == pytest.approx(error)
    assert found.p[0, 1] == pytest.approx(2 * student.sf((np.log(9) - np.log(3)) / 2 / error, 3))


def test_three_systems_are_too_few_for_fisher_s_scale() -> None:
    """Without one of them each correlation is 1 or -1, and the error of a difference could be 0."""
    statistic = system_resample(np.arange(3.0)[:, np.newaxis], np.ones((2, 3, 1)), "pearson")
    with pytest.raises(ValueError, match="a variance over systems needs at least 4 of them, not 3"):
        jackknife_test(statistic, "systems", fisher=True)


def test_on_fisher_s_scale_a_metric_that_is_always_right_has_a_p() -> None:
    human = np.arange(6.0)[:, np.newaxis]
    noise = np.random.default_rng(4).normal(size=(6, 1))
    statistic = system_resample(human, np.stack([human, human + noise, noise]), "pearson")
    found = jackknife_test(statistic, "systems", fisher=True)
    off = ~np.eye(3, dtype=bool)
    assert np.isfinite(found.p[off]).all()
    assert found.p[0, 2] < 0.05


def test_a_value_that_is_not_defined_without_a_system_has_no_p() -> None:
    """The first metric tells the last system from the others alone: without it there is no correlation."""
    human = np.array([[1.0], [2.0], [3.0], [4.0]])
    metrics = np.array([[[0.0], [0.0], [0.0], [1.0]], [[1.0], [2.0], [4.0], [3.0]], [[1.0], [3.0], [2.0], [4.0]]])
    found = jackknife_test(system_resample(human, metrics, "pearson"), "systems")
    assert np.isnan(found.p[0]).all()
    assert np.isnan(found.p[:, 0]).all()
    assert 0 < found.p[1, 2] < 1


def test_what_does_not_fit_is_refused() -> None:
    few = any_resample(np.ones((2, 2)), np.ones((2, 2, 2)), mean_of_products)
    refused("a variance over systems needs at least 3 of them, not 2", jackknife_test, few, "systems")
    enough = any_resample(np.ones((3, 2)), np.ones((2, 3, 2)), mean_of_products)
    refused("rng is needed", jackknife_test, enough, "both")
    refused("unknown units 'documents'", jackknife_test, enough, "documents")
    refused("unknown alternative 'less'", jackknife_test, enough, "systems", alternative="less")
    alone = any_resample(np.ones((3, 2)), np.ones((1, 3, 2)), mean_of_products)
    refused("1 metric: a comparison needs at least 2", jackknife_test, alone, "systems")
