from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import pair_counts, pairwise_accuracy, tau_a
from tests import naive

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
    with pytest.raises(ValueError, match="metric 0 has no finite score"):
        pairwise_accuracy([1.0, 2.0], [[1.0, NAN]])
