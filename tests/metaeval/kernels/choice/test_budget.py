"""What a budget buys: in segments and in words, by documents, with shares of domains."""

import numpy as np
import pytest

from metaeval.kernels.choice.budget import bought, in_order


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
