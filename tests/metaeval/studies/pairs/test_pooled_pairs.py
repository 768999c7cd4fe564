"""Pairs of systems over evaluation sets: by hand, and on the simulated task against plain loops."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import wilcoxon

from metaeval.measures.system_scores import system_scores
from metaeval.results.inputs import Inputs
from metaeval.studies.pairs.pooled_pairs import (
    PooledPairs,
    accuracies,
    difference_correlations,
    errors,
    of_one_human,
    pooled_pairs,
)
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.wording import option


def _pairs(human: list[float], metric: list[list[float]], **more: object) -> PooledPairs:
    n = len(human)
    given = {"human_p": np.full(n, np.nan), "metric_p": None, "n_systems": 3, **more}
    names = ("s",) * n
    return PooledPairs(
        tuple("abc"[: len(metric)]), names, names, names, names, names, np.array(human), np.array(metric), **given
    )  # type: ignore[arg-type]


def test_differences_of_one_human_score_alone_are_correlated() -> None:
    of_two = replace(
        _pairs([0.1, 0.2, 30.0, -0.3], [[1.0, 2.0, 3.0, 4.0]]),
        humans=("z", "z", "raw", "z"),
        lps=("en-de", "en-de", "en-cs", "en-fr"),
        first=("A", "A", "A", "B"),
        second=("B", "C", "C", "C"),
    )
    found = of_one_human(of_two)
    assert found.human.tolist() == [0.1, 0.2, -0.3]
    assert found.metric.tolist() == [[1.0, 2.0, 4.0]]
    assert found.n_systems == 5  # three of en-de, two of en-fr
    assert found.notes == (
        f"only pairs of z are used (3); those on other scales are excluded: raw (1) ({option('human')} chooses)",
    )
    assert of_one_human(found) is found


def test_accuracy_is_the_share_of_right_pairs_and_no_difference_is_wrong() -> None:
    found, on_par = accuracies(_pairs([1.0, -2.0, 3.0], [[1.0, -1.0, 0.0], [-1.0, 1.0, 2.0]]), [True, True, True])
    np.testing.assert_allclose(found, [2 / 3, 1 / 3])
    assert on_par is None
    some, _ = accuracies(_pairs([1.0, -2.0, 3.0], [[1.0, -1.0, 0.0]]), [True, True, False])
    assert some.tolist() == [1.0]
    none, _ = accuracies(_pairs([1.0], [[1.0]]), [False])
    assert np.isnan(none[0])


def test_the_winner_is_on_par_with_itself_and_a_metric_that_is_always_wrong_is_not() -> None:
    _, on_par = accuracies(_pairs([1.0] * 20, [[1.0] * 20, [-1.0] * 20]), [True] * 20, seed=0, n_draws=200)
    assert on_par is not None
    assert on_par.tolist() == [True, False]


def test_errors_are_counted_by_hand() -> None:
    # people tell pairs 0, 1, 2 apart; the metric finds 0 (right), 1 (wrong) and 3 (right); 4 is found by nobody
    given = _pairs(
        [1.0] * 6,
        [[1.0, -1.0, 1.0, 1.0, 1.0, 1.0]],
        human_p=np.array([0.01, 0.05, 0.0, 0.2, 0.9, np.nan]),
        metric_p=np.array([[0.0, 0.05, 0.3, 0.01, 0.8, 0.0]]),
    )
    found = errors(given)
    assert found.select("both", "neither", "type_1", "type_2").row(0) == (2, 1, 1, 1)
    assert found["right_if_found"][0] == pytest.approx(2 / 3)
    assert found["type_2_share"][0] == 0.5
    with pytest.raises(ValueError, match="no p-values"):
        errors(_pairs([1.0], [[1.0]]))


def test_a_metric_without_segment_scores_takes_no_pair_from_the_others() -> None:
    found = errors(_pairs([1.0], [[1.0], [1.0]], human_p=np.array([0.01]), metric_p=np.array([[np.nan], [0.01]])))
    assert found["both"].to_list() == [0, 1]
    assert np.isnan(found["right_if_found"][0])


def test_correlations_of_differences_do_not_depend_on_which_system_comes_first() -> None:
    human, metric = [1.0, 2.0, -1.5], [[0.5, 3.0, -1.0]]
    one = difference_correlations(_pairs(human, metric))
    turned = difference_correlations(_pairs([-1.0, 2.0, 1.5], [[-0.5, 3.0, 1.0]]))
    for name in ("pearson", "spearman"):
        np.testing.assert_allclose(one[name], turned[name])
    both = np.array([*human, *(-x for x in human)]), np.array([*metric[0], *(-x for x in metric[0])])
    assert one["pearson"][0] == pytest.approx(np.corrcoef(*both)[0, 1])


SETS = [Slice("sim24", "en-de"), Slice("sim24", "cs-uk")]


def test_pairs_of_the_simulated_task_are_those_of_a_plain_loop(simulated_warehouse: Warehouse) -> None:
    found = pooled_pairs(simulated_warehouse, SETS)
    place = 0
    for asked in SETS:
        block = Inputs(simulated_warehouse, asked).of_level("seg")
        scores = system_scores(block, "submitted")
        by_name = {metric.base_name: values for metric, values in zip(block.metrics, scores.metrics, strict=True)}
        for i, j in combinations(range(len(block.systems)), 2):
            assert (found.lps[place], found.first[place], found.second[place]) == (
                asked.lp, block.systems[i], block.systems[j],
            )  # fmt: skip
            assert found.human[place] == scores.human[i] - scores.human[j]
            for row, name in enumerate(found.metrics):
                assert found.metric[row, place] == by_name[name][i] - by_name[name][j]
            both = block.judged[i] & block.judged[j]
            gaps = np.round(block.human[i, both] - block.human[j, both], 9)
            assert found.human_p[place] == pytest.approx(wilcoxon(gaps[gaps != 0]).pvalue)
            place += 1
    assert place == found.human.size


@pytest.mark.slow
def test_bootstrapped_p_values_are_two_sided(simulated_warehouse: Warehouse) -> None:
    found = pooled_pairs(simulated_warehouse, SETS[:1], seed=0, n_draws=50)
    assert found.metric_p is not None
    there = found.metric_p[~np.isnan(found.metric_p)]
    assert ((there >= 0) & (there <= 1)).all()
    assert np.isin(np.round(there * 50, 9), [*range(0, 50, 2), 50]).all()  # twice a share of 50
    assert errors(found)["both"].sum() > 0


def test_sets_without_scores_are_named_and_nothing_at_all_is_refused(simulated_warehouse: Warehouse) -> None:
    found = pooled_pairs(simulated_warehouse, [SETS[0], Slice("sim24", "xx-yy")])
    assert any("xx-yy" in note for note in found.notes)
    with pytest.raises(QuestionError, match="xx-yy"):
        pooled_pairs(simulated_warehouse, [Slice("sim24", "xx-yy")])
