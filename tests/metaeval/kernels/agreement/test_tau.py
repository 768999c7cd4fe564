from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels import (
    acc23,
    average,
    group_labels,
    group_mean,
    pair_counts,
    tabular,
    tau_23,
    tau_a,
    tau_b,
    tau_c,
)
from metaeval.kernels.agreement.tau import TAUS
from tests import naive
from tests.helpers import refused
from tests.metaeval.kernels.strategies import Scores, scores

NAN = np.nan
X = None
TABLES: dict[str, list[list[float | None]]] = {
    "tau_10": [[1, -1, -1], [X, X, X], [-1, -1, 1]],
    "tau_13": [[1, X, -1], [X, X, X], [-1, X, 1]],
    "tau_14": [[1, 0, -1], [X, X, X], [-1, 0, 1]],
    "tau_23": [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]],
    "acc23": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "tau_a": [[1, 0, -1], [0, 0, 0], [-1, 0, 1]],
}


def one_group(human: list[float], *metrics: list[float]) -> dict[str, list[float]]:
    counts = pair_counts([human], [[metric] for metric in metrics], np.zeros((1, len(human)), dtype=int))
    return {name: function(counts)[:, 0].tolist() for name, function in TAUS.items()}


def test_the_example_of_ties_matter_figure_2_comes_out() -> None:
    # h has 6 tied pairs of 15; m1 ties the same six and swaps the last two cells; m2 has no tie
    values = one_group([0, 0, 0, 0, 1, 2], [0, 0, 0, 0, 2, 1], [0, 1, 2, 3, 4, 5])
    # m1: C = 8, D = 1, Thm = 6; m2: C = 9, Th = 6
    assert values["tau_a"] == pytest.approx([7 / 15, 9 / 15])
    assert values["tau_b"] == pytest.approx([7 / 9, 9 / np.sqrt(9 * 15)])
    assert values["tau_c"] == pytest.approx([2 * 7 / 24, 2 * 9 / 24])  # printed without the 2: .29 and .38
    assert [round(v / 2 + 1e-12, 2) for v in values["tau_c"]] == [0.29, 0.38]
    for name in ("tau_10", "tau_13", "tau_14"):
        assert values[name] == pytest.approx([7 / 9, 1.0])
    assert values["tau_23"] == pytest.approx([13 / 15, 3 / 15])
    assert values["acc23"] == pytest.approx([14 / 15, 9 / 15])


def test_a_constant_human_vector_leaves_only_the_tie_aware_statistics_defined() -> None:
    values = {name: v[0] for name, v in one_group([1, 1, 1], [1, 2, 3]).items()}
    for name in ("tau_b", "tau_c", "tau_10", "tau_13", "tau_14"):
        assert np.isnan(values[name])
    assert (values["tau_a"], values["tau_23"], values["acc23"]) == (0, -1, 0)


def test_a_constant_metric_has_the_documented_values() -> None:
    values = {name: v[0] for name, v in one_group([1, 2, 3], [5, 5, 5]).items()}
    for name in ("tau_b", "tau_c", "tau_13"):
        assert np.isnan(values[name])
    assert (values["tau_10"], values["tau_14"]) == (-1, 0)
    assert (values["tau_a"], values["tau_23"], values["acc23"]) == (0, -1, 0)


@given(scores(extreme=True), st.sampled_from([0.0, 0.1, 1.0]))
def test_every_tau_equals_its_formula_over_explicit_pairs(drawn: Scores, epsilon: float) -> None:
    counts = pair_counts(drawn.human, drawn.metrics, drawn.labels, epsilon)
    for name, function in TAUS.items():
        if name == "tau_c" and epsilon:
            continue
        values = function(counts)
        for metric, row in enumerate(drawn.metrics):
            cells = naive.groups(drawn.human, row, drawn.labels).values()
            expected = [naive.tau(name, group, epsilon) for group in cells]
            np.testing.assert_allclose(values[metric], expected, rtol=1e-14, atol=1e-15)


@given(scores(missing=False))
def test_tau_b_and_tau_c_equal_scipy(drawn: Scores) -> None:
    counts = pair_counts(drawn.human, drawn.metrics, group_labels("none", drawn.human.shape))
    for variant, function in (("b", tau_b), ("c", tau_c)):
        for metric, values in enumerate(drawn.metrics):
            expected = stats.kendalltau(drawn.human.ravel(), values.ravel(), variant=variant).statistic
            np.testing.assert_allclose(function(counts)[metric, 0], expected, atol=1e-12)


@given(scores(), st.floats(0, 3))
def test_tau_23_is_twice_acc23_minus_one(drawn: Scores, epsilon: float) -> None:
    counts = pair_counts(drawn.human, drawn.metrics, drawn.labels, epsilon)
    np.testing.assert_allclose(tau_23(counts), 2 * acc23(counts) - 1, atol=1e-15)


@given(scores())
def test_the_tables_of_the_wmt_family_give_the_same_taus(drawn: Scores) -> None:
    counts = pair_counts(drawn.human, drawn.metrics, drawn.labels, 0.1)
    for name, table in TABLES.items():
        np.testing.assert_allclose(tabular(counts, table), TAUS[name](counts), atol=1e-15)


def test_a_table_must_be_three_by_three_and_know_no_first_cell() -> None:
    counts = pair_counts([[0.0, 1.0]], [[[0.0, 1.0]]], [[0, 0]])
    refused("3 rows", tabular, counts, [[1, 0], [0, 1]])
    refused("must be equal: pairs are unordered", tabular, counts, [[1, 0, 0], [0, 1, 0], [0, 0, 0]])


def test_tau_c_needs_exact_ties_and_whole_groups() -> None:
    refused("epsilon = 0 only", tau_c, pair_counts([[0.0, 1.0]], [[[0.0, 1.0]]], [[0, 0]], 0.5))
    refused("whole groups", tau_c, pair_counts([[0.0, 1.0]], [[[0.0, 1.0]]], [[0, 0]]).pooled())


def test_groups_that_are_not_defined_are_dropped_zeroed_or_dropped_for_all_metrics() -> None:
    values = np.array([[0.5, NAN, 0.1], [0.4, 0.2, NAN], [NAN, NAN, NAN]])
    drop = group_mean(values)
    assert drop.value[:2] == pytest.approx([0.3, 0.3])
    assert np.isnan(drop.value[2])
    assert drop.n_groups.tolist() == [2, 2, 0]
    assert drop.n_groups_nan.tolist() == [1, 1, 3]
    zero = group_mean(values, "zero")
    assert zero.value == pytest.approx([0.2, 0.2, 0.0])
    common = group_mean(values[:2], "common")
    assert common.value == pytest.approx([0.5, 0.4])
    assert common.n_groups.tolist() == [1, 1]
    refused("unknown on_nan 'skip'", group_mean, values, "skip")


def test_pooling_pairs_weighs_groups_by_their_pairs() -> None:
    # segment 0: two systems, 1 pair, right; segment 1: three systems, 3 pairs, all wrong
    human = [[0.0, 0.0], [1.0, 1.0], [NAN, 2.0]]
    metric = [[[0.0, 2.0], [1.0, 1.0], [NAN, 0.0]]]
    counts = pair_counts(human, metric, group_labels("item", (3, 2)))
    assert average(tau_a, counts).value.tolist() == [0.0]
    assert average(tau_a, counts, pool="pairs").value.tolist() == [-0.5]
    refused("unknown pool 'all'", average, tau_a, counts, pool="all")


def test_tau_b_of_a_large_group_without_ties_is_exactly_one() -> None:
    x = np.arange(3000.0)[np.newaxis]
    counts = pair_counts(x, x[np.newaxis], np.zeros((1, 3000), dtype=int))
    assert tau_b(counts).tolist() == [[1.0]]
