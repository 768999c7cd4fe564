"""The official slice in SQL: participants, their scores and what follows, equal to what `rank` does in Python."""

import math
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

from metaeval.inputs import Inputs
from metaeval.measures import Measure
from metaeval.options import Options
from metaeval.evaluation import rankable
from metaeval.study import study
from metaeval.tables.table import Table
from queries.selection import Slice
from tests.helpers import MQM, SYSTEMS, metric_tables, mqm_table, tiny_facts, tiny_layout, tiny_warehouse
from warehouse import LoadReport, QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable

PEARSON = Measure.parse("pearson")
PA = Measure.parse("pa")
ACC_EQ = Measure.parse("acc_eq(by=item)")
Reasons = dict[tuple[str, str], str | None]


def reasons_in_sql(warehouse: Warehouse) -> dict[tuple[str, str, str], Reasons]:
    """Why systems and metrics are excluded, by test set, language pair and level."""
    found: dict[tuple[str, str, str], Reasons] = {}
    for testset, lp, level, kind, name, included, reason in warehouse.rows(
        "SELECT testset, lp, level, kind, name, included, reason FROM participants"
    ):
        assert included == (reason is None)
        reasons = found.setdefault((testset, lp, level), {})
        assert (kind, name) not in reasons
        reasons[kind, name] = reason
    return found


def reasons_in_python(warehouse: Warehouse, testset: str, lp: str, measure: Measure) -> Reasons | None:
    """Why systems and metrics are not in the ranking by a measure; None where there is no ranking."""
    inputs = Inputs(warehouse, Slice(testset, lp))
    try:
        block = inputs.block(measure)
    except QuestionError:
        return None
    if measure.definition.needs_segments and not block.judged.any():
        return None
    _, excluded = rankable(measure, block, Options())
    selection = block.selection
    reasons: Reasons = {("system", one.name): one.reason and str(one.reason) for one in selection.systems}
    for one in selection.metrics:
        reason = one.reason or excluded.get(one.name)
        reasons["metric", one.name] = reason and str(reason)
    return reasons


def assert_participants_are_those_of_python(warehouse: Warehouse) -> None:
    in_sql = reasons_in_sql(warehouse)
    ranked = 0
    for testset, lp in warehouse.rows("SELECT testset, lp FROM evalsets ORDER BY ALL"):
        for level, measure in (("sys", PEARSON), ("seg", ACC_EQ)):
            found = in_sql.get((testset, lp, level), {})
            expected = reasons_in_python(warehouse, testset, lp, measure)
            where = (testset, lp, level)
            if expected is None:
                assert found, where
                assert None not in found.values(), where
            else:
                assert found == expected, where
                ranked += 1
    assert ranked


def assert_scores_are_those_of_the_rankings(warehouse: Warehouse) -> None:
    """corr and pairwise agreement over the view, and the macros, are what `rank` gives for every evaluation set."""
    pearson = {
        row[:3]: row[3:]
        for row in warehouse.rows(
            """
            SELECT testset, lp, metric, corr(human_score, metric_score), count(*), any_value(score_source)
            FROM ranked_scores
            GROUP BY ALL
            """
        )
    }
    seen = set()
    for testset, lp in warehouse.rows("SELECT testset, lp FROM evalsets ORDER BY ALL"):
        try:
            found = study(warehouse, Slice(testset, lp), [PEARSON, PA], Options()).results
        except QuestionError:
            found = ()
        for result, macro in zip(found, ("pearson_by_metric", "pairwise_accuracy_by_metric"), strict=False):
            values = result.evaluation
            column = macro.removesuffix("_by_metric")
            rows = {
                metric: (value, n)
                for metric, value, n in warehouse.rows(
                    f"SELECT metric, {column}, n_systems FROM {macro}($testset, $lp) WHERE reason IS NULL",
                    {"testset": testset, "lp": lp},
                )
            }
            names = [metric.name for metric in values.metrics]
            assert sorted(rows) == sorted(names), (testset, lp)
            for name, value, source in zip(names, values.value.tolist(), values.system_score, strict=True):
                where = (testset, lp, name, column)
                in_macro, n = rows[name]
                assert (in_macro is None) == math.isnan(value), where
                assert in_macro is None or abs(in_macro - value) < 1e-9, where
                if column == "pearson":
                    seen.add(where[:3])
                    in_view, n_rows, source_in_view = pearson[where[:3]]
                    assert (n_rows, source_in_view) == (n, source), where
                    assert math.isnan(value) or abs(in_view - value) < 1e-9, where
    assert seen == set(pearson)


def test_participants_of_the_simulated_task_are_those_of_python(simulated_warehouse: Warehouse) -> None:
    assert_participants_are_those_of_python(simulated_warehouse)


def test_scores_of_the_simulated_task_give_its_rankings(simulated_warehouse: Warehouse) -> None:
    assert_scores_are_those_of_the_rankings(simulated_warehouse)
