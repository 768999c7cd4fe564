"""What parts of the segments say of systems."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from metaeval.kernels.choice.subsets import WholeRanking, clusters_by_last, tau_b_of


def test_all_segments_say_what_all_segments_say() -> None:
    human = np.random.default_rng(0).normal(size=(5, 40)) + np.arange(5)[:, np.newaxis]
    found = WholeRanking(human).compared(np.ones(40, dtype=bool))
    assert (found.tau_b, found.spa) == (1.0, 1.0)
    assert found.clusters == WholeRanking(human).clusters


def test_tau_b_is_scipy_s() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        one, other = rng.integers(0, 5, size=(2, 9)).astype(float)
        assert tau_b_of(one, other) == pytest.approx(stats.kendalltau(one, other).statistic)
    assert tau_b_of([1.0, 1.0], [1.0, 2.0]) == 0.0


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


@pytest.mark.parametrize("human", [np.zeros((1, 3)), np.array([[1.0, np.nan], [1.0, 2.0]]), np.zeros(3)])
def test_a_ranking_needs_two_systems_and_all_scores(human: np.ndarray) -> None:
    with pytest.raises(ValueError, match="two systems"):
        WholeRanking(human)
