"""AP correlation: worked out by hand, against every order of tied systems, and its properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.agreement.tau_ap import rank_weights, tau_ap
from tests import naive

FEW = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6)
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


@given(pairs=FEW)
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


@given(pairs=FEW, seed=st.integers(0, 99))
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
    with pytest.raises(ValueError, match="metric 0 has no finite score"):
        tau_ap([1.0, 2.0], [[np.nan, 1.0]])
