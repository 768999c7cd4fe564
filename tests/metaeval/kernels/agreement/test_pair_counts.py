from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import PairCounts, group_labels, pair_counts, thresholded_pair_counts
from tests import naive
from tests.helpers import refused
from tests.metaeval.kernels.strategies import Scores, scores

MODULE = sys.modules["metaeval.kernels.agreement.pair_counts"]
NAN = np.nan
NAMES = {"C": "n_concordant", "D": "n_discordant", "Th": "n_tied_human", "Tm": "n_tied_metric", "Thm": "n_tied_both"}


def assert_equal_counts(counts: PairCounts, drawn: Scores, epsilons: list[float]) -> None:
    for metric, epsilon in enumerate(epsilons):
        cells = naive.groups(drawn.human, drawn.metrics[metric], drawn.labels)
        assert counts.labels.tolist() == list(cells)
        assert counts.n_scores.tolist() == [len(group) for group in cells.values()]
        for place, group in enumerate(cells.values()):
            expected = naive.pair_counts(group, epsilon)
            assert {k: int(getattr(counts, name)[metric, place]) for k, name in NAMES.items()} == expected
            distinct = min(len({h for h, _ in group}), len({m for _, m in group}))
            assert counts.n_distinct[metric, place] == distinct


def test_the_five_outcomes_of_four_cells_are_counted_by_hand() -> None:
    # human 0 0 1 2, metric 5 5 5 7: pairs (0,1) tied on both; (0,2) (1,2) metric only; the rest concordant
    counts = pair_counts([[0.0, 0.0, 1.0, 2.0]], [[[5.0, 5.0, 5.0, 7.0]]], [[0, 0, 0, 0]])
    assert (counts.n_concordant.tolist(), counts.n_discordant.tolist()) == ([[3]], [[0]])
    assert (counts.n_tied_human.tolist(), counts.n_tied_metric.tolist()) == ([[0]], [[2]])
    assert counts.n_tied_both.tolist() == [[1]]
    assert counts.n_pairs.tolist() == [[6]]
    assert counts.n_distinct.tolist() == [[2]]


def test_a_difference_equal_to_the_threshold_is_a_tie() -> None:
    counts = pair_counts([[0.0, 1.0]], [[[0.0, 0.5]], [[0.0, 0.5]]], [[0, 0]], epsilon=[0.5, 0.49])
    assert counts.n_tied_metric.tolist() == [[1], [0]]
    assert counts.n_concordant.tolist() == [[0], [1]]


@pytest.mark.parametrize("dense", [64, 1])
def test_the_threshold_is_compared_with_the_rounded_difference(monkeypatch: pytest.MonkeyPatch, dense: int) -> None:
    # 0.3 - 0.1 is 0.19999999999999998, which is less than 0.2, though 0.1 + 0.2 is more than 0.3;
    # 1 - 1e-17 rounds to 1
    monkeypatch.setattr(MODULE, "DENSE_SIZE", dense)
    apart = pair_counts([[0.0, 1.0]], [[[0.1, 0.3]]], [[0, 0]], epsilon=0.19999999999999998)
    assert apart.n_tied_metric.tolist() == [[1]]
    below = np.nextafter(0.19999999999999998, 0)
    assert pair_counts([[0.0, 1.0]], [[[0.1, 0.3]]], [[0, 0]], epsilon=below).n_concordant.tolist() == [[1]]
    tiny = pair_counts([[0.0, 1.0, 2.0]], [[[1e-17, 1.0, -1.0]]], [[0, 0, 0]], epsilon=1.0)
    assert tiny.n_tied_metric.tolist() == [[2]]


def test_an_unjudged_cell_forms_no_pair() -> None:
    counts = pair_counts([[0.0], [NAN], [1.0]], [[[1.0], [NAN], [2.0]]], [[0], [0], [0]])
    assert counts.n_pairs.tolist() == [[1]]
    assert counts.n_scores.tolist() == [2]


def test_no_group_gives_empty_counts_that_pool_to_zero() -> None:
    counts = pair_counts([[0.0], [NAN]], [[[1.0], [2.0]]], [[0], [0]])
    assert counts.n_concordant.shape == (1, 0)
    assert counts.pooled().n_pairs.tolist() == [[0]]


def test_a_relative_threshold_counts_standard_deviations_of_the_cells_used() -> None:
    # used scores 0, 2, 4: mean 2, deviation sqrt(8/3) = 1.633; the unjudged 1000 does not count
    human = [[0.0, 1.0, 2.0, NAN]]
    metric = [[[0.0, 2.0, 4.0, 1000.0]]]
    labels = [[0, 0, 0, 0]]
    counts = pair_counts(human, metric, labels, epsilon=1.5, relative=True)
    assert counts.epsilon[0] == pytest.approx(1.5 * np.sqrt(8 / 3))
    assert counts.n_tied_metric.tolist() == [[2]]
    constant = pair_counts(human, np.full((1, 1, 4), 0.1), labels, epsilon=1.0, relative=True)
    assert constant.epsilon.tolist() == [0.0]


def test_zero_and_minus_zero_are_the_same_score() -> None:
    for human, metric in (([[0.0, -0.0, 1.0]], [[[1.0, 1.0, 2.0]]]), ([[0.0, 1.0, 1.0]], [[[-0.0, 0.0, 0.0]]])):
        assert pair_counts(human, metric, [[0, 0, 0]]).n_tied_both.tolist() == [[1]]


@given(scores(extreme=True), st.data())
def test_counts_of_small_groups_equal_the_naive_loop(drawn: Scores, data: st.DataObject) -> None:
    thresholds = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 1.0, np.inf]), st.floats(0, 10))
    epsilons = [data.draw(thresholds) for _ in drawn.metrics]
    assert_equal_counts(pair_counts(drawn.human, drawn.metrics, drawn.labels, epsilons), drawn, epsilons)


@given(scores(extreme=True), st.data())
def test_counts_of_large_groups_equal_the_naive_loop(drawn: Scores, data: st.DataObject) -> None:
    gaps = [abs(a - b) for metric in drawn.metrics for a in metric.ravel()[:4] for b in metric.ravel()[:4]]
    epsilons = [data.draw(st.sampled_from([0.0, *gaps])) for _ in drawn.metrics]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "DENSE_SIZE", data.draw(st.sampled_from([1, 2, 5])))
        counts = pair_counts(drawn.human, drawn.metrics, drawn.labels, epsilons)
    assert_equal_counts(counts, drawn, epsilons)


@given(scores(), st.randoms(use_true_random=False))
def test_the_order_of_systems_and_segments_does_not_matter(drawn: Scores, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    systems = rng.permutation(drawn.human.shape[0])
    segments = rng.permutation(drawn.human.shape[1])
    before = pair_counts(drawn.human, drawn.metrics, drawn.labels, 0.1)
    after = pair_counts(
        drawn.human[systems][:, segments],
        drawn.metrics[:, systems][:, :, segments],
        drawn.labels[systems][:, segments],
        0.1,
    )
    for name in NAMES.values():
        assert (getattr(before, name) == getattr(after, name)).all()


def test_counts_do_not_depend_on_the_batch_size(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    human, metrics = rng.integers(0, 4, (6, 40)) * 30.0, rng.normal(size=(2, 6, 40))
    labels = group_labels("item", human.shape)
    whole = pair_counts(human, metrics, labels, 0.2)
    whole_far = thresholded_pair_counts(human, metrics, np.zeros_like(labels))
    monkeypatch.setattr(MODULE, "BATCH_PAIRS", 7)
    monkeypatch.setattr(MODULE, "CACHED", 1)
    pieces = pair_counts(human, metrics, labels, 0.2)
    pieces_far = thresholded_pair_counts(human, metrics, np.zeros_like(labels))
    for name in NAMES.values():
        assert (getattr(whole, name) == getattr(pieces, name)).all()
        assert (getattr(whole_far, name) == getattr(pieces_far, name)).all()


def test_only_pairs_at_least_the_threshold_apart_count() -> None:
    # differences 25 (counts), 24 and 49: human 0 25 49; the metric orders the first pair wrongly
    counts = thresholded_pair_counts([[0.0], [25.0], [49.0]], [[[2.0], [1.0], [2.0]]], [[0], [0], [0]])
    assert counts.n_concordant.tolist() == [[0]]
    assert counts.n_discordant.tolist() == [[1]]
    assert counts.n_tied_metric.tolist() == [[1]]  # 0 and 49
    assert counts.n_pairs.tolist() == [[2]]


def test_the_threshold_must_be_positive() -> None:
    refused("threshold must be positive", thresholded_pair_counts, [[0.0]], [[[0.0]]], [[0]], threshold=0.0)


def test_rounding_takes_no_pair_from_a_threshold() -> None:
    assert -2.1 - -5.1 < 3  # by rounding
    counts = thresholded_pair_counts([[-5.1], [-2.1]], [[[1.0], [2.0]]], [[0], [0]], threshold=3)
    assert (counts.n_concordant.item(), counts.n_tied_metric.item()) == (1, 0)
    equal = thresholded_pair_counts([[1e15], [1e15]], [[[1.0], [2.0]]], [[0], [0]], threshold=3)
    assert equal.n_concordant.item() == equal.n_discordant.item() == 0


@given(scores())
def test_thresholded_counts_equal_a_loop_over_far_pairs(drawn: Scores) -> None:
    counts = thresholded_pair_counts(drawn.human, drawn.metrics, drawn.labels, threshold=1.5)
    least = 1.5 - MODULE.NOISE * np.abs(np.nan_to_num(drawn.human)).max(initial=0)  # rounding takes no pair from it
    for metric, values in enumerate(drawn.metrics):
        for place, cells in enumerate(naive.groups(drawn.human, values, drawn.labels).values()):
            far = [
                (h1 - h2) * (m1 > m2) - (h1 - h2) * (m1 < m2)
                for i, (h1, m1) in enumerate(cells)
                for h2, m2 in cells[:i]
                if abs(h1 - h2) >= least
            ]
            assert counts.n_concordant[metric, place] == sum(x > 0 for x in far)
            assert counts.n_discordant[metric, place] == sum(x < 0 for x in far)
            assert counts.n_tied_metric[metric, place] == sum(x == 0 for x in far)
