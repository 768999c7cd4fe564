"""Intervals over new systems: worked out, never of zero width, none of too few systems, and that they hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.few_systems import share_held
from metaeval.kernels.resampling.bootstrap import interval
from metaeval.kernels.resampling.prepared import ResampleStatistic
from metaeval.kernels.resampling.resampled_statistics import accuracy_resample, system_resample
from metaeval.kernels.resampling.system_intervals import interval_over_systems

Floats = np.ndarray


def scores(n: int, seed: int = 0, noise: float = 0.5) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    human = rng.normal(size=n)
    return human, human + noise * rng.normal(size=n)


def of_pearson(human: Floats, metric: Floats) -> ResampleStatistic:
    return system_resample(human[:, np.newaxis], metric[np.newaxis, :, np.newaxis], "pearson")


def test_the_interval_of_pearson_is_that_of_fisher_s_z_with_the_larger_error() -> None:
    human, metric = scores(9, noise=0.2)
    metric[3] += 3  # misjudged, so that the jackknife's error is the larger one
    for one in (metric, human + 0.3 * np.cos(np.arange(9))):
        low, high = interval_over_systems(of_pearson(human, one), "linear")
        z = np.arctanh(np.corrcoef(human, one)[0, 1])
        without = [np.arctanh(np.corrcoef(np.delete(human, k), np.delete(one, k))[0, 1]) for k in range(9)]
        error = max(np.sqrt(8 / 9 * np.sum((without - np.mean(without)) ** 2)), 1 / np.sqrt(6))
        reach = stats.t.ppf(0.975, 8) * error
        assert (low[0], high[0]) == pytest.approx((np.tanh(z - reach), np.tanh(z + reach)))


def test_a_perfect_order_of_systems_is_no_certainty() -> None:
    """By hand: of 8 systems 28 pairs are right, tau is brought to 1 − 1/28, and the error is √(.437/4)."""
    human = np.arange(8.0)[:, np.newaxis]
    low, high = interval_over_systems(accuracy_resample(human, human[np.newaxis]), "pairs", is_share=True)
    reach = stats.t.ppf(0.975, 7) * np.sqrt(0.437 / 4)
    assert low[0] == pytest.approx((1 + np.tanh(np.arctanh(1 - 1 / 28) - reach)) / 2)
    assert high[0] == 1
    for name, kind in (("spearman", "ranks"), ("kendall", "pairs")):
        low, high = interval_over_systems(system_resample(human, human[np.newaxis], name), kind)  # type: ignore[arg-type]
        assert low[0] < 0.95
        assert high[0] == 1


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_fewer_than_six_systems_have_no_interval(n: int) -> None:
    human, metric = scores(n)
    found = interval_over_systems(of_pearson(human, metric), "linear")
    assert np.isnan(found).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(6, 14), st.integers(0, 1000), st.sampled_from(["pearson", "spearman", "kendall"]))
def test_an_interval_holds_its_value_and_turns_with_the_metric(n: int, seed: int, name: str) -> None:
    human, metric = scores(n, seed)
    both = np.stack([metric, -metric])[:, :, np.newaxis]
    statistic = system_resample(human[:, np.newaxis], both, name)  # type: ignore[arg-type]
    values = statistic.values(None, None, 1)[0]
    low, high = interval_over_systems(statistic, {"pearson": "linear", "spearman": "ranks"}.get(name, "pairs"))  # type: ignore[arg-type]
    assert ((low <= values) & (values <= high)).all()
    assert (high - low > 0.001).all()
    assert (low[0], high[0]) == pytest.approx((-high[1], -low[1]), abs=1e-9)


@pytest.mark.long("simulated systems: half a minute")
@pytest.mark.parametrize("n", [6, 8, 12, 20])
@pytest.mark.parametrize("measure", ["pearson", "spearman", "kendall", "pa"])
def test_intervals_hold_the_value_over_all_systems(measure: str, n: int) -> None:
    """400 worlds: .95 less four binomial standard errors."""
    assert share_held(measure, n, "normal", 0.9, 400) > 0.95 - 4 * np.sqrt(0.05 * 0.95 / 400)


def test_resamples_that_are_all_alike_say_nothing_of_the_value() -> None:
    for method in ("percentile", "normal", "centred"):
        found = interval(1.0, np.ones(50), 0.95, method)
        assert np.isnan([found.low, found.high]).all()


def test_few_units_have_wider_intervals_by_every_method() -> None:
    draws = np.random.default_rng(1).normal(size=4000)
    for method in ("percentile", "normal", "centred"):
        many, few = interval(0.0, draws, 0.95, method), interval(0.0, draws, 0.95, method, 9)
        expected = stats.t.ppf(0.975, 9) / stats.norm.ppf(0.975) * (np.sqrt(10 / 9) if method == "percentile" else 1)
        # the tails of 4000 draws know their quantiles to a few percent
        assert (few.high - few.low) / (many.high - many.low) == pytest.approx(expected, rel=0.08)
