"""Holm, Benjamini–Hochberg, greedy significance clusters and ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from metaeval.kernels.resampling.clusters import (
    benjamini_hochberg,
    best_first,
    corrected_pairs,
    holm,
    indistinct_across_clusters,
    n_significant_pairs,
    ranks,
    share_with_clusters,
    significance_clusters,
)
from tests.helpers import refused

PROBABILITIES = st.lists(st.floats(0, 1, allow_nan=False), min_size=1, max_size=12)


def test_holm_is_worked_out_by_hand() -> None:
    # sorted .01 .02 .03 .2 -> ×4 .04, ×3 .06, ×2 .06 (.06 stays), ×1 .2
    np.testing.assert_allclose(holm([0.2, 0.03, 0.01, 0.02]), [0.2, 0.06, 0.04, 0.06])


def test_benjamini_hochberg_is_worked_out_by_hand() -> None:
    # sorted .01 .02 .03 .2 -> ×4/1 .04, ×4/2 .04, ×4/3 .04, ×1 .2
    np.testing.assert_allclose(benjamini_hochberg([0.2, 0.03, 0.01, 0.02]), [0.2, 0.04, 0.04, 0.04])


@given(p=PROBABILITIES)
def test_holm_rejects_what_the_step_down_rule_rejects(p: list[float]) -> None:
    adjusted = holm(p)
    for alpha in (0.01, 0.05, 0.3):
        order = np.argsort(p, kind="stable")
        rejected = set()
        for step, index in enumerate(order):
            if p[index] * (len(p) - step) > alpha:
                break
            rejected.add(int(index))
        assert {i for i in range(len(p)) if adjusted[i] <= alpha} == rejected


@given(p=PROBABILITIES)
def test_benjamini_hochberg_rejects_what_the_step_up_rule_rejects(p: list[float]) -> None:
    adjusted = benjamini_hochberg(p)
    for alpha in (0.013, 0.057, 0.31):
        ordered = sorted(p)
        largest = max((k for k in range(len(p)) if ordered[k] * len(p) / (k + 1) <= alpha), default=-1)
        assert int(np.count_nonzero(adjusted <= alpha)) == largest + 1


def test_tests_that_were_not_made_are_excluded_from_the_family() -> None:
    np.testing.assert_allclose(holm([0.02, np.nan, 0.03]), [0.04, np.nan, 0.04])
    np.testing.assert_allclose(benjamini_hochberg([0.02, np.nan, 0.03]), [0.03, np.nan, 0.03])
    assert np.isnan(holm([np.nan])).all()


def test_pairs_are_corrected_in_one_direction() -> None:
    p = np.array([[np.nan, 0.04, 0.01], [0.7, np.nan, 0.03], [0.9, 0.8, np.nan]])
    corrected = corrected_pairs(p, "holm")
    np.testing.assert_allclose(corrected[np.triu_indices(3, 1)], [0.06, 0.03, 0.06])
    assert np.isnan(corrected[np.tril_indices(3)]).all()
    np.testing.assert_allclose(corrected_pairs(p, "none")[np.triu_indices(3, 1)], [0.04, 0.01, 0.03])


def test_values_that_are_no_probabilities_are_refused() -> None:
    refused(r"\[0, 1\]", holm, [0.5, 1.5])
    refused("unknown correction 'sidak'", corrected_pairs, np.ones((2, 2)), "sidak")


VALUES = np.array([0.5, 0.9, 0.7, 0.6])


def test_a_cluster_ends_where_a_member_is_worse_than_any_before_it() -> None:
    # order: 1, 2, 3, 0. Only 1 > 3 is significant: 3 begins a cluster, and 0 stays with it
    p = np.full((4, 4), 0.5)
    p[1, 3] = 0.05
    assert significance_clusters(VALUES, p).tolist() == [2, 1, 1, 2]
    # 2 and 3 cannot be told apart, nor 1 and 0, nor 2 and 0
    assert indistinct_across_clusters(VALUES, p) == [(1, 0), (2, 3), (2, 0)]
    assert n_significant_pairs(VALUES, p) == 1


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


@pytest.mark.parametrize(("n", "two_sided"), [(3, True), (12, True), (12, False)])
def test_equally_good_members_form_clusters_as_often_as_their_range_passes_one_comparison(
    n: int, two_sided: bool
) -> None:
    values = np.random.default_rng(5).normal(size=(2000, n))
    p = ndtr(-(values[:, :, np.newaxis] - values[:, np.newaxis]) / np.sqrt(2)) * (2 if two_sided else 1)
    found = [significance_clusters(one, own).max() > 1 for one, own in zip(values, p, strict=True)]
    assert share_with_clusters(n, two_sided=two_sided) == pytest.approx(np.mean(found), abs=0.035)  # 3 errors of .011
