"""Measures of system scores: by hand, against plain loops and other formulas, and their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import (
    draw_signs,
    normal_p_values,
    pair_counts,
    pairwise_accuracy,
    sign_flip_p_values,
    soft_pairwise_accuracy,
    tau_a,
)
from metaeval.kernels.agreement.systems import rank_weights, tau_ap, top_systems
from tests import naive
from tests.helpers import refused

NAN = np.nan
FEW = st.sampled_from([0.0, 0.5, 1.0, 2.0])


@st.composite
def system_scores(draw: st.DrawFn) -> tuple[list[float], list[list[float]]]:
    n = draw(st.integers(2, 7))
    rows = st.lists(FEW, min_size=n, max_size=n)
    human = draw(st.lists(st.one_of(FEW, st.just(NAN)), min_size=n, max_size=n))
    return human, draw(st.lists(rows, min_size=1, max_size=3))


def test_ties_follow_the_organisers_rule_by_hand() -> None:
    # pairs: (0,1) human tie, metric apart: wrong; (0,2) (1,2) right
    found = pairwise_accuracy([1.0, 1.0, 2.0], [[1.0, 2.0, 3.0], [1.0, 1.0, 3.0], [3.0, 3.0, 3.0]])
    assert found.n_agree.tolist() == [2, 3, 1]
    assert found.n_pairs.tolist() == [3, 3, 3]
    assert found.accuracy == pytest.approx([2 / 3, 1.0, 1 / 3])


def test_ties_follow_the_ship_rule_by_hand() -> None:
    found = pairwise_accuracy([1.0, 1.0, 2.0], [[1.0, 2.0, 3.0], [3.0, 3.0, 3.0]], ties="tship")
    assert found.n_agree.tolist() == [2, 0]
    assert found.n_pairs.tolist() == [2, 2]


@given(system_scores(), st.sampled_from(["organisers", "tship"]), st.booleans())
def test_agreements_equal_the_naive_loop(
    drawn: tuple[list[float], list[list[float]]], ties: str, raw_ties: bool
) -> None:
    human, metrics = drawn
    found = pairwise_accuracy(human, metrics, ties, raw_ties=raw_ties)  # type: ignore[arg-type]
    for place, metric in enumerate(metrics):
        expected = naive.pairwise_agreement(human, metric, ties)
        assert (found.n_agree[place], found.n_pairs[place]) == expected


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_accuracy_is_half_of_one_plus_tau_a_without_ties(human: list[int], metric: list[int]) -> None:
    counts = pair_counts([[float(h)] for h in human], [[[float(m)] for m in metric]], [[0]] * 6)
    accuracy = pairwise_accuracy(human, [metric]).accuracy[0]
    assert accuracy == pytest.approx((tau_a(counts)[0, 0] + 1) / 2)


def test_averages_that_differ_by_rounding_are_tied_unless_raw_floats_are_asked_for() -> None:
    a, b = (0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)
    assert a != b
    human = [a, b, 1.0]
    metric = [[0.5, 0.5, 1.0]]
    assert pairwise_accuracy(human, metric).accuracy.tolist() == [1.0]
    assert pairwise_accuracy(human, metric, raw_ties=True).accuracy == pytest.approx([2 / 3])


def test_language_pairs_are_pooled_by_adding_pairs() -> None:
    one = pairwise_accuracy([1.0, 2.0], [[1.0, 2.0]])
    other = pairwise_accuracy([1.0, 2.0, 3.0], [[3.0, 2.0, 1.0]])
    pooled = one + other
    assert (pooled.n_agree.tolist(), pooled.n_pairs.tolist()) == ([1], [4])


def test_without_pairs_the_accuracy_is_not_defined() -> None:
    assert np.isnan(pairwise_accuracy([1.0, NAN], [[1.0, 2.0]]).accuracy).all()
    assert np.isnan(pairwise_accuracy([NAN, NAN], [[1.0, 2.0]]).accuracy).all()


def test_an_unknown_rule_and_a_missing_metric_score_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown ties 'none'; expected one of organisers, tship"):
        pairwise_accuracy([1.0, 2.0], [[1.0, 2.0]], "none")  # type: ignore[arg-type]
    refused("metric 0 has no finite score", pairwise_accuracy, [1.0, 2.0], [[1.0, NAN]])


def matrix(*upper: float) -> np.ndarray:
    p = np.full((3, 3), NAN)
    p[np.triu_indices(3, 1)] = upper
    return p


def test_three_pairs_are_worked_out_by_hand() -> None:
    human, metric = matrix(0.1, 0.5, 0.9), matrix(0.2, 0.1, 0.9)
    assert soft_pairwise_accuracy(human, metric) == pytest.approx(1 - (0.1 + 0.4 + 0.0) / 3)
    # binarised: 0 1 1 and 0 0 1
    assert soft_pairwise_accuracy(human, metric, binary=True) == pytest.approx(2 / 3)


def test_many_metrics_are_compared_with_one_human_matrix() -> None:
    human = matrix(0.1, 0.5, 0.9)
    values = soft_pairwise_accuracy(human, np.stack([human, 1 - human]))
    assert values == pytest.approx([1.0, 1 - (0.8 + 0.0 + 0.8) / 3])


P = st.lists(st.floats(0, 1), min_size=3, max_size=3)


@given(P, P)
def test_values_lie_between_0_and_1_and_do_not_care_which_side_is_human(a: list[float], b: list[float]) -> None:
    value = soft_pairwise_accuracy(matrix(*a), matrix(*b))
    assert 0 <= value <= 1
    assert value == soft_pairwise_accuracy(matrix(*b), matrix(*a))
    assert soft_pairwise_accuracy(matrix(*a), matrix(*a)) == 1


def test_the_mean_is_over_the_counted_pairs_alone() -> None:
    human, metric = matrix(0.1, 0.5, 0.9), matrix(0.2, 0.1, 0.9)
    counted = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)  # the first and the third share no segment
    assert soft_pairwise_accuracy(human, metric, counted=counted) == pytest.approx(1 - (0.1 + 0.0) / 2)
    assert soft_pairwise_accuracy(human, metric, counted=counted, binary=True) == 1
    refused("no pair of systems", soft_pairwise_accuracy, human, metric, counted=np.eye(3, dtype=bool))
    refused("counted", soft_pairwise_accuracy, human, metric, counted=np.ones((2, 2), dtype=bool))


def test_matrices_must_fit_and_be_defined_above_the_diagonal() -> None:
    refused("must have the same systems", soft_pairwise_accuracy, matrix(0, 0, 0), np.zeros((2, 2)))
    refused("p_metric has a value outside", soft_pairwise_accuracy, matrix(0, 0, 0), matrix(0, NAN, 0))


def test_a_metric_equal_to_the_human_scores_gets_1() -> None:
    human = np.random.default_rng(2).normal(size=(4, 30))
    judged = np.ones(human.shape, dtype=bool)
    for p in (
        sign_flip_p_values([human, human], judged, draw_signs(np.random.default_rng(0), 1000, 30)),
        normal_p_values([human, human], judged),
    ):
        assert soft_pairwise_accuracy(p[0], p[1:]).tolist() == [1.0]


def test_binarised_values_are_pairwise_accuracy_of_the_means() -> None:
    rng = np.random.default_rng(3)
    effects = np.array([0.0, 1.0, 2.0, 3.0, 4.0])[:, np.newaxis]
    human = rng.normal(size=(5, 80)) + effects
    metrics = rng.normal(size=(6, 5, 80)) + effects * rng.choice([-1.0, 1.0], (6, 5, 1))
    signs = draw_signs(rng, 1000, 80)
    p = sign_flip_p_values(np.concatenate([human[np.newaxis], metrics]), np.ones((5, 80)), signs)
    binarised = soft_pairwise_accuracy(p[0], p[1:], binary=True)
    np.testing.assert_allclose(binarised, pairwise_accuracy(human.mean(1), metrics.mean(2)).accuracy)


FEW_PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6)
DISTINCT = st.integers(2, 8).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))


def value(human: object, metric: object) -> float:
    return float(tau_ap(np.array(human, dtype=float), np.array([metric], dtype=float))[0])


def test_a_wrong_pair_at_the_top_costs_more_than_one_at_the_bottom() -> None:
    # By hand: at ranks 2, 3 and 4 the share of systems above that belong there is 0, 1, 1; or 1, 1, 2/3.
    assert value([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(2 / 3 * (0 + 1 + 1) - 1)
    assert value([4, 3, 2, 1], [4, 3, 1, 2]) == pytest.approx(2 / 3 * (1 + 1 + 2 / 3) - 1)


def test_systems_that_the_metric_alone_ties_are_wrong_and_share_their_ranks() -> None:
    # The first two are tied: wrong at rank 2 in either order, and the third is rightly below both.
    assert value([3, 2, 1], [5, 5, 1]) == pytest.approx(2 / 2 * (0 + 1) - 1)
    # The last two are tied: the one at rank 3 is right about the first and wrong about the other, whichever it is.
    assert value([3, 2, 1], [5, 1, 1]) == pytest.approx(2 / 2 * (1 + 1 / 2) - 1)


def test_ties_on_both_sides_agree_and_ties_by_people_alone_do_not() -> None:
    assert value([2, 2, 1], [5, 5, 1]) == 1.0
    assert value([2, 2, 1], [5, 4, 1]) == pytest.approx(2 / 2 * (0 + 1) - 1)
    assert value([1, 1, 1], [2, 2, 2]) == 1.0
    assert value([1, 2, 3], [2, 2, 2]) == -1.0


@given(pairs=FEW_PAIRS)
def test_it_is_the_mean_over_all_orders_of_tied_systems(pairs: list[tuple[int, int]]) -> None:
    human, metric = ([float(x) for x in side] for side in zip(*pairs, strict=True))
    assert value(human, metric) == pytest.approx(naive.tau_ap(human, metric), abs=1e-12)


@given(orders=DISTINCT)
def test_without_ties_it_lies_between_its_bounds_and_turns_with_the_human_scores(
    orders: tuple[list[int], list[int]],
) -> None:
    human, metric = np.array(orders[0], dtype=float), np.array(orders[1], dtype=float)
    assert value(human, human) == 1.0
    assert value(human, -human) == -1.0
    assert -1.0 <= value(human, metric) <= 1.0
    assert value(-human, metric) == pytest.approx(-value(human, metric), abs=1e-12)


@given(pairs=FEW_PAIRS, seed=st.integers(0, 99))
def test_order_of_systems_and_scale_do_not_matter(pairs: list[tuple[int, int]], seed: int) -> None:
    human, metric = np.array(pairs, dtype=float).T
    shuffled = np.random.default_rng(seed).permutation(len(human))
    assert value(human[shuffled], np.exp(metric[shuffled])) == pytest.approx(value(human, metric), abs=1e-12)


def test_systems_that_nobody_judged_are_excluded() -> None:
    assert value([4, np.nan, 2, 1], [3, 9, 4, 1]) == value([4, 2, 1], [3, 4, 1])
    assert np.isnan(value([1, np.nan], [1, 2]))


def test_two_rows_of_one_system_make_no_pair() -> None:
    human, metric, twice = np.array([3.0, 2.0, 1.0]), np.array([[1.0, 2.0, 3.0]]), np.array([0, 0, 1, 1, 2, 2])
    found = tau_ap(human[twice], metric[:, twice], systems=twice)
    np.testing.assert_allclose(found, -1.0)  # pairs of copies, tied on both sides, would be right
    assert tau_ap(human[twice], metric[:, twice])[0] > -1.0
    assert np.isnan(tau_ap([1.0, 1.0], [[2.0, 2.0]], systems=np.array([0, 0]))[0])


@pytest.mark.parametrize("n_systems", [2, 3, 7])
def test_the_weights_of_all_pairs_add_up_to_the_number_of_ranks_below_the_first(n_systems: int) -> None:
    below, within = rank_weights(n_systems)
    for n_first in range(n_systems):  # so many lead, each alone at its rank, and the others are tied
        n_tied = n_systems - n_first
        total = sum(above * below[above, 1] for above in range(1, n_first))
        total += n_tied * n_first * below[n_first, n_tied] if n_first else 0
        total += n_tied * (n_tied - 1) / 2 * within[n_first, n_tied]
        assert total == pytest.approx(n_systems - 1)


def test_rounding_noise_is_a_tie_unless_raw_floats_are_asked_for() -> None:
    human, metric = np.array([3.0, 2.0, 1.0]), np.array([[0.1 + 0.2, 0.3, 0.1]])
    assert tau_ap(human, metric)[0] == 0.0
    assert tau_ap(human, metric, raw_ties=True)[0] == 1.0


def test_a_missing_score_of_a_judged_system_is_refused() -> None:
    refused("metric 0 has no finite score", tau_ap, [1.0, 2.0], [[np.nan, 1.0]])


def test_a_tie_at_the_last_place_takes_all_of_them() -> None:
    assert np.flatnonzero(top_systems([1.0, 3.0, 2.0, 2.0], 2)).tolist() == [1, 2, 3]
    assert np.flatnonzero(top_systems([1.0, 3.0, 2.0, 2.0], 1)).tolist() == [1]
    assert np.flatnonzero(top_systems([1.0, 3.0, 2.0, 2.0], 3)).tolist() == [1, 2, 3]


def test_with_fewer_systems_all_that_are_judged_count() -> None:
    assert top_systems([1.0, np.nan, 2.0], 5).tolist() == [True, False, True]
    assert not top_systems([np.nan, np.nan], 1).any()


@given(human=st.lists(st.integers(0, 4).map(float), min_size=1, max_size=9), n=st.integers(1, 9))
def test_they_are_those_with_fewer_than_n_better_ones(human: list[float], n: int) -> None:
    assert np.flatnonzero(top_systems(human, n)).tolist() == naive.best(human, n)
