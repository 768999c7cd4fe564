"""Correlations and the correlation of differences: by hand, against SciPy and plain loops, and their properties."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels import (
    correlation_matrix,
    group_labels,
    group_mean,
    kendall,
    pairwise_difference_pearson,
    pearson,
    spearman,
    system_correlation,
)
from metaeval.kernels.agreement.correlation import Correlation, average_ranks
from tests import naive
from tests.metaeval.kernels.strategies import Scores, scores

NAN = np.nan


def test_pearson_of_three_cells_is_worked_out_by_hand() -> None:
    # centred: -1 0 1 and -4/3 -1/3 5/3; products 4/3 + 5/3 = 3; squares 2 and 42/9
    value = pearson([[1.0, 2.0, 3.0]], [[[0.0, 1.0, 3.0]]], [[0, 0, 0]])
    assert value[0, 0] == pytest.approx(3 / np.sqrt(2 * 42 / 9))


@given(scores())
def test_pearson_equals_exact_fractions(drawn: Scores) -> None:
    values = pearson(drawn.human, drawn.metrics, drawn.labels)
    for metric, row in enumerate(drawn.metrics):
        for place, cells in enumerate(naive.groups(drawn.human, row, drawn.labels).values()):
            expected = naive.pearson([h for h, _ in cells], [m for _, m in cells])
            # a spread of a few rounding errors has no digits left to agree on
            spread = min(np.ptp([h for h, _ in cells]), np.ptp([m for _, m in cells]))
            if not 0 < spread < 1e-6:
                np.testing.assert_allclose(values[metric, place], expected, atol=1e-9)


@pytest.mark.slow
@given(scores())
def test_spearman_is_pearson_of_average_ranks(drawn: Scores) -> None:
    values = spearman(drawn.human, drawn.metrics, drawn.labels)
    for metric, row in enumerate(drawn.metrics):
        for place, cells in enumerate(naive.groups(drawn.human, row, drawn.labels).values()):
            human, other = (naive.ranks(list(side)) for side in zip(*cells, strict=True))
            np.testing.assert_allclose(values[metric, place], naive.pearson(human, other), atol=1e-12)


@given(scores())
def test_kendall_is_tau_b(drawn: Scores) -> None:
    values = kendall(drawn.human, drawn.metrics, drawn.labels)
    for metric, row in enumerate(drawn.metrics):
        cells = naive.groups(drawn.human, row, drawn.labels).values()
        expected = [naive.tau("tau_b", group) for group in cells]
        np.testing.assert_allclose(values[metric], expected, atol=1e-14)


@pytest.mark.parametrize("value", [0.1, 1e9 / 3, -1e-300, 0.0])
def test_a_constant_vector_is_detected_exactly(value: float) -> None:
    # the mean of equal numbers is often not that number; the deviations are then not 0
    human = np.full((7, 1), value)
    metric = np.arange(7.0).reshape(1, 7, 1)
    labels = np.zeros((7, 1), dtype=int)
    for function in (pearson, spearman, kendall):
        assert np.isnan(function(human, metric, labels)).all()
        assert np.isnan(function(metric[0], human[np.newaxis], labels)).all()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_very_large_and_very_small_scores_neither_overflow_nor_vanish(scale: float) -> None:
    human = np.array([[1.0, 2.0, 4.0]])
    assert pearson(human, scale * human[np.newaxis], [[0, 0, 0]])[0, 0] == pytest.approx(1.0, abs=1e-15)


@given(scores(), st.integers(0, 2**32 - 1))
def test_correlations_do_not_depend_on_the_order_of_cells(drawn: Scores, seed: int) -> None:
    rng = np.random.default_rng(seed)
    systems, segments = rng.permutation(drawn.human.shape[0]), rng.permutation(drawn.human.shape[1])
    human, labels = drawn.human[systems][:, segments], drawn.labels[systems][:, segments]
    metrics = drawn.metrics[:, systems][:, :, segments]
    for function in (pearson, spearman, kendall):
        before = group_mean(function(drawn.human, drawn.metrics, drawn.labels))
        after = group_mean(function(human, metrics, labels))
        np.testing.assert_allclose(after.value, before.value, atol=1e-12)
        assert (after.n_groups == before.n_groups).all()


def test_system_correlations_equal_scipy() -> None:
    rng = np.random.default_rng(1)
    human = np.round(rng.normal(size=12), 1)
    metrics = np.round(human + rng.normal(size=(4, 12)), 1)
    oracles: dict[Correlation, object] = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
    }
    for name, oracle in oracles.items():
        expected = [oracle(human, metric).statistic for metric in metrics]  # type: ignore[operator]
        np.testing.assert_allclose(system_correlation(human, metrics, name), expected, atol=1e-12)


def test_an_unjudged_system_is_left_out() -> None:
    with_missing = system_correlation([1.0, NAN, 2.0, 4.0], [[1.0, NAN, 3.0, 2.0]], "pearson")
    without = system_correlation([1.0, 2.0, 4.0], [[1.0, 3.0, 2.0]], "pearson")
    assert with_missing == without
    assert np.isnan(system_correlation([1.0, NAN], [[1.0, 2.0]], "pearson"))


def test_an_unknown_correlation_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown correlation 'r'; expected one of pearson, spearman, kendall"):
        system_correlation([1.0, 2.0], [[1.0, 2.0]], "r")  # type: ignore[arg-type]


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall"])
def test_the_matrix_holds_each_pair_of_metrics_averaged_over_groups(statistic: Correlation) -> None:
    rng = np.random.default_rng(7)
    metrics = np.round(rng.normal(size=(4, 6, 9)), 1)
    metrics[2, :, 3] = 0.5  # constant in one group: that group does not count for metric 2
    metrics[3] = 1.0
    labels = group_labels("item", (6, 9))
    labels[0, 5] = -1
    matrix = correlation_matrix(metrics, labels, statistic)
    function = {"pearson": pearson, "spearman": spearman, "kendall": kendall}[statistic]
    for i in range(3):
        for j in range(3):
            expected = group_mean(function(metrics[i], metrics[j : j + 1], labels)).value[0]
            assert matrix[i, j] == pytest.approx(expected, abs=1e-12)
    assert np.isnan(matrix[3]).all()
    assert (matrix[:3, :3] == matrix[:3, :3].T).all()


@given(st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=6))
def test_average_ranks_equal_scipy(rows: list[list[int]]) -> None:
    values = np.array(rows, dtype=float)
    np.testing.assert_array_equal(average_ranks(values), stats.rankdata(values, axis=-1))


def test_values_do_not_depend_on_the_batch_size(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    human, metrics = rng.normal(size=(5, 40)), rng.normal(size=(3, 5, 40))
    labels = group_labels("item", human.shape)
    whole = [f(human, metrics, labels) for f in (pearson, spearman)], correlation_matrix(metrics, labels)
    monkeypatch.setattr(sys.modules["metaeval.kernels.agreement.correlation"], "BATCH_VALUES", 30)
    pieces = [f(human, metrics, labels) for f in (pearson, spearman)], correlation_matrix(metrics, labels)
    np.testing.assert_array_equal(whole[0], pieces[0])
    np.testing.assert_allclose(whole[1], pieces[1], atol=1e-14)


def test_two_segments_are_worked_out_by_hand() -> None:
    # differences: segment 0: h 1, m 2; segment 1: h 2, m 1 (and their negatives): 4 / 5
    value = pairwise_difference_pearson([[0.0, 0.0], [1.0, 2.0]], [[[5.0, 7.0], [7.0, 8.0]]])
    assert value[0] == pytest.approx(4 / 5)


@given(scores())
def test_the_closed_form_equals_pearson_over_explicit_pairs(drawn: Scores) -> None:
    values = pairwise_difference_pearson(drawn.human, drawn.metrics)
    for value, metric in zip(values, drawn.metrics, strict=True):
        human_gaps, metric_gaps = naive.pairwise_differences(drawn.human, metric)
        expected = naive.pearson(human_gaps, metric_gaps) if human_gaps else NAN
        largest = [float(max(map(abs, gaps), default=0)) for gaps in (human_gaps, metric_gaps)]
        if all(gap == 0 or gap > 1e-6 for gap in largest):  # below, only rounding errors differ
            assert value == pytest.approx(0.0 if np.isnan(expected) else expected, abs=1e-9)


@pytest.mark.parametrize("value", [0.1, 1e9 / 3, 0.0])
def test_a_metric_that_is_constant_within_segments_gets_exactly_0(value: float) -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(size=(7, 3))
    metric = np.repeat([[value, 2 * value + 0.3, -value]], 7, axis=0)
    assert pairwise_difference_pearson(human, metric[np.newaxis])[0] == 0.0
    assert pairwise_difference_pearson(metric, human[np.newaxis])[0] == 0.0


def test_a_segment_with_one_judged_cell_adds_nothing() -> None:
    human = np.array([[0.0, 3.0], [1.0, NAN], [5.0, NAN]])
    metric = np.array([[[1.0, 9.0], [2.0, 0.0], [2.5, 0.0]]])
    with_it = pairwise_difference_pearson(human, metric)
    without = pairwise_difference_pearson(human[:, :1], metric[:, :, :1])
    np.testing.assert_allclose(with_it, without, atol=1e-15)


def test_nothing_judged_gives_0() -> None:
    assert pairwise_difference_pearson([[NAN], [NAN]], [[[1.0], [2.0]]]).tolist() == [0.0]


def test_the_order_of_systems_and_segments_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    human, metrics = rng.normal(size=(9, 200)), rng.normal(size=(3, 9, 200))
    human[rng.random(human.shape) < 0.2] = NAN
    systems, segments = rng.permutation(9), rng.permutation(200)
    before = pairwise_difference_pearson(human, metrics)
    after = pairwise_difference_pearson(human[systems][:, segments], metrics[:, systems][:, :, segments])
    np.testing.assert_allclose(after, before, atol=1e-12)
