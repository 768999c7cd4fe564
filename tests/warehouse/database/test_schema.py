"""A stranger's file: what it defines is compared with ours, and it reaches nothing outside."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.helpers import tiny_bytes, tiny_layout
from tests.sharing import written
from tests.warehouse.building import ask, empty_warehouse, loaded
from warehouse import LimitError, QuestionError, SchemaError, Warehouse, load, migrate
from warehouse.database.schema import definitions, missing_migrations
from warehouse.database.updating import writing
from warehouse.export import export


def _changed(database: Path, *statements: str) -> Path:
    """The file with something that somebody else's hand did to it."""
    with duckdb.connect(str(database)) as connection:
        for statement in statements:
            connection.execute(statement)
    return database


HOSTILE = {
    "a view that reads a file": (
        "CREATE OR REPLACE VIEW testsets AS SELECT content AS testset FROM read_text('/etc/hostname')",
        "view main.testsets is not defined as scorehouse defines it: it has",
    ),
    "a view that never ends": (
        "CREATE OR REPLACE VIEW testsets AS WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) FROM r",
        "view main.testsets is not defined as scorehouse defines it: it has",
    ),
    "a macro that shadows a function": (
        "CREATE MACRO avg(x) AS 1",
        "macro main.avg is none of scorehouse's",
    ),
    "a second form of a macro": (
        "CREATE OR REPLACE MACRO tau_a(c) AS (SELECT content FROM read_text('/etc/hostname')), (c, d) AS 1",
        "macro main.tau_a is not defined as scorehouse defines it",
    ),
    "a view in the way of a table": (
        "CREATE VIEW main.testset AS SELECT 1",
        "view main.testset is none of scorehouse's",
    ),
    "one more table": ("CREATE TABLE internal.mine (x INTEGER)", "table internal.mine is none of scorehouse's"),
    "one more schema": ("CREATE SCHEMA mine", "schema mine is none of scorehouse's"),
    "one more type": ("CREATE TYPE mood AS ENUM ('good')", "type main.mood is none of scorehouse's"),
    "one more sequence": ("CREATE SEQUENCE counting", "sequence main.counting is none of scorehouse's"),
    "a name with an escape": (
        'CREATE TABLE "\x1b[2J" (x INTEGER)',
        "table main.\x1b[2J is none of scorehouse's",
    ),
    "a missing table": ("DROP TABLE internal.rating", "table internal.rating is missing"),
    "a missing view": ("DROP VIEW texts", "view main.texts is missing"),
    "a table without its key": (
        "DROP TABLE internal.result; CREATE TABLE internal.result (key VARCHAR)",
        "table internal.result is not defined as scorehouse defines it: it has no",
    ),
    "a column that computes": (
        "ALTER TABLE internal.rating ADD COLUMN x INTEGER",
        "table internal.rating is not defined as scorehouse defines it: it has x",
    ),
    "a ledger that computes": (
        "DROP TABLE internal.schema_migration; CREATE TABLE internal.schema_migration (number INTEGER, name VARCHAR,"
        " sha256 VARCHAR AS (repeat('x', 1000000000)))",
        "table internal.schema_migration is not defined as scorehouse defines it",
    ),
    "a ledger that is a view": (
        "DROP TABLE internal.schema_migration; CREATE VIEW internal.schema_migration AS"
        " SELECT 1 AS number, content AS name, '' AS sha256 FROM read_text('/etc/hostname')",
        "not a scorehouse warehouse",
    ),
}
N_ACTS = 3  # definitions that meet one more act than opening
ACTS: dict[str, Callable[[Path], object]] = {
    "open": Warehouse.open,
    "migrate": migrate,
    "load": lambda path: load([tiny_layout(path.parent / "in")], path),
    "export": lambda path: export(path, path.parent / "out"),
}


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("what", "acts"),
    [
        *((what, ("open", list(ACTS)[1 + n % 3]) if n < N_ACTS else ("open",)) for n, what in enumerate(HOSTILE)),
        *(pytest.param(what, tuple(ACTS), marks=pytest.mark.long("every act on each: 4 seconds")) for what in HOSTILE),
    ],
)
def test_a_definition_that_is_not_ours_is_refused_and_named_by_whatever_opens_the_file(
    what: str, acts: tuple[str, ...], tmp_path: Path
) -> None:
    """By opening it, and in some by one of the other acts in turn."""
    statement, words = HOSTILE[what]
    database = _changed(empty_warehouse(tmp_path / "a.duckdb"), statement)
    before = database.read_bytes()
    for act in acts:
        with pytest.raises(SchemaError) as told:
            ACTS[act](database)
        assert words in str(told.value)
        assert "\n" not in str(told.value)
        assert database.read_bytes() == before


@pytest.mark.slow
def test_a_file_that_was_found_whole_is_looked_at_again_when_somebody_wrote_to_it(tmp_path: Path) -> None:
    database = empty_warehouse(tmp_path / "a.duckdb")
    assert ask(database, "FROM testsets") == []
    _changed(database, "CREATE MACRO avg(x) AS 1")
    with pytest.raises(SchemaError, match=r"macro main\.avg"):
        ask(database, "FROM testsets")
    with (
        duckdb.connect() as connection,
        pytest.raises(SchemaError, match=r"macro main\.avg"),
        writing(database, connection),
    ):
        pytest.fail("opened for writing")


@pytest.mark.slow
def test_a_file_that_this_process_wrote_is_whole_until_somebody_else_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = []
    monkeypatch.setattr("warehouse.database.schema.definitions", lambda one: looked_at.append(one) or definitions(one))
    database = loaded(tiny_layout(tmp_path / "in"), tmp_path / "a.duckdb")
    assert ask(database, "SELECT testset FROM testsets") == [("tiny24",)]
    assert load([tmp_path / "in"], database).is_clean
    assert looked_at == []
    _changed(database, "CREATE MACRO main.mine(x) AS x + 1")
    with pytest.raises(SchemaError, match=r"macro main\.mine is none of scorehouse's"):
        load([tmp_path / "in"], database)
    assert len(looked_at) == 1


def test_definitions_are_the_same_words_in_memory_and_in_a_file(tmp_path: Path) -> None:
    """The file does not keep them as they were written; other versions of DuckDB write them otherwise again."""
    with duckdb.connect(str(empty_warehouse(tmp_path / "a.duckdb")), read_only=True) as connection:
        assert {kind for kind, _, _ in definitions(connection)} == {"schema", "table", "view", "macro", "table_macro"}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warehouse.database.schema.known_digests", frozenset)
            assert missing_migrations(connection, "x") == []


@pytest.mark.parametrize(
    "query",
    [
        "SELECT content FROM read_text('{file}')",
        "FROM '{file}'",
        "COPY (SELECT 1) TO '{file}.out'",
        "ATTACH '{file}' AS other",
        "SET enable_external_access = true",
        "SET threads = 1",
        "INSTALL httpfs",
        "LOAD '{file}'",
    ],
)
def test_an_open_warehouse_reaches_nothing_outside(query: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a\n42424242\n")
    with Warehouse.open(empty_warehouse(tmp_path / "a.duckdb")) as warehouse:
        with pytest.raises(QuestionError) as told:
            warehouse.rows(query.format(file=file))
        assert "42424242" not in str(told.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.duckdb", "secret.csv"]


def test_an_export_writes_below_its_folder_alone(tmp_path: Path) -> None:
    with Warehouse.open(empty_warehouse(tmp_path / "a.duckdb"), writes_below=tmp_path / "out") as warehouse:
        (tmp_path / "out").mkdir()
        warehouse.rows(f"COPY (SELECT 1) TO '{tmp_path}/out/x.csv'")
        for place in ("outside.csv", "out/../outside.csv", "out2/x.csv"):
            with pytest.raises(QuestionError, match="Permission"):
                warehouse.rows(f"COPY (SELECT 1) TO '{tmp_path}/{place}'")


def test_a_file_that_is_open_already_is_not_exported_in_the_same_program(tmp_path: Path) -> None:
    database = written(tmp_path / "a.duckdb", tiny_bytes())
    with Warehouse.open(database), pytest.raises(SchemaError, match="open in this program already; close it"):
        export(database, tmp_path / "out")
    assert export(database, tmp_path / "out")


def test_questions_have_a_time_limit(tmp_path: Path) -> None:
    endless = "SELECT count(*) FROM range(1000000000) AS a, range(1000000000) AS b WHERE sin(a.range + b.range) > 2"
    with Warehouse.open(empty_warehouse(tmp_path / "a.duckdb")) as warehouse:
        for asked in (warehouse.rows, warehouse.sql):
            with pytest.raises(LimitError, match=r"no answer after 0\.1 s"), warehouse.within(0.1):
                asked(endless)
        with warehouse.within(60):
            assert warehouse.rows("SELECT 1") == [(1,)]
