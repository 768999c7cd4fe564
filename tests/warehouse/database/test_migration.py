"""Bringing a warehouse file up to date: each migration once, whole or not at all, and never another text."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import migrations
from metaeval.results.signature import program_version
from migrations import VIEWS
from queries import adhoc
from tests.helpers import tiny_layout, with_views_of_before
from tests.warehouse.building import empty_warehouse, held, held_by, loaded, statuses
from tests.warehouse.database import upgrades
from warehouse import QuestionError, SchemaError, Warehouse, load
from warehouse.database import updating
from warehouse.database.updating import Migration, apply_migrations, pending, writing

ONE: Migration = (1, "0001_one.sql", "CREATE TABLE one (x INTEGER);")
TWO: Migration = (2, "0002_two.sql", "CREATE TABLE two (x INTEGER); INSERT INTO two VALUES (1);")


def _tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]


def test_migrations_are_applied_once_and_in_order() -> None:
    with duckdb.connect() as connection:
        assert pending(connection, "x", [ONE, TWO]) == [ONE, TWO]
        assert apply_migrations(connection, "x", [ONE]) == ["0001_one.sql"]
        assert pending(connection, "x", [ONE, TWO]) == [TWO]
        assert apply_migrations(connection, "x", [ONE, TWO]) == ["0002_two.sql"]
        assert apply_migrations(connection, "x", [ONE, TWO]) == []
        assert connection.execute("FROM two").fetchall() == [(1,)]


def test_the_ledger_keeps_name_checksum_and_time() -> None:
    with duckdb.connect() as connection:
        apply_migrations(connection, "x", [ONE, TWO])
        rows = connection.execute(
            "SELECT number, name, sha256, abs(epoch(now()::TIMESTAMP) - epoch(applied_at)) < 86400 "
            "FROM schema_migration ORDER BY number"
        ).fetchall()
    assert rows == [(n, name, hashlib.sha256(text.encode()).hexdigest(), True) for n, name, text in (ONE, TWO)]


def test_looking_for_what_is_pending_changes_nothing() -> None:
    with duckdb.connect() as connection:
        pending(connection, "x", [ONE])
        assert _tables(connection) == []


def test_a_migration_that_fails_leaves_nothing_of_itself() -> None:
    broken: Migration = (2, "0002_two.sql", "CREATE TABLE two (x INTEGER); INSERT INTO two VALUES ('x');")
    with duckdb.connect() as connection:
        with pytest.raises(duckdb.ConversionException):
            apply_migrations(connection, "x", [ONE, broken])
        assert _tables(connection) == ["one", "schema_migration"]
        assert apply_migrations(connection, "x", [ONE, TWO]) == ["0002_two.sql"]


def test_a_first_migration_that_fails_leaves_no_ledger() -> None:
    with duckdb.connect() as connection:
        with pytest.raises(duckdb.ConversionException):
            apply_migrations(connection, "x", [(1, "0001_one.sql", "CREATE TABLE one AS SELECT 'x'::INTEGER;")])
        assert _tables(connection) == []


COMMON = "CREATE OR REPLACE MACRO internal.common_meaning(name) AS CASE name WHEN 'x' THEN 'A number.' END;"
VIEWS_ONE: Migration = (VIEWS, "views", f"{COMMON} CREATE OR REPLACE VIEW seen AS SELECT x FROM one;")
VIEWS_TWO: Migration = (VIEWS, "views", f"{COMMON} CREATE OR REPLACE VIEW seen AS SELECT x, x + 1 AS y FROM one;")


def test_views_are_made_anew_when_their_text_changed_and_only_then() -> None:
    with duckdb.connect() as connection:
        assert apply_migrations(connection, "x", [ONE, VIEWS_ONE]) == ["0001_one.sql", "views"]
        assert apply_migrations(connection, "x", [ONE, VIEWS_ONE]) == []
        connection.execute("INSERT INTO one VALUES (1)")
        assert pending(connection, "x", [ONE, VIEWS_TWO]) == [VIEWS_TWO]
        assert apply_migrations(connection, "x", [ONE, VIEWS_TWO]) == ["views"]
        assert connection.execute("FROM seen").fetchall() == [(1, 2)]
        assert connection.execute("SELECT count(*) FROM schema_migration").fetchone() == (2,)


def test_columns_have_the_common_meaning_of_their_name_where_a_commented_view_says_none() -> None:
    views = """
    CREATE VIEW "no""name" AS SELECT x, x + 1 AS y FROM one;
    COMMENT ON VIEW "no""name" IS 'Without words for x.';
    CREATE VIEW saying AS SELECT x FROM one;
    COMMENT ON VIEW saying IS 'With its own.';
    COMMENT ON COLUMN saying.x IS 'Its own.';
    """
    with duckdb.connect() as connection:
        apply_migrations(connection, "x", [ONE])
        connection.execute("CREATE VIEW of_a_user AS SELECT x FROM one")
        apply_migrations(connection, "x", [ONE, (VIEWS, "views", COMMON + views)])
        found = connection.execute(
            "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE column_name IN ('x', 'y') ORDER BY ALL"
        ).fetchall()
    expected = [
        ('no"name', "x", "A number."),
        ('no"name', "y", None),
        ("of_a_user", "x", None),
        ("one", "x", None),
        ("saying", "x", "Its own."),
    ]
    assert found == expected


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "n",
    [
        pytest.param(1, marks=pytest.mark.long("1 second")),
        len(migrations.sql_files()) // 2,
        pytest.param(len(migrations.sql_files()) - 1, marks=pytest.mark.long("1 second")),
    ],
)
def test_a_first_load_that_was_killed_between_migrations_is_no_earlier_scorehouse(
    n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, database = migrations.sql_files(), tmp_path / "a.duckdb"
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "sql_files", lambda: files[:n])
        with duckdb.connect() as connection, writing(database, connection):
            pass
    with pytest.raises(SchemaError, match="a warehouse without scores yet; `scorehouse load PATH` fills it"):
        Warehouse.open(database)
    assert load([tiny_layout(tmp_path / "in")], database).is_clean
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT testset FROM testsets") == [("tiny24",)]


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted(path.stem for path in upgrades.FOLDER.glob("*.json")))
def test_a_warehouse_of_a_released_version_is_upgraded_and_answers_alike(version: str, tmp_path: Path) -> None:
    database = upgrades.remade(version, tmp_path)
    with_views_of_before(database)
    with Warehouse.open(database) as warehouse:
        found = upgrades.answers(warehouse)
    told = (upgrades.FOLDER / f"{version}.json").read_text("utf-8")
    assert f"scorehouse:{version}" in told
    for name, rows in json.loads(told.replace(f"scorehouse:{version}", f"scorehouse:{program_version()}")).items():
        assert len(found[name]) == len(rows)
        for row, before in zip(found[name], rows, strict=True):  # columns may have come
            for key, value in before.items():
                assert row[key] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value), (name, key)


def _changed(monkeypatch: pytest.MonkeyPatch, *more: Migration, views: str = "") -> None:
    """A program with more migrations, and with more views."""
    *tables, (number, name, text) = migrations.sql_files()
    monkeypatch.setattr(migrations, "sql_files", lambda: [*tables, *more, (number, name, text + views)])


NEXT = len(migrations.sql_files())


@pytest.mark.slow
def test_a_warehouse_answers_alike_after_a_views_text_a_column_and_a_table_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(updating._LOG, "disabled", False)  # whatever other tests did to logging
    database = loaded(tiny_layout(tmp_path / "in"), tmp_path / "a.duckdb")
    before = held(database)
    column = "ALTER TABLE internal.segment ADD COLUMN note VARCHAR DEFAULT 'none';"
    changes = [
        ([], "-- A comment.\n"),
        ([(NEXT, "0008_note.sql", column)], "CREATE OR REPLACE VIEW notes AS SELECT note FROM internal.segment;"),
        ([(NEXT, "0008_note.sql", column), (NEXT + 1, "0009_more.sql", "CREATE TABLE internal.more (x INTEGER);")], ""),
    ]
    for tables, views in changes:
        with monkeypatch.context() as patch:
            _changed(patch, *tables, views=views)
            assert held(database) == before
            with Warehouse.open(database) as warehouse:
                if "notes" in views:
                    assert warehouse.rows("SELECT DISTINCT note FROM notes") == [("none",)]
    told = [record.getMessage() for record in caplog.records if "not used: view notes" not in record.getMessage()]
    assert told == [f"{database} was brought up to date with {names}" for names in NAMES]


NAMES = ("views", "0008_note.sql, views", "0009_more.sql, views")


@pytest.mark.slow
def test_a_migration_that_fails_leaves_a_file_of_before_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = loaded(tiny_layout(tmp_path / "in"), tmp_path / "a.duckdb")
    before = held(database)
    with monkeypatch.context() as patch:
        _changed(patch, (NEXT, "0008_broken.sql", "CREATE TABLE internal.more AS SELECT 'x'::INTEGER AS x;"))
        with pytest.raises((duckdb.Error, SchemaError)):
            Warehouse.open(database)
    assert held(database) == before


@pytest.mark.slow
def test_a_load_brings_an_older_database_up_to_date_and_says_so(tmp_path: Path) -> None:
    database = loaded(tiny_layout(tmp_path / "in"), tmp_path / "a.duckdb")
    with_views_of_before(database)
    report = load([tiny_layout(tmp_path / "more", testset="other24")], database)
    assert (report.faults, statuses(report)) == ([], ["loaded"])
    assert report.notes == [f"{database} was brought up to date with views"]
    assert len(held(database)["human_scores"]) == 40


@pytest.mark.slow
def test_a_load_asks_a_file_whose_views_are_of_before(tmp_path: Path) -> None:
    """Not as one without scores: the tables' names are found only once it is known what they are."""
    database = loaded(tiny_layout(tmp_path / "in"), tmp_path / "a.duckdb")
    with_views_of_before(database)
    with duckdb.connect() as connection, updating.reading(database, connection) as ask:
        assert ask("SELECT name FROM testset", {}) == [("tiny24",)]


_READER = """
import duckdb, sys
with duckdb.connect(sys.argv[1], read_only=True):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_views_are_made_in_memory_where_somebody_else_reads_the_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updating._LOG, "disabled", False)  # whatever other tests did to logging
    database = loaded(tiny_layout(tmp_path / "in"), tmp_path / "a.duckdb")
    with duckdb.connect(str(database)) as connection:
        name = f"""x" AS SELECT 1; COPY (SELECT 1) TO '{tmp_path / "stolen.csv"}'; --"""
        connection.execute("CREATE TABLE internal." + '"' + name.replace('"', '""') + '" (x INTEGER)')
    before = held(database)
    with_views_of_before(database)
    words = [sys.executable, "-c", _READER, str(database)]
    data = database.read_bytes()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdin is not None
        reader.stdout.readline()
        with Warehouse.open(database) as warehouse:
            assert held_by(warehouse.rows) == before
            with pytest.raises(QuestionError):
                warehouse.sql(f"FROM read_text('{__file__}')")
        assert adhoc.answer(database, "SELECT testset FROM testsets").rows() == [("tiny24",)]
        monkeypatch.setattr(updating, "pending", lambda *_: [(1, "0001_testset.sql", "")])
        with pytest.raises(SchemaError, match=r"lock.*; the warehouse is of an earlier version and must be upgraded"):
            Warehouse.open(database)
        reader.stdin.close()
    assert database.read_bytes() == data
    assert not list(tmp_path.glob("*.csv"))
    assert {record.getMessage() for record in caplog.records} == {
        f"{database}: read-only, with views of another version; the views were created in memory",
        f"{database}: not created by scorehouse, and not used: table {name[:40]!r}…",
    }


@pytest.mark.slow
@pytest.mark.parametrize("act", [Warehouse.open, lambda path: load([path.parent / "in"], path)], ids=["open", "load"])
def test_a_database_of_a_newer_program_or_with_changed_migrations_is_left_alone(act: object, tmp_path: Path) -> None:
    tiny_layout(tmp_path / "in")
    statements = {
        "made by a newer scorehouse": "INSERT INTO schema_migration VALUES (9999, '9999_z.sql', 'x', '2030-01-01')",
        "made by an unreleased version of scorehouse": "UPDATE schema_migration SET sha256 = 'x' WHERE number = 2",
    }
    for words, statement in statements.items():
        database = empty_warehouse(tmp_path / "a.duckdb")
        with duckdb.connect(str(database)) as connection:
            connection.execute("USE internal")
            connection.execute(statement)
        before = database.read_bytes()
        with pytest.raises(SchemaError, match=words):
            act(database)  # type: ignore[operator]
        assert database.read_bytes() == before
