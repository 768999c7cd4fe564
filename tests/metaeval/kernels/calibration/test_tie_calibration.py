from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import acc23, average, calibrate, calibration_curve, group_labels, pair_counts
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import group_scores
from metaeval.kernels.calibration.tie_calibration import ListedPairs, ScorePairs, pair_weights
from tests import naive
from tests.helpers import refused
from tests.metaeval.kernels.strategies import Scores, scores

MODULE = sys.modules["metaeval.kernels.calibration.tie_calibration"]
SOURCES = sys.modules["metaeval.kernels.calibration.tie_calibration"]
COUNTS = sys.modules["metaeval.kernels.agreement.pair_counts"]
NAN = np.nan
N_LARGE = 8000


def assert_equals_enumeration(drawn: Scores) -> None:
    found = calibrate(drawn.human, drawn.metrics, drawn.labels)
    for metric, values in enumerate(drawn.metrics):
        expected = naive.calibration(drawn.human, values, drawn.labels)
        if expected is None:
            assert np.isnan([found.value[metric], found.epsilon[metric], found.epsilon_high[metric]]).all()
        else:
            value, epsilon, epsilon_high = expected
            assert found.value[metric] == pytest.approx(float(value), abs=1e-12)
            assert (found.epsilon[metric], found.epsilon_high[metric]) == (epsilon, epsilon_high)


def tiny_pieces(patch: pytest.MonkeyPatch, listed: bool, n_counted: int) -> None:
    """Make every limit so small that a handful of pairs needs histograms, finer histograms and chunks."""
    patch.setattr(ScorePairs, "n_counted", n_counted)
    patch.setattr(ScorePairs, "n_gathered", 0 if n_counted else 10**9)
    patch.setattr(MODULE, "LISTED_PAIRS", 10**9 if listed else 0)
    for source, n_pairs, n_bins in ((ListedPairs, 2, 3), (ScorePairs, 3, 4)):
        patch.setattr(source, "n_enumerable", n_pairs)
        patch.setattr(source, "n_bins", n_bins)
    patch.setattr(SOURCES, "CHUNK_PAIRS", 5)
    patch.setattr(SOURCES, "BLOCK_PAIRS", 7)
    patch.setattr(COUNTS, "DENSE_SIZE", 2)


def test_the_pairs_of_a_large_campaign_are_listed_and_those_of_all_its_scores_are_not() -> None:
    # 60 systems and 2,000 segments: going through 2,000 small groups one by one takes 13 times as long
    scores = np.random.default_rng(0).normal(size=(60, 2000))
    for by, kind in (("item", ListedPairs), ("none", ScorePairs)):
        grouped = group_scores(scores, scores[np.newaxis], group_labels(by, scores.shape))  # type: ignore[arg-type]
        source = MODULE._source_of(grouped, np.ones(len(grouped.groups.labels), dtype=np.int64))(0)
        assert type(source) is kind


def test_the_best_threshold_of_three_cells_is_found_by_hand() -> None:
    # pairs: tied humans 0.5 apart; right ones 1.5 and 2 apart. From 0.5 on all three are right, to 1.5
    found = calibrate([[0.0, 0.0, 1.0]], [[[1.0, 1.5, 3.0]]], [[0, 0, 0]])
    assert (found.value[0], found.epsilon[0], found.epsilon_high[0]) == (1.0, 0.5, 1.5)
    assert found.counts.n_tied_both.tolist() == [[1]]
    assert (found.n_groups, found.statistic) == (1, "acc23")


def test_equal_differences_become_ties_together() -> None:
    # a tied and a right pair both 1 apart: no threshold can win one without losing the other
    found = calibrate([[0.0, 0.0], [0.0, 1.0]], [[[0.0, 5.0], [1.0, 6.0]]], group_labels("item", (2, 2)))
    assert (found.value[0], found.epsilon[0]) == (0.5, 0.0)
    assert found.epsilon_high[0] == np.inf


def test_a_threshold_stays_best_until_the_first_worse_one_not_the_next_difference() -> None:
    # the wrong pair 2 apart changes nothing; the right one 3 apart does
    found = calibrate([[0.0, 0.0, 1.0]], [[[4.0, 3.0, 6.0]]], [[0, 0, 0]])
    assert (found.epsilon[0], found.epsilon_high[0]) == (1.0, 2.0)
    wrong = calibrate([[0.0, 0.0, 1.0]], [[[4.0, 3.0, 1.0]]], [[0, 0, 0]])
    assert (wrong.value[0], wrong.epsilon[0], wrong.epsilon_high[0]) == (pytest.approx(1 / 3), 1.0, np.inf)


def test_without_human_ties_the_threshold_is_0() -> None:
    found = calibrate([[0.0, 1.0, 2.0]], [[[3.0, 4.0, 1.0]]], [[0, 0, 0]])
    assert (found.epsilon[0], found.epsilon_high[0]) == (0.0, 1.0)


def test_a_constant_metric_gets_threshold_0_for_good() -> None:
    found = calibrate([[0.0, 0.0, 2.0]], [[[3.0, 3.0, 3.0]]], [[0, 0, 0]])
    assert (found.value[0], found.epsilon[0], found.epsilon_high[0]) == (pytest.approx(1 / 3), 0.0, np.inf)


def test_no_group_gives_nan() -> None:
    found = calibrate([[0.0], [NAN]], [[[1.0], [2.0]]], [[0], [0]])
    assert np.isnan([found.value[0], found.epsilon[0], found.epsilon_high[0]]).all()
    assert found.n_groups == 0


def test_tau_23_has_the_threshold_of_acc23() -> None:
    rng = np.random.default_rng(3)
    human, metrics = rng.integers(0, 3, (5, 20)) * 1.0, rng.normal(size=(3, 5, 20))
    labels = group_labels("item", human.shape)
    acc, tau = calibrate(human, metrics, labels), calibrate(human, metrics, labels, "tau_23")
    assert (acc.epsilon == tau.epsilon).all()
    np.testing.assert_allclose(tau.value, 2 * acc.value - 1, atol=1e-15)


def test_an_unknown_statistic_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown statistic 'tau_b'; expected one of acc23, tau_23"):
        calibrate([[0.0, 1.0]], [[[0.0, 1.0]]], [[0, 0]], "tau_b")  # type: ignore[arg-type]


@given(scores(max_systems=4, max_segments=4, extreme=True))
def test_listed_pairs_give_what_trying_every_threshold_gives(drawn: Scores) -> None:
    assert_equals_enumeration(drawn)


@given(scores(max_systems=4, max_segments=4, extreme=True))
def test_sorted_cells_give_what_trying_every_threshold_gives(drawn: Scores) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "LISTED_PAIRS", 0)
        assert_equals_enumeration(drawn)


PIECES = st.sampled_from([(True, 0), (False, 0), (False, 2), (False, 4)])
"""Whether pairs are listed, and how many bins are counted at their edges."""


@given(scores(max_systems=4, max_segments=4, extreme=True), PIECES)
def test_histograms_within_histograms_give_what_trying_every_threshold_gives(
    drawn: Scores, pieces: tuple[bool, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        tiny_pieces(patch, *pieces)
        assert_equals_enumeration(drawn)


@given(scores(max_systems=5, max_segments=5), st.integers(0, 2**32 - 1))
def test_the_threshold_does_not_depend_on_the_order_of_systems_and_segments(drawn: Scores, seed: int) -> None:
    rng = np.random.default_rng(seed)
    systems, segments = rng.permutation(drawn.human.shape[0]), rng.permutation(drawn.human.shape[1])
    before = calibrate(drawn.human, drawn.metrics, drawn.labels)
    after = calibrate(
        drawn.human[systems][:, segments], drawn.metrics[:, systems][:, :, segments], drawn.labels[systems][:, segments]
    )
    np.testing.assert_array_equal(after.epsilon, before.epsilon)
    np.testing.assert_array_equal(after.epsilon_high, before.epsilon_high)
    np.testing.assert_allclose(after.value, before.value, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["none", "item", "system"])
def test_all_paths_agree_on_a_thousand_cells(by: str) -> None:
    rng = np.random.default_rng(11)
    human = -np.round(rng.gamma(0.5, 3, (8, 130)))
    human[rng.random(human.shape) < 0.2] = NAN
    noise = rng.normal(size=human.shape)
    signal = np.nan_to_num(human)
    metrics = np.stack([signal * 0.2 + noise, np.round(signal + 2 * noise), np.round(noise, 1), noise * 1e-9])
    metrics[3, 0, 0] = 1e9
    labels = group_labels(by, human.shape)  # type: ignore[arg-type]
    found = []
    listed = (10**9, 1 << 13, 1 << 11, 8, 0), (10**9, 500, 64, 8, 0)
    never, always, both = (0, 1 << 16, 1 << 14, 8, 10**9), (0, 300, 32, 8, 0), (0, 300, 32, 5, 20)
    for limit, pairs, bins, n_counted, n_gathered in (*listed, never, always, both):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(MODULE, "LISTED_PAIRS", limit)
            for source in (ListedPairs, ScorePairs):
                patch.setattr(source, "n_enumerable", pairs)
                patch.setattr(source, "n_bins", bins)
            patch.setattr(ScorePairs, "n_counted", n_counted)
            patch.setattr(ScorePairs, "n_gathered", n_gathered)
            found.append(calibrate(human, metrics, labels))
    for other in found[1:]:
        np.testing.assert_array_equal(other.epsilon, found[0].epsilon)
        np.testing.assert_array_equal(other.epsilon_high, found[0].epsilon_high)
        np.testing.assert_array_equal(other.value, found[0].value)
    # no threshold among those of a sample of pairs is better, and the interval is as good as its beginning
    gaps = np.abs(rng.choice(metrics[0].ravel(), 200) - rng.choice(metrics[0].ravel(), 200))
    curve = calibration_curve(human, metrics[:1], labels, gaps)
    assert (curve <= found[0].value[0] + 1e-12).all()
    low, high = found[0].epsilon[0], found[0].epsilon_high[0]
    inside, end = calibration_curve(human, metrics[:1], labels, [(low + high) / 2, high])[0]
    assert inside == pytest.approx(found[0].value[0], abs=1e-14)
    assert end < found[0].value[0]


def test_the_curve_is_the_statistic_at_each_threshold() -> None:
    human, metrics = [[0.0, 0.0, 1.0]], [[[1.0, 1.5, 3.0]], [[0.0, 0.0, 0.0]]]
    labels = [[0, 0, 0]]
    assert calibration_curve(human, metrics, labels, [0.0, 0.5, 2.0]) == pytest.approx(
        np.array([[2 / 3, 1.0, 1 / 3], [1 / 3, 1 / 3, 1 / 3]])
    )
    each = calibration_curve(human, metrics, labels, [[0.0], [9.0]], "tau_23")
    assert each == pytest.approx(np.array([[1 / 3], [-1 / 3]]))
    refused("epsilons must be", calibration_curve, human, metrics, labels, [[0.0]])


@given(scores(max_systems=5, max_segments=5, extreme=True), st.lists(st.sampled_from([0.0, 0.5, 1.0, 1e9]), min_size=1))
def test_the_curve_has_the_statistic_of_the_counts_at_every_threshold(drawn: Scores, chosen: list[float]) -> None:
    human, metrics, labels = drawn.human, drawn.metrics, drawn.labels
    gaps = np.abs(metrics.ravel()[:3] - metrics.ravel()[-1])  # of pairs, at which ">" and ">=" differ
    thresholds = np.array([*chosen, *gaps[np.isfinite(gaps)]])
    curve = calibration_curve(human, metrics, labels, thresholds)
    each = [average(acc23, pair_counts(human, metrics, labels, one)).value for one in thresholds]
    np.testing.assert_array_equal(curve, np.transpose(each))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metaeval.kernels.agreement.pair_counts.DENSE_SIZE", 2)
        np.testing.assert_array_equal(calibration_curve(human, metrics, labels, thresholds), curve)


def test_the_value_is_acc23_at_the_threshold_found() -> None:
    rng = np.random.default_rng(8)
    human, metrics = rng.integers(0, 3, (6, 30)) * 1.0, rng.normal(size=(4, 6, 30))
    labels = group_labels("item", human.shape)
    found = calibrate(human, metrics, labels)
    at_margin = average(acc23, pair_counts(human, metrics, labels, found.epsilon))
    np.testing.assert_array_equal(found.value, at_margin.value)


def test_weights_of_unequal_groups_are_whole_numbers_over_a_common_denominator() -> None:
    weights, tolerance = pair_weights(np.array([1, 3, 10, 3]))
    assert (weights.tolist(), tolerance) == ([30, 10, 3, 10], 0)
    equal, tolerance = pair_weights(np.array([78, 78]))
    assert (equal.tolist(), tolerance) == ([1, 1], 0)


def test_weights_that_have_no_common_denominator_in_64_bits_know_their_rounding_error() -> None:
    sizes = np.arange(2001, 2030)
    n_pairs = sizes * (sizes - 1) // 2
    weights, error = pair_weights(n_pairs)
    total = int((weights * n_pairs).sum())
    assert 0 <= (1 << 62) - total <= error + len(n_pairs)
    for weight, n in zip(weights.tolist(), n_pairs.tolist(), strict=True):
        assert 0 <= Fraction(1 << 62, len(n_pairs) * n) - weight < 2


@given(scores(max_systems=4, max_segments=4, extreme=True), PIECES)
def test_rounded_weights_give_what_trying_every_threshold_gives(drawn: Scores, pieces: tuple[bool, int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # weights of 3 digits instead of 18 mislead at every turn
        patch.setattr(MODULE, "LARGEST", 1 << 12)
        tiny_pieces(patch, *pieces)
        assert_equals_enumeration(drawn)


@pytest.mark.slow
def test_unequal_groups_without_a_common_denominator_are_calibrated_exactly() -> None:
    rng = np.random.default_rng(4)
    sizes = np.array([11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53])
    labels = np.repeat(np.arange(len(sizes)), sizes)[np.newaxis]
    human = rng.integers(0, 3, labels.shape) * 1.0
    metrics = np.round(rng.normal(size=(1, *labels.shape)) + 0.3 * human, 2)
    assert pair_weights(sizes * (sizes - 1) // 2)[1] > 0
    found = calibrate(human, metrics, labels)
    assert found.epsilon[0] < 0.5
    gaps = np.unique(np.abs(metrics[0, 0, :, np.newaxis] - metrics[0, 0]))
    gaps = gaps[gaps < 0.5]
    curve = calibration_curve(human, metrics, labels, gaps)[0]
    assert found.value[0] == curve.max()
    assert found.epsilon[0] == gaps[curve >= curve.max() - 1e-14].min()


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [3, 20, 5000])
def test_of_a_large_group_few_pairs_are_looked_at(kinds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    human = (
        -np.minimum(rng.geometric(0.4, (1, N_LARGE)), kinds - 1.0) if kinds < 5000 else rng.normal(size=(1, N_LARGE))
    )
    metrics = (human + rng.normal(0, 0.6, human.shape))[np.newaxis]
    looked: list[int] = []
    bin_gaps = SOURCES._bin_gaps

    def counting(gaps: Floats, *more: Any) -> Ints:
        looked.append(gaps.size)
        return bin_gaps(gaps, *more)

    monkeypatch.setattr(SOURCES, "_bin_gaps", counting)
    found = calibrate(human, metrics, np.zeros_like(human, dtype=np.int64))
    assert sum(looked) < N_LARGE * (N_LARGE - 1) / 2 / 4
    monkeypatch.setattr(ScorePairs, "n_gathered", 10**9)
    all_of_them = calibrate(human, metrics, np.zeros_like(human, dtype=np.int64))
    assert (found.value, found.epsilon, found.epsilon_high) == (
        *(all_of_them.value, all_of_them.epsilon, all_of_them.epsilon_high),
    )
