"""The data definition: numbered files, applied in order, every object of it commented."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import migrations
from tests.warehouse.building import empty_warehouse
from warehouse.database.updating import apply_migrations, pending

PUBLIC = {
    *("testsets", "evalsets", "segments", "texts", "systems", "spellings", "metrics", "metric_facts", "humans"),
    "standardised_judgements",
    *("sources", "known_issues", "results", "scores", "human_scores", "system_scores", "aggregate_scores"),
    *(
        "judgements",
        "annotations",
        "preferences",
        "phenomena",
        "spans",
        "span_scores",
        "pair_counts",
        "participants",
        "ranked_scores",
        "scored_segments",
        "human_pairs",
    ),
    *("judgement_pairs", "languages", "rankings", "comparisons", "trends"),
}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory with all migrations applied; read it only."""
    with duckdb.connect() as connection:
        apply_migrations(connection, "memory")
        yield connection


def test_migrations_are_numbered_from_one_without_gap() -> None:
    *found, views = migrations.sql_files()
    assert [number for number, _, _ in found] == list(range(1, len(found) + 1))
    assert views[:2] == (migrations.VIEWS, "views")
    assert all(name.startswith(f"{number:04}_") and name.endswith(".sql") for number, name, _ in found)


@pytest.mark.slow
def test_every_migration_can_follow_those_before_it() -> None:
    with duckdb.connect() as connection:
        for last in range(1, len(migrations.sql_files()) + 1):
            available = migrations.sql_files()[:last]
            assert apply_migrations(connection, "memory", available) == [available[-1][1]]
            assert pending(connection, "memory", available) == []


@pytest.mark.slow
def test_a_client_that_lists_tables_sees_the_public_views_alone(tmp_path: Path) -> None:
    database = empty_warehouse(tmp_path / "empty.duckdb")
    for client in (duckdb.connect(str(database), read_only=True), duckdb.connect()):
        with client:
            if client.execute("SELECT current_database()").fetchone() == ("memory",):
                client.execute(f"ATTACH '{database}' AS other (READ_ONLY); USE other")
            assert {name for (name,) in client.execute("SHOW TABLES").fetchall()} == PUBLIC
            for view in sorted(PUBLIC):
                assert client.execute(f"FROM {view} LIMIT 1").fetchall() == []


def test_every_table_is_internal(connection: duckdb.DuckDBPyConnection) -> None:
    schemas = connection.execute("SELECT DISTINCT schema_name FROM duckdb_tables() WHERE NOT internal").fetchall()
    assert schemas == [("internal",)]


def test_no_migration_makes_a_schema_or_needs_an_extension(connection: duckdb.DuckDBPyConnection) -> None:
    text = "".join(text for _, _, text in migrations.sql_files())
    assert re.findall(r"(?m)^\s*(?:CREATE SCHEMA|INSTALL|LOAD|ATTACH|PRAGMA|SET)\b.*", text) == []
    kinds = {
        kind
        for (kind,) in connection.execute(
            "SELECT DISTINCT data_type FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
    }
    assert not any("TIME ZONE" in kind or kind.startswith("ENUM") for kind in kinds)


def test_every_table_view_and_column_is_commented(connection: duckdb.DuckDBPyConnection) -> None:
    objects = connection.execute(
        """
        SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal
        UNION ALL
        SELECT view_name, comment FROM duckdb_views() WHERE NOT internal
        UNION ALL
        SELECT concat(table_name, '.', column_name), comment FROM duckdb_columns() WHERE NOT internal
        """
    ).fetchall()
    assert len(objects) > 200
    assert sorted(name for name, comment in objects if not (comment or "").strip()) == []


def test_every_macro_is_commented(connection: duckdb.DuckDBPyConnection) -> None:
    macros = connection.execute(
        "SELECT function_name, comment FROM duckdb_functions() WHERE NOT internal AND function_type LIKE '%macro'"
    ).fetchall()
    assert {"tau_a", "tau_b", "acc23", "concordance"} <= {name for name, _ in macros}
    assert sorted(name for name, comment in macros if not (comment or "").strip()) == []


def test_comments_end_with_a_full_stop(connection: duckdb.DuckDBPyConnection) -> None:
    comments = connection.execute(
        """
        SELECT comment FROM duckdb_tables() WHERE NOT internal
        UNION ALL
        SELECT comment FROM duckdb_views() WHERE NOT internal
        UNION ALL
        SELECT comment FROM duckdb_columns() WHERE NOT internal
        """
    ).fetchall()
    assert [comment for (comment,) in comments if not comment.endswith((".", "?"))] == []


def test_scores_that_are_no_finite_number_are_refused_by_the_tables(connection: duckdb.DuckDBPyConnection) -> None:
    for table in ("score", "aggregate_score"):
        for value in ("nan", "inf", "-inf"):
            with pytest.raises(duckdb.ConstraintException):
                connection.execute(f"INSERT INTO {table} VALUES (1, 1, '{value}'::DOUBLE)")


@pytest.mark.slow
def test_spellings_have_their_names_and_rules_joined_in() -> None:
    with duckdb.connect() as connection:
        apply_migrations(connection, "memory")
        connection.execute("INSERT INTO testset (testset_id, name) VALUES (1, 'wmt20')")
        connection.execute(
            "INSERT INTO evalset (evalset_id, testset_id, lp, source_language, target_language, lp_base) "
            "VALUES (1, 1, 'ps-en', 'ps', 'en', 'ps-en'), (2, 1, 'km-en', 'km', 'en', 'km-en')"
        )
        connection.execute(
            "INSERT INTO system (system_id, evalset_id, name, canonical_name, kind) VALUES "
            "(1, 1, 'Huawei_TSC.1533', 'Huawei_TSC', 'mt'), (2, 2, 'Huawei_TSC.1539', 'Huawei_TSC', 'mt')"
        )
        connection.execute("INSERT INTO system_spelling VALUES (1, 'Huawei-TSC.1533', 'same letters and digits')")
        found = connection.execute("SELECT testset, lp, system, spelling, rule FROM spellings").fetchall()
    assert found == [("wmt20", "ps-en", "Huawei_TSC.1533", "Huawei-TSC.1533", "same letters and digits")]
