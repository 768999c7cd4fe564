"""Which segments to annotate: utilities, what a budget buys, and what a part would have said."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from metaeval.kernels.choice import (
    WholeRanking,
    bought,
    clusters_by_last,
    in_order,
    metric_consistency,
)


def test_consistency_is_scipy_s_tau_c_with_the_means_of_the_systems() -> None:
    rng = np.random.default_rng(3)
    for n_values in (2, 3, 50):  # many ties, some, hardly any
        scores = rng.integers(0, n_values, size=(7, 60)).astype(float)
        means = scores.mean(axis=1)
        with np.errstate(invalid="ignore"):
            expected = [stats.kendalltau(one, means, variant="c").statistic if np.ptp(one) else 0.0 for one in scores.T]
        assert metric_consistency(scores) == pytest.approx(expected, abs=1e-12)


def test_a_segment_with_a_missing_score_has_no_utility_and_counts_in_no_mean() -> None:
    scores = np.array([[1.0, 2.0, 9.0], [2.0, 1.0, np.nan], [3.0, 0.0, 0.0]])
    assert np.isnan(metric_consistency(scores)).tolist() == [False, False, True]
    assert metric_consistency(scores)[:2] == pytest.approx(metric_consistency(scores[:, :2]))


def test_one_system_orders_nothing() -> None:
    assert np.isnan(metric_consistency([[1.0, 2.0]])).all()


@pytest.mark.parametrize("seed", range(5))
def test_whole_documents_stay_together_and_no_budget_is_overspent(seed: int) -> None:
    rng = np.random.default_rng(seed)
    units, costs = rng.integers(0, 12, size=50), rng.integers(1, 30, size=50).astype(float)
    units = np.unique(units, return_inverse=True)[1]
    order = in_order(rng.random(50), costs, units)
    assert sorted(order.tolist()) == list(range(50))
    n_changes = np.count_nonzero(np.diff(units[order]))
    assert n_changes == len(np.unique(units)) - 1  # each document is one run
    for budget in (0.5, 40.0, 200.0, 1e9):
        chosen = bought(order, costs, budget, units)
        assert costs[chosen].sum() <= budget
        assert all(len(set(chosen[units == unit].tolist())) == 1 for unit in np.unique(units))
        cheapest_left = min((costs[units == unit].sum() for unit in np.unique(units[~chosen])), default=np.inf)
        assert costs[chosen].sum() + cheapest_left > budget  # nothing that is left would fit


def test_equal_utilities_are_chosen_in_the_order_of_the_test_set() -> None:
    assert in_order(np.zeros(6), np.ones(6)).tolist() == [0, 1, 2, 3, 4, 5]
    assert in_order([0.0, 1.0, 0.0, 1.0], np.ones(4), units=[0, 0, 1, 1]).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n", [10, 20, 35])
def test_balanced_domains_have_their_shares_at_every_budget(n: int) -> None:
    rng = np.random.default_rng(0)
    domains = np.repeat([0, 1, 2], [60, 30, 10])
    utility = rng.random(100) + 5 * (domains == 2)  # one domain looks best throughout
    order = in_order(utility, np.ones(100), domains=domains)
    shares = np.bincount(domains[bought(order, np.ones(100), n)], minlength=3)
    assert shares == pytest.approx(np.array([0.6, 0.3, 0.1]) * n, abs=1)
    for domain in range(3):
        own = order[domains[order] == domain]
        assert (np.diff(utility[own]) <= 0).all()  # best first within each


def test_all_segments_say_what_all_segments_say() -> None:
    human = np.random.default_rng(0).normal(size=(5, 40)) + np.arange(5)[:, np.newaxis]
    found = WholeRanking(human).compared(np.ones(40, dtype=bool))
    assert (found.tau_b, found.spa) == (1.0, 1.0)
    assert found.clusters == WholeRanking(human).clusters


@pytest.mark.parametrize("raw_ties", [False, True])
def test_a_cluster_begins_where_wilcoxon_s_test_tells_a_system_from_the_one_before(raw_ties: bool) -> None:
    rng = np.random.default_rng(2)
    human = np.round(rng.normal(size=(6, 80)) - np.array([0, 0, 0.4, 0.4, 0.8, 2])[:, np.newaxis], 1)
    order = np.argsort(-human.mean(axis=1), kind="stable")
    expected, number = {int(order[0]): 1}, 1
    for before, one in pairwise(order):
        gaps = np.round(human[one] - human[before], 1)
        number += stats.wilcoxon(gaps, alternative="less").pvalue < 0.05
        expected[int(one)] = number
    assert number > 2
    assert clusters_by_last(human, raw_ties=raw_ties).tolist() == [expected[place] for place in range(6)]


def test_systems_that_differ_nowhere_and_two_segments_are_one_cluster() -> None:
    assert clusters_by_last([[1.0, 2.0, 3.0]] * 3).tolist() == [1, 1, 1]
    assert clusters_by_last([[9.0, 9.0], [1.0, 1.0]]).tolist() == [1, 1]


def test_rounding_parts_no_ties_unless_they_are_raw() -> None:
    better = np.tile([0.1, 0.2, 0.3, 0.9], 10)
    human = np.stack([better, better + 1e-16 + np.tile([0.1, -0.1, 0.0, 0.0], 10)])
    assert clusters_by_last(human).tolist() == [1, 1]
