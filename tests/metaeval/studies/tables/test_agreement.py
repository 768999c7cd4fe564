"""Correlations of one metric with all others: its column of the matrix, the most similar metric first."""

from pathlib import Path

import pytest

import metaeval
from tests.helpers import LP, TESTSET, tiny_layout, tiny_warehouse
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


def test_a_metric_without_segment_scores_is_not_called_unknown(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in")) as opened:
        only = opened.rows("SELECT base_metric FROM metrics WHERE levels NOT LIKE '%seg%'")
        assert only
        for (name,) in only:
            with pytest.raises(QuestionError, match=f"{name}-.* of {TESTSET} {LP} is excluded: no segment scores"):
                metaeval.correlations(opened, TESTSET, LP, name)


def test_what_is_no_metric_is_refused(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match="unknown metric 'simbleuu' for sim24 en-de; did you mean"):
        metaeval.correlations(simulated_warehouse, *SIM, "simbleuu")
    with pytest.raises(QuestionError, match="metric and human='all' cannot be combined"):
        metaeval.correlations(simulated_warehouse, *SIM, "simBLEU", human="all")
