"""The pairs test of acc_eq and tau_eq."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.agreement.pair_counts import pair_counts
from metaeval.kernels.agreement.tau import acc23, average, tau_23
from metaeval.kernels.arrays.grouping import group_labels
from metaeval.kernels.calibration.tie_calibration import calibrate
from metaeval.kernels.resampling.pair_outcomes import mcnemar_p_values, pair_outcome_p_values, pair_outcomes
from tests import naive_significance as naive
from tests.helpers import refused

Floats = npt.NDArray[np.float64]


def scores(seed: int, missing: float = 0.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    human = rng.integers(-3, 1, (4, 7)).astype(float)
    metrics = np.round(human + rng.normal(0, 2, (3, 4, 7)), 1)
    human[rng.random(human.shape) < missing] = np.nan
    return human, metrics


@given(
    seed=st.integers(0, 2**32 - 1), by=st.sampled_from(["none", "item", "system"]), missing=st.sampled_from([0.0, 0.3])
)
def test_counts_equal_a_loop_over_all_pairs(seed: int, by: str, missing: float) -> None:
    human, metrics = scores(seed, missing)
    labels = group_labels(by, human.shape)  # type: ignore[arg-type]
    epsilon = np.array([0.0, 0.3, 1.1])
    expected = naive.pairs_only_right(human, metrics, labels, epsilon)
    outcomes = pair_outcomes(human, metrics, labels, epsilon)
    assert outcomes.n_only.sum(axis=0).tolist() == expected.tolist()


@pytest.mark.parametrize(("by", "missing"), [("item", 0.0), ("item", 0.3), ("system", 0.3), ("none", 0.3)])
def test_values_equal_the_statistic_at_the_given_thresholds(by: str, missing: float) -> None:
    human, metrics = scores(1, missing)
    labels = group_labels(by, human.shape)  # type: ignore[arg-type]
    epsilon = np.array([0.0, 0.3, 1.1])
    counts = pair_counts(human, metrics, labels, epsilon)
    run = partial(pair_outcome_p_values, human, metrics, labels, epsilon, rng=np.random.default_rng(0), n_draws=1)
    np.testing.assert_allclose(run().values, average(acc23, counts).value)
    np.testing.assert_allclose(run(statistic="tau_23").values, average(tau_23, counts).value)


def test_the_exact_p_is_worked_out_by_hand() -> None:
    # one segment, 3 systems: metric 0 has all three pairs right, metric 1 only the pair of the last two
    human = np.array([[3.0], [2.0], [1.0]])
    metrics = np.array([[[3.0], [2.0], [1.0]], [[0.0], [2.0], [1.0]]])
    result = pair_outcome_p_values(human, metrics, group_labels("item", human.shape), 0.0)
    assert result.is_exact
    assert result.n_only.tolist() == [[0, 2], [0, 0]]
    # P(Bin(2, ½) ≥ 2) and P(Bin(2, ½) ≥ 0)
    assert result.p[0, 1] == pytest.approx(0.25)
    assert result.p[1, 0] == 1.0
    two_sided = pair_outcome_p_values(human, metrics, group_labels("item", human.shape), 0.0, alternative="two-sided")
    assert two_sided.p[0, 1] == two_sided.p[1, 0] == pytest.approx(0.5)


@given(a=st.integers(0, 400), b=st.integers(0, 400))
def test_the_closed_form_equals_the_binomial_test(a: int, b: int) -> None:
    n_only = np.array([[0, a], [b, 0]])
    expected = stats.binom.sf(a - 1, a + b, 0.5)
    assert mcnemar_p_values(n_only)[0, 1] == pytest.approx(expected, rel=1e-9)
    two_sided = stats.binomtest(a, a + b, 0.5).pvalue if a + b else 1.0
    assert mcnemar_p_values(n_only, "two-sided")[0, 1] == pytest.approx(two_sided, rel=1e-9)


def test_drawn_and_exact_p_agree_where_groups_have_one_size() -> None:
    human, metrics = scores(3)
    labels = group_labels("item", human.shape)
    result = pair_outcome_p_values(
        human, metrics, labels, 0.1, rng=np.random.default_rng(0), n_draws=8000, keep_null=True
    )
    assert result.is_exact
    rows, columns = np.triu_indices(3, 1)
    observed = result.values[rows] - result.values[columns]
    drawn = np.mean(result.null >= observed[:, None] - 1e-9, axis=1)
    # binomial standard error at most 0.0056
    assert np.abs(drawn - result.p[rows, columns]).max() < 0.02


def test_drawn_p_of_unequal_groups_equals_swapping_every_pair() -> None:
    human, metrics = scores(5, 0.35)
    labels = group_labels("item", human.shape)
    outcomes = pair_outcomes(human, metrics, labels, 0.1)
    assert len(outcomes.weights) > 1
    result = pair_outcome_p_values(human, metrics, labels, 0.1, rng=np.random.default_rng(0), n_draws=8000)
    assert not result.is_exact
    # a coin for every single pair on which one metric alone is right
    rng = np.random.default_rng(1)
    weight = np.repeat(outcomes.weights, (outcomes.n_only + outcomes.n_only.transpose(0, 2, 1))[:, 0, 1])
    coins = rng.choice([-1.0, 1.0], (8000, weight.size)) @ weight
    observed = outcomes.weights @ (outcomes.n_only[:, 0, 1] - outcomes.n_only[:, 1, 0])
    # two binomial standard errors of at most 0.0056 each
    assert abs(np.mean(coins >= observed - 1e-9) - result.p[0, 1]) < 0.03


def test_swapping_the_metrics_mirrors_p_also_when_drawn() -> None:
    human, metrics = scores(5, 0.35)
    labels = group_labels("item", human.shape)
    for alternative in ("greater", "two-sided"):
        run = partial(pair_outcome_p_values, n_draws=500, alternative=alternative)
        p = run(human, metrics[:2], labels, 0.1, rng=np.random.default_rng(0)).p
        mirrored = run(human, metrics[1::-1], labels, 0.1, rng=np.random.default_rng(0)).p
        # the mirrored draws are the complement of binomial heads: equal in distribution
        assert abs(p[0, 1] - mirrored[1, 0]) < 0.1
    exact = pair_outcome_p_values(human[:, :1], metrics[:2, :, :1], labels[:, :1], 0.1).p
    mirrored = pair_outcome_p_values(human[:, :1], metrics[1::-1, :, :1], labels[:, :1], 0.1).p
    assert np.array_equal(exact, mirrored[::-1, ::-1], equal_nan=True)


def test_calibrated_thresholds_stay_with_their_metric() -> None:
    human, metrics = scores(9)
    labels = group_labels("item", human.shape)
    calibration = calibrate(human, metrics, labels, "acc23")
    result = pair_outcome_p_values(human, metrics, labels, calibration.epsilon)
    np.testing.assert_allclose(result.values, calibration.value)


def test_arguments_that_make_no_sense_are_refused() -> None:
    human, metrics = scores(5, 0.35)
    labels = group_labels("item", human.shape)
    refused("rng is needed", pair_outcome_p_values, human, metrics, labels, 0.1)
    refused("at least 2", pair_outcome_p_values, human, metrics[:1], labels, 0.1)
    refused("unknown statistic 'tau_b'", pair_outcome_p_values, human, metrics, labels, 0.1, statistic="tau_b")
    refused("no group", pair_outcome_p_values, human, metrics, np.full(human.shape, -1), 0.1)
