"""Bootstrap intervals: against plain resampling, SciPy, and their coverage."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.agreement.systems import pair_agreements
from metaeval.kernels.resampling.bootstrap import bootstrap, interval
from metaeval.kernels.resampling.prepared import ResampleStatistic
from metaeval.kernels.resampling.published_tests import system_pair_bootstrap
from metaeval.kernels.resampling.resampled_items import item_resample
from metaeval.kernels.resampling.resampled_spa import SoftPairwiseResample, _of_arrays, soft_pairwise_resample
from metaeval.kernels.resampling.resampled_statistics import (
    accuracy_resample,
    any_resample,
    pairwise_difference_resample,
    pearson_resample,
    system_resample,
)
from metaeval.kernels.resampling.system_tests import draw_signs
from tests import naive_significance as naive
from tests.drawn_units import resampled_units
from tests.helpers import refused

Floats = npt.NDArray[np.float64]
SIGNS = draw_signs(np.random.default_rng(0), 16, 12)


def scores(seed: int, missing: float) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    human = rng.integers(-4, 1, (5, 12)).astype(float)
    metrics = np.round(human + rng.normal(0, 2, (2, 5, 12)), 1)
    human[rng.random(human.shape) < missing] = np.nan
    return human, metrics


CASES = {
    "pearson": (pearson_resample, naive.pearson_in_groups(np.zeros((5, 12), dtype=np.int64))),
    "pdp": (pairwise_difference_resample, naive.pairwise_difference_pearson),
    "spearman by item": (lambda h, m: item_resample(h, m, "spearman"), naive.rank_correlation_by_item("spearman")),
    "acc23 by item": (lambda h, m: item_resample(h, m, "acc23"), naive.acc23_by_item),
    "system pearson": (lambda h, m: system_resample(h, m, "pearson"), naive.system_correlation("pearson")),
    "system spearman": (lambda h, m: system_resample(h, m, "spearman"), naive.system_correlation("spearman")),
    "system kendall": (lambda h, m: system_resample(h, m, "kendall"), naive.system_correlation("kendall")),
    "pa": (lambda h, m: accuracy_resample(h, m), naive.pairwise_accuracy("organisers")),
    "pa tship": (lambda h, m: accuracy_resample(h, m, "tship"), naive.pairwise_accuracy("tship")),
    "spa": (lambda h, m: soft_pairwise_resample(h, m, SIGNS), naive.soft_pairwise(SIGNS)),
    "spa(n=inf)": (lambda h, m: soft_pairwise_resample(h, m, None), naive.soft_pairwise(None)),
}


MADE_OF_PAIRS = ("acc23 by item", "pa", "pa tship", "spa", "spa(n=inf)")


@pytest.mark.every(3)
@pytest.mark.parametrize("resample", ["inputs", "systems", "both"])
@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("name", CASES)
def test_draws_equal_the_statistic_of_each_resampled_array(name: str, missing: float, resample: str) -> None:
    build, statistic = CASES[name]
    human, metrics = scores(len(name), missing)
    result = bootstrap(build(human, metrics), resample, rng=np.random.default_rng(1), n_draws=10, n_threads=1)  # type: ignore[arg-type]
    expected = []
    for systems, segments in resampled_units(np.random.default_rng(1), 10, resample, (5, 12)):  # type: ignore[arg-type]
        for draw in range(len(systems if systems is not None else segments)):  # type: ignore[arg-type]
            rows = np.arange(5) if systems is None else systems[draw]
            columns = np.arange(12) if segments is None else segments[draw]
            h, m = human[rows][:, columns], metrics[:, rows][:, :, columns]
            if name == "pearson":
                statistic = naive.pearson_in_groups(np.zeros(h.shape, dtype=np.int64))
            copies = (rows,) if name in MADE_OF_PAIRS else ()
            expected.append([statistic(h, x, *copies) for x in m])
    np.testing.assert_allclose(result.draws.T, expected, atol=1e-10)
    np.testing.assert_allclose(result.values, [statistic(human, x) for x in metrics], atol=1e-10)


@pytest.mark.parametrize("resample", ["inputs", "systems", "both"])
def test_soft_pairwise_accuracy_by_sums_equals_that_of_each_resampled_array(resample: str) -> None:
    human, metrics = scores(7, 0.0)
    human[:, [2, 3, 9]] = np.nan  # segments that nobody judged
    metrics[1, 2] = metrics[1, 4]  # two systems of equal scores
    metrics[1, 3] = metrics[1, 0] + 0.1  # sums of rounding noise alone, after what systems share is taken off
    quick = soft_pairwise_resample(human, metrics, SIGNS)
    assert isinstance(quick, SoftPairwiseResample)
    slow = any_resample(human, metrics, partial(_of_arrays, SIGNS))
    found, expected = (
        bootstrap(one, resample, rng=np.random.default_rng(4), n_draws=40, n_threads=1)  # type: ignore[arg-type]
        for one in (quick, slow)
    )
    np.testing.assert_allclose(found.draws, expected.draws, atol=1e-12)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)


def test_threads_change_nothing() -> None:
    human, metrics = scores(3, 0.2)
    for statistic in (pearson_resample(human, metrics), soft_pairwise_resample(human, metrics, SIGNS)):
        run = partial(bootstrap, statistic, "both", n_draws=80)
        reference = run(rng=np.random.default_rng(0), n_threads=1)
        assert np.array_equal(run(rng=np.random.default_rng(0), n_threads=2).draws, reference.draws, equal_nan=True)


@given(seed=st.integers(0, 2**32 - 1), confidence=st.sampled_from([0.8, 0.9, 0.95]))
def test_percentile_intervals_are_quantiles_of_the_defined_draws(seed: int, confidence: float) -> None:
    rng = np.random.default_rng(seed)
    draws = rng.normal(0, 1, 60)
    draws[:5] = np.nan
    found = interval(0.1, draws, confidence=confidence)
    edge = (1 - confidence) / 2
    assert found.low == pytest.approx(np.nanquantile(draws, edge))
    assert found.high == pytest.approx(np.nanquantile(draws, 1 - edge))


def population(rng: np.random.Generator, n_segments: int) -> tuple[Floats, Floats]:
    """Five systems, two metrics of different quality; segments are independent."""
    quality = np.linspace(-0.5, 0.5, 5)[:, None]
    human = quality + rng.normal(0, 1, (5, n_segments)) + rng.normal(0, 1, n_segments)
    noise = rng.normal(0, 1, (2, 5, n_segments)) * np.array([0.8, 1.2])[:, None, None]
    return human, human + noise


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_simulations", [60, pytest.param(1500, marks=pytest.mark.long("1500 simulated test sets: 30 seconds"))]
)
@pytest.mark.parametrize(
    "build",
    [pearson_resample, pairwise_difference_resample, lambda h, m: item_resample(h, m, "pearson")],
    ids=["pearson", "pdp", "pearson by item"],
)
def test_boot_inputs_intervals_cover_the_true_value_in_95_percent(build: object, n_simulations: int) -> None:
    assert callable(build)
    truth = bootstrap(build(*population(np.random.default_rng(999), 200_000)), rng=np.random.default_rng(0), n_draws=1)
    covered = np.zeros(2)
    for seed in range(n_simulations):
        statistic: ResampleStatistic = build(*population(np.random.default_rng([8, seed]), 150))
        result = bootstrap(statistic, rng=np.random.default_rng(seed), n_threads=1)
        one, difference = result.interval(0), result.difference_interval(0, 1)
        covered += [
            one.low <= truth.values[0] <= one.high,
            difference.low <= truth.values[0] - truth.values[1] <= difference.high,
        ]
    share = covered / n_simulations
    bound = 3.5 * math.sqrt(0.95 * 0.05 / n_simulations)  # standard errors; 0.02 for 1500
    assert (np.abs(share - 0.95) <= bound).all(), share


def test_a_metric_that_is_always_right_beats_the_others_in_every_resample() -> None:
    right = np.array([[True] * 20, [True] * 10 + [False] * 10, [False] * 20])
    result = system_pair_bootstrap(right, rng=np.random.default_rng(0), n_draws=500)
    assert result.winner == 0
    assert result.is_on_par.tolist() == [True, False, False]
    assert result.n_wins[0, 2] == 500
    np.testing.assert_allclose(result.accuracy, [1.0, 0.5, 0.0])
    assert result.p[2, 0] == 1.0


def test_win_counts_equal_a_loop_over_resamples() -> None:
    rng = np.random.default_rng(3)
    right = rng.random((4, 31)) < np.array([0.9, 0.8, 0.75, 0.5])[:, None]
    result = system_pair_bootstrap(right, rng=np.random.default_rng(9), n_draws=60)
    wins = np.zeros((4, 4), dtype=int)
    for stream, size in zip(np.random.default_rng(9).spawn(3), (25, 25, 10), strict=True):
        for picks in stream.integers(0, 31, (size, 31)):
            accuracy = [np.mean([right[m, pair] for pair in picks]) for m in range(4)]
            for a in range(4):
                for b in range(4):
                    wins[a, b] += accuracy[a] > accuracy[b] + 1e-12
    assert result.n_wins.tolist() == wins.tolist()
    on_par = [bool(wins[result.winner, m] < 0.95 * 60) for m in range(4)]
    assert result.is_on_par.tolist() == on_par


def test_agreements_of_the_two_tie_rules_are_worked_out_by_hand() -> None:
    human = np.array([3.0, 3.0, 1.0, np.nan])
    metrics = np.array([[2.0, 2.0, 1.0, 9.0], [1.0, 2.0, 2.0, 9.0]])
    # pairs (0,1) tied by human scores, (0,2), (1,2)
    assert pair_agreements(human, metrics).tolist() == [[True, True, True], [False, False, False]]
    assert pair_agreements(human, metrics, "tship").tolist() == [[True, True], [False, False]]


def test_arguments_that_make_no_sense_are_refused() -> None:
    human, metrics = scores(0, 0.0)
    statistic = any_resample(human, metrics, lambda h, m, origins: m.mean(axis=(1, 2)))
    rng = np.random.default_rng(0)
    refused("unknown resample 'rows'", bootstrap, statistic, "rows", rng=rng)
    refused("n_draws", bootstrap, statistic, rng=rng, n_draws=0)
    refused("unknown interval 'bca'", bootstrap(statistic, rng=rng, n_draws=5).interval, 0, method="bca")
    refused("unknown statistic 'tau_x'", item_resample, human, metrics, "tau_x")
    refused("2 metrics or more", system_pair_bootstrap, np.ones((1, 4), dtype=bool), rng=rng)
    with pytest.raises(ValueError, match=r"no \(system, segment\) pair has a human score"):
        pearson_resample(np.full((2, 3), np.nan), metrics[:, :2, :3])


def test_a_centred_interval_lies_as_far_below_the_value_as_the_resamples_lie_above_it() -> None:
    """Draws 1, 3: a bias of 1 around the value 1, a variance of 2; so 0 and 1.96 times √(2 + 1) on either side."""
    found = interval(1.0, [1.0, 3.0], method="centred")
    assert [found.low, found.high] == pytest.approx([-1.959964 * 3**0.5, 1.959964 * 3**0.5])


def test_a_normal_interval_is_the_value_and_two_standard_deviations() -> None:
    """Draws of 1, 2 and 3 have standard deviation 1; where they lie does not matter."""
    found = interval(7.0, [1.0, 2.0, 3.0, np.nan], method="normal")
    assert (found.low, found.high) == pytest.approx((7 - 1.959964, 7 + 1.959964), abs=1e-6)
    assert np.isnan(interval(7.0, [1.0], method="normal").low)
    assert np.isnan(interval(np.nan, [1.0, 2.0], method="normal").low)


@pytest.mark.parametrize("measure", ["pa", "pearson", "spearman", "kendall", "tau_ap"])
def test_systems_are_resampled_block_by_block_or_many_blocks_at_once_alike(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    human, metrics = rng.integers(0, 4, size=(7, 1)).astype(float), rng.normal(size=(3, 7, 1))
    statistic = accuracy_resample(human, metrics) if measure == "pa" else system_resample(human, metrics, measure)
    drawn = []
    for at_once in (0, 1 << 20):
        monkeypatch.setattr("metaeval.kernels.resampling.bootstrap._AT_ONCE", at_once)
        drawn.append(bootstrap(statistic, "systems", rng=np.random.default_rng(0), n_draws=110).draws)
    assert drawn[0].shape == (3, 110)
    np.testing.assert_array_equal(*drawn)
