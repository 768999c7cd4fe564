"""Greedy significance clusters and ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.resampling.clusters import (
    best_first,
    indistinct_across_clusters,
    n_significant_pairs,
    ranks,
    significance_clusters,
)

VALUES = np.array([0.5, 0.9, 0.7, 0.6])


def test_a_cluster_ends_where_a_member_is_worse_than_any_before_it() -> None:
    # order: 1, 2, 3, 0. Only 1 > 3 is significant: 3 begins a cluster, and 0 stays with it
    p = np.full((4, 4), 0.5)
    p[1, 3] = 0.05
    assert significance_clusters(VALUES, p).tolist() == [2, 1, 1, 2]
    # 2 and 3 cannot be told apart, nor 1 and 0, nor 2 and 0
    assert indistinct_across_clusters(VALUES, p) == [(1, 0), (2, 3), (2, 0)]
    assert n_significant_pairs(VALUES, p) == 1


def test_only_the_current_cluster_is_looked_at() -> None:
    # 1 > 3 starts cluster 2; that 2 (of cluster 1) beats 0 no longer matters
    p = np.full((4, 4), 0.5)
    p[1, 3], p[2, 0] = 0.01, 0.01
    assert significance_clusters(VALUES, p).tolist() == [2, 1, 1, 2]


def test_p_of_the_worse_over_the_better_is_not_read() -> None:
    p = np.full((4, 4), 0.5)
    p[0, 1] = 0.0
    assert significance_clusters(VALUES, p).tolist() == [1, 1, 1, 1]


def test_members_without_a_value_come_last_in_a_cluster_of_their_own() -> None:
    values = np.array([np.nan, 0.9, np.nan, 0.8])
    p = np.full((4, 4), np.nan)
    p[1, 3] = 0.4
    assert significance_clusters(values, p).tolist() == [2, 1, 2, 1]
    assert indistinct_across_clusters(values, p) == []
    assert significance_clusters([np.nan, np.nan], np.full((2, 2), np.nan)).tolist() == [1, 1]


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 9))
def test_clusters_equal_a_plain_walk_down_the_ranking(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    values, p = np.round(rng.random(n), 1), rng.random((n, n)) ** 2
    clusters: dict[int, int] = {}
    members: list[int] = []
    number = 1
    for index in sorted(range(n), key=lambda k: (-values[k], k)):
        if any(p[m, index] <= 0.05 for m in members):
            number, members = number + 1, []
        members.append(index)
        clusters[index] = number
    assert significance_clusters(values, p).tolist() == [clusters[k] for k in range(n)]


@given(values=st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.1 + 1e-15]), min_size=1, max_size=9))
def test_ranks_count_how_many_are_better(values: list[float]) -> None:
    expected = [1 + sum(other > value + 1e-12 for other in values) for value in values]
    assert ranks(values).tolist() == expected


def test_missing_values_rank_after_all_others() -> None:
    assert ranks([np.nan, 0.2, np.nan, 0.7]).tolist() == [3, 2, 3, 1]
    assert best_first([np.nan, 0.2, 0.7, 0.2]).tolist() == [2, 1, 3, 0]


def test_shapes_and_levels_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(M, M\)"):
        significance_clusters([1.0, 2.0], np.ones((3, 3)))
    with pytest.raises(ValueError, match="alpha"):
        significance_clusters([1.0, 2.0], np.ones((2, 2)), alpha=5.0)
