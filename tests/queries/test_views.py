"""Every view under conditions: DuckDB moves them into the view, and versions differ in how."""

import itertools

import pytest

from warehouse import QuestionError, Warehouse

VALUES = {"VARCHAR": "'x'", "BOOLEAN": "true", "DOUBLE": "1.5", "INTEGER": "2", "BIGINT": "2", "SMALLINT": "2"}


def _conditions(columns: list[tuple[str, str]]) -> list[str]:
    """An equation for each column with a plain type."""
    return [f'"{name}" = {VALUES[kind]}' for name, kind in columns if kind in VALUES]


def _views(warehouse: Warehouse) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for view, name, kind in warehouse.rows(
        "SELECT c.table_name, c.column_name, c.data_type FROM duckdb_columns() AS c "
        "JOIN duckdb_views() AS v ON v.view_name = c.table_name AND v.schema_name = c.schema_name "
        "WHERE NOT v.internal AND c.schema_name = 'main' ORDER BY ALL"
    ):
        found.setdefault(view, []).append((name, kind))
    return found


@pytest.mark.parametrize("one_place", [True, pytest.param(False, marks=pytest.mark.long("1,900 plans: 20 seconds"))])
def test_a_view_is_planned_under_any_two_conditions(one_place: bool, tiny: Warehouse) -> None:
    """By default those that everybody sets, test set and language pair."""
    views = _views(tiny)
    assert len(views) >= 25
    n = 0
    for view, columns in views.items():
        asked = [column for column in columns if column[0] in ("testset", "lp")] if one_place else columns
        for conditions in itertools.combinations(_conditions(asked), 2):
            n += 1
            assert tiny.rows(f"EXPLAIN SELECT * FROM {view} WHERE {' AND '.join(conditions)}"), (view, conditions)
    assert n >= (20 if one_place else 1500)


@pytest.mark.parametrize("rows", ["", " WHERE false"])
def test_two_columns_of_one_name_are_a_question_error_with_and_without_rows(tiny: Warehouse, rows: str) -> None:
    with pytest.raises(QuestionError, match="two columns with the same name in the result: 'a'; rename one with AS"):
        tiny.sql(f"SELECT 1 AS a, 2 AS a{rows}")
