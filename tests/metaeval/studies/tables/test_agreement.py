"""Correlations of one metric with all others: its column of the matrix, the most similar metric first."""

import pytest

import metaeval
from warehouse import QuestionError, Warehouse

SIM = ("sim24", "en-de")


@pytest.mark.parametrize("measure", ["pearson(by=none)", "kendall", "spearman(by=item)"])
def test_one_metric_has_its_column_of_the_matrix(simulated_warehouse: Warehouse, measure: str) -> None:
    matrix = metaeval.correlations(simulated_warehouse, *SIM, measure=measure).frame
    found = metaeval.correlations(simulated_warehouse, *SIM, "simbleu", measure=measure)
    column = dict(matrix.select("metric", "simBLEU-refA").rows())
    del column["simBLEU-refA"]
    assert dict(found.frame.rows()) == column
    values = found.frame["correlation"].drop_nulls().to_list()
    assert values == sorted(values, reverse=True)
    nearest, value = max(column.items(), key=lambda one: -2 if one[1] is None else one[1])
    assert found.summary.startswith(f"simBLEU-refA is most like {nearest} ({value:.3f})")
    assert "|metric:simBLEU-refA|" in found.signature


def test_one_metric_that_is_selected_alone_is_told_how_to_compare_it(simulated_warehouse: Warehouse) -> None:
    found = metaeval.correlations(simulated_warehouse, *SIM, metrics="simBLEU")
    assert found.summary == "Only simBLEU-refA is selected; metric='simBLEU-refA' correlates it with all others."


def test_a_metric_without_segment_scores_is_not_called_unknown(simulated_warehouse: Warehouse) -> None:
    query = "SELECT metric FROM metrics WHERE testset = 'sim24' AND lp = 'en-de' AND levels NOT LIKE '%seg%'"
    there = {name for (name,) in simulated_warehouse.rows(query)}
    assert there
    for name in there:
        with pytest.raises(QuestionError, match=f"{name} of sim24 en-de is excluded: "):
            metaeval.correlations(simulated_warehouse, *SIM, name)
    with pytest.raises(QuestionError, match="unknown metric 'simbleuu' for sim24 en-de; did you mean"):
        metaeval.correlations(simulated_warehouse, *SIM, "simbleuu")
    with pytest.raises(QuestionError, match="metric and human='all' cannot be combined"):
        metaeval.correlations(simulated_warehouse, *SIM, "simBLEU", human="all")
