"""Differences over the standard deviation of their resamples: Student's t, against a plain loop, and at the edges."""

import numpy as np
import pytest
from scipy.stats import t as student

from metaeval.kernels.resampling.difference_tests import DifferenceTest, bootstrap_test
from metaeval.kernels.resampling.resampled_statistics import accuracy_resample, any_resample, system_resample
from tests import naive_significance as naive
from tests.drawn_units import resampled_units
from tests.helpers import refused

Floats = np.ndarray
N_SYSTEMS, N_SEGMENTS = 6, 15
CASES = {
    "pearson": (lambda h, m: system_resample(h, m, "pearson"), naive.system_correlation("pearson")),
    "spearman": (lambda h, m: system_resample(h, m, "spearman"), naive.system_correlation("spearman")),
    "kendall": (lambda h, m: system_resample(h, m, "kendall"), naive.system_correlation("kendall")),
    "pa": (lambda h, m: accuracy_resample(h, m), naive.pairwise_accuracy("organisers")),
}


def scores(n_metrics: int = 5) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(7)
    quality = np.arange(N_SYSTEMS)[:, np.newaxis] / 2
    human = quality + rng.normal(0, 1, (N_SYSTEMS, N_SEGMENTS))
    noise = np.linspace(0.5, 3, n_metrics)[:, np.newaxis, np.newaxis]
    return human, quality + noise * rng.normal(0, 1, (n_metrics, N_SYSTEMS, N_SEGMENTS))


def mean_of_products(human: Floats, metrics: Floats, origins: object) -> Floats:
    return np.asarray((human * metrics).mean(axis=(1, 2)))


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("name", CASES)
def test_p_values_are_those_of_a_plain_loop(name: str, alternative: str) -> None:
    """Ten pairs of metrics for each of four measures, one resample after the other."""
    build, statistic = CASES[name]
    human, metrics = scores()
    found = bootstrap_test(
        build(human, metrics),
        rng=np.random.default_rng(3),
        n_draws=30,
        alternative=alternative,
        n_threads=1,  # type: ignore[arg-type]
    )
    drawn = [
        [statistic(human[:, columns], metric[:, columns]) for metric in metrics]
        for _, segments in resampled_units(np.random.default_rng(3), 30, "inputs", human.shape)
        for columns in segments  # type: ignore[union-attr]
    ]
    n_pairs = 0
    for a in range(len(metrics)):
        for b in range(a + 1, len(metrics)):
            gap = statistic(human, metrics[a]) - statistic(human, metrics[b])
            differences = [row[a] - row[b] for row in drawn]
            mean = sum(differences) / 30
            error = (sum((one - mean) ** 2 for one in differences) / 29) ** 0.5
            t, df = gap / error, N_SEGMENTS - 1
            p = student.sf(t, df) if alternative == "greater" else 2 * student.sf(abs(t), df)
            assert found.p[a, b] == pytest.approx(p, rel=1e-6), (a, b)
            n_pairs += 1
    assert n_pairs == 10
    assert np.isnan(np.diagonal(found.p)).all()


def of_products(metrics: Floats, alternative: str = "two-sided", **given: object) -> DifferenceTest:
    statistic = any_resample(np.ones(metrics.shape[1:]), metrics, mean_of_products)
    return bootstrap_test(statistic, rng=np.random.default_rng(1), n_draws=50, alternative=alternative, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_without_any_variance_equal_metrics_do_not_differ_and_others_do(alternative: str) -> None:
    rng = np.random.default_rng(2)
    one = rng.normal(0, 1, (3, 20))
    found = of_products(np.stack([one, one[::-1], one + 0.25]), alternative)
    assert found.error[0, 1] == found.error[0, 2] == 0
    assert found.p[0, 1] == found.p[1, 0] == 1
    assert found.p[2, 0] == 0
    assert found.p[0, 2] == (0 if alternative == "two-sided" else 1)


def test_the_interval_of_the_same_draws_holds_0_just_where_p_is_above_its_level() -> None:
    rng = np.random.default_rng(5)
    found = of_products(rng.normal(0, 1, (20, 2, 30)) + rng.normal(0, 0.2, (20, 1, 1)))
    first, second = np.triu_indices(20, 1)
    gap, reach = (found.values[first] - found.values[second]), found.reach[first, second]
    holds = (gap - reach <= 0) & (gap + reach >= 0)
    assert 0 < holds.sum() < holds.size
    assert (holds == (found.p[first, second] > 0.05)).all()


def test_other_values_than_those_of_the_statistic_are_tested_with_its_variance() -> None:
    metrics = np.random.default_rng(4).normal(0, 1, (2, 3, 20))
    own, moved = of_products(metrics), of_products(metrics, values=[0.3, 0.1])
    assert moved.error.tolist() == own.error.tolist()
    assert moved.p[0, 1] == pytest.approx(2 * student.sf(0.2 / own.error[0, 1], 19))


def test_resamples_in_which_a_metric_has_no_value_are_left_out_of_its_pairs() -> None:
    def without_some(human: Floats, metrics: Floats, origins: object) -> Floats:
        found = mean_of_products(human, metrics, origins)
        return np.where([False, metrics[1, 0, 0] > 0, False, True], np.nan, found)

    metrics = np.random.default_rng(6).normal(0, 1, (4, 2, 12))
    found = bootstrap_test(
        any_resample(np.ones((2, 12)), metrics, without_some), rng=np.random.default_rng(1), n_draws=60, n_threads=1
    )
    defined = ~np.isnan(found.draws[1])
    assert 0 < defined.sum() < 60
    assert found.error[0, 1] == pytest.approx((found.draws[0] - found.draws[1])[defined].std(ddof=1))
    assert found.error[0, 2] == pytest.approx((found.draws[0] - found.draws[2]).std(ddof=1))
    assert np.isnan(found.p[3]).all()


def test_what_has_no_standard_deviation_is_refused() -> None:
    statistic = any_resample(np.ones((2, 3)), np.ones((2, 2, 3)), mean_of_products)
    with pytest.raises(ValueError, match="1 resample: a standard deviation needs at least 2"):
        bootstrap_test(statistic, rng=np.random.default_rng(0), n_draws=1)
    refused("unknown alternative 'less'", bootstrap_test, statistic, rng=np.random.default_rng(0), alternative="less")
