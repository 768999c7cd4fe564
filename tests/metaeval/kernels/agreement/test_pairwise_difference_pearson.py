from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import pairwise_difference_pearson
from tests import naive
from tests.metaeval.kernels.strategies import Scores, scores

NAN = np.nan


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


@given(scores(), st.integers(-5, 5), st.integers(-20, 20))
def test_a_shift_of_each_segment_and_a_power_of_two_change_nothing(drawn: Scores, shift: int, power: int) -> None:
    metrics = np.round(drawn.metrics * 1024) / 1024  # so that nothing is lost in the shift
    before = pairwise_difference_pearson(drawn.human, metrics)
    shifted = metrics + shift * np.arange(drawn.human.shape[1])
    after = pairwise_difference_pearson(drawn.human, shifted * 2.0**power)
    np.testing.assert_allclose(after, before, atol=1e-7)


def test_the_order_of_systems_and_segments_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    human, metrics = rng.normal(size=(9, 200)), rng.normal(size=(3, 9, 200))
    human[rng.random(human.shape) < 0.2] = NAN
    systems, segments = rng.permutation(9), rng.permutation(200)
    before = pairwise_difference_pearson(human, metrics)
    after = pairwise_difference_pearson(human[systems][:, segments], metrics[:, systems][:, :, segments])
    np.testing.assert_allclose(after, before, atol=1e-12)
