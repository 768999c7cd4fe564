"""Bringing a warehouse file up to date: each migration once, whole or not at all, and never another text."""

import hashlib
from pathlib import Path

import duckdb
import pytest

import migrations
from tests.helpers import tiny_layout
from tests.warehouse.building import ask, empty_warehouse, held, loaded, statuses
from warehouse import SchemaError, Warehouse, load, migrate
from warehouse.database.migration import Migration, apply_migrations, pending
from warehouse.database.updating import writing

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


def test_an_applied_migration_with_another_text_is_refused() -> None:
    with duckdb.connect() as connection:
        apply_migrations(connection, "x", [ONE])
        with pytest.raises(SchemaError, match=r"^x: migration 0001_one.sql was applied with a different text"):
            pending(connection, "x", [(1, "0001_one.sql", ONE[2] + " "), TWO])


def test_a_migration_that_this_program_does_not_know_is_of_a_newer_one() -> None:
    with duckdb.connect() as connection:
        apply_migrations(connection, "x", [ONE, TWO])
        with pytest.raises(
            SchemaError, match=r"made by a newer scorehouse \(it has migration 0002_two.sql, .*0001_one"
        ):
            pending(connection, "x", [ONE])


def test_tables_without_a_ledger_are_somebody_elses() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")
        with pytest.raises(SchemaError, match="a DuckDB database, but not a scorehouse warehouse"):
            apply_migrations(connection, "x", [ONE])
        assert _tables(connection) == ["mine"]


@pytest.fixture(scope="module")
def old_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A warehouse with an evaluation set, of a program that knew all migrations but the last."""
    files, database = migrations.sql_files(), tmp_path_factory.mktemp("old") / "old.duckdb"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "sql_files", lambda: files[:-1])
        with duckdb.connect() as connection, writing(database, connection):
            connection.execute("INSERT INTO testset (testset_id, name) VALUES (1, 'tiny24')")
            connection.execute(
                "INSERT INTO evalset (evalset_id, testset_id, lp, source_language, target_language, lp_base)"
                " VALUES (1, 1, 'en-de', 'en', 'de', 'en-de')"
            )
    return database.read_bytes()


@pytest.fixture
def old_database(old_bytes: bytes, tmp_path: Path) -> Path:
    (tmp_path / "old.duckdb").write_bytes(old_bytes)
    return tmp_path / "old.duckdb"


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
def test_an_older_database_asks_for_migrate_and_is_up_to_date_after_it(old_database: Path) -> None:
    last = migrations.sql_files()[-1][1]
    with pytest.raises(SchemaError, match=r"earlier scorehouse \(1 migrations? behind\).*scorehouse migrate"):
        Warehouse.open(old_database)
    assert migrate(old_database) == [last]
    assert ask(old_database, "FROM scores") == []
    before = old_database.read_bytes()
    assert migrate(old_database) == []
    assert old_database.read_bytes() == before


@pytest.mark.slow
def test_a_load_brings_an_older_database_up_to_date_and_says_so(old_database: Path, tmp_path: Path) -> None:
    report = load([tiny_layout(tmp_path / "in")], old_database)
    assert report.faults == []
    assert statuses(report) == ["loaded"]
    assert report.notes == [f"{old_database}: brought up to date with {migrations.sql_files()[-1][1]}"]
    assert len(held(old_database)["human_scores"]) == 20


@pytest.mark.slow
def test_migrating_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = loaded(tiny_layout(tmp_path / "in"), tmp_path / "a.duckdb")
    before = held(database)
    more = [*migrations.sql_files(), (99, "0099_more.sql", "CREATE TABLE more (x INTEGER);")]
    monkeypatch.setattr(migrations, "sql_files", lambda: more)
    assert migrate(database) == ["0099_more.sql"]
    assert held(database) == before


@pytest.mark.parametrize("act", [migrate, lambda path: load([path.parent / "in"], path)], ids=["migrate", "load"])
def test_a_database_of_a_newer_program_or_with_changed_migrations_is_left_alone(act: object, tmp_path: Path) -> None:
    tiny_layout(tmp_path / "in")
    statements = {
        "made by a newer scorehouse": "INSERT INTO schema_migration VALUES (9999, '9999_z.sql', 'x', '2030-01-01')",
        "applied with a different text": "UPDATE schema_migration SET sha256 = 'x' WHERE number = 2",
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


def test_there_is_nothing_to_migrate_where_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no warehouse yet"):
        migrate(tmp_path / "a.duckdb")
    assert not (tmp_path / "a.duckdb").exists()


def test_migrating_what_is_no_database_leaves_it_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Some notes.\n" * 1000)
    with pytest.raises(SchemaError, match="not a DuckDB database"):
        migrate(file)
    assert file.read_text() == "Some notes.\n" * 1000
