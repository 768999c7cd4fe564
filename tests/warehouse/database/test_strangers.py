"""A stranger's file: whatever it defines, it reaches nothing outside and has a time limit."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import migrations
from tests.helpers import sampled, tiny_bytes, tiny_layout
from tests.sharing import written
from tests.warehouse.building import ask, empty_warehouse
from tests.warehouse.database.forged import AGES, FORGED, forge
from warehouse import LimitError, QuestionError, SchemaError, Warehouse, WarehouseError, load, unload
from warehouse.database import catalogue, opening, updating
from warehouse.database.connection import StoredResult, store_results
from warehouse.export import export

SECRET = "42424242"


def opened(database: Path, caplog: pytest.LogCaptureFixture) -> tuple[str, str]:
    """What becomes of a file that is opened and asked, and all that is said and shown."""
    caplog.clear()
    try:
        with Warehouse.open(database) as warehouse:
            shown = repr(warehouse.rows("FROM testsets, evalsets, known_issues, results"))
    except WarehouseError as error:
        return "refused", str(error)
    said = " ".join(record.getMessage() for record in caplog.records)
    words = {"not used": "noted", "was brought up to date with views": "anew", "": "ours"}
    return next(ending for words, ending in words.items() if words in said), said + shown


@pytest.mark.parametrize(("what", "age"), sampled(7, "9 seconds", FORGED, AGES))
def test_a_forged_file_is_refused_or_loses_what_it_defines_and_nothing_of_it_runs(
    what: str, age: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updating._LOG, "disabled", False)  # whatever other tests did to logging
    (tmp_path / "secret.txt").write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        places = {"secret": tmp_path / "secret.txt", "out": tmp_path / "out.csv"}
        try:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/x"
            database = forge(tmp_path / "a.duckdb", what, age, url=url, **places)
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException) as error:
            pytest.skip(str(error))
        ending, said = opened(database, caplog)
        with pytest.raises(BlockingIOError):
            listening.accept()
    wanted = FORGED[what][1]
    assert ending == ("anew" if (wanted, age) == ("ours", "older") else wanted), said
    assert SECRET not in said
    assert "\x1b" not in said
    assert SECRET.encode() not in database.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.duckdb", "secret.txt"]


@pytest.mark.slow
def test_what_definitions_are_compared_with_is_written_down_as_this_duckdb_prints_it() -> None:
    """`python -m docs.generate` renews it; each version of DuckDB adds its own spelling."""
    kept = json.loads(Path(migrations.__file__).with_name("catalogue.json").read_text("utf-8"))
    available = migrations.sql_files()
    assert kept["migrations"] == catalogue.checksum_of(available)
    printed = catalogue.described(available)
    assert set(printed) == set(kept["objects"])
    for name, steps in printed.items():
        for step, texts in steps.items():
            assert {*texts} <= {*kept["objects"][name][step]}, name


HOSTILE = {
    "a view": "CREATE OR REPLACE VIEW testsets AS SELECT content AS testset FROM read_text('{secret}')",
    "a view in a table's place": "DROP TABLE internal.known_issue; CREATE VIEW internal.known_issue AS SELECT "
    "content AS testset, '' AS lp, '' AS scorer, '' AS system, '' AS issue, '' AS citation FROM read_text('{secret}')",
    "a ledger": "DROP TABLE internal.schema_migration; CREATE VIEW internal.schema_migration AS "
    "SELECT 1 AS number, content AS name, '' AS sha256 FROM read_text('{secret}')",
    "a function": "CREATE MACRO main.replace(a, b, c) AS (SELECT content FROM read_text('{secret}'))",
    "a function that storing calls": "CREATE MACRO internal.now() AS (SELECT content FROM read_text('{secret}'))",
    "DuckDB's list of views": "CREATE MACRO main.duckdb_views() AS TABLE SELECT content AS view_name, "
    "current_database() AS database_name, 'internal' AS schema_name, false AS internal FROM read_text('{secret}')",
}
ACTS: dict[str, Callable[[Path], object]] = {
    "asked": lambda path: ask(path, "SELECT * FROM testsets, known_issues"),
    "loaded into": lambda path: load([tiny_layout(path.parent / "in")], path),
    "given a result": lambda path: store_results(path, [StoredResult("key", "compare", "", "", "", "", "0", 0.0)]),
    "exported": lambda path: export(path, path.parent / "out"),
}


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("what", HOSTILE)
def test_what_a_strangers_file_defines_reads_no_other_file(what: str, act: str, tmp_path: Path) -> None:
    secret, database = tmp_path / "secret.txt", written(tmp_path / "a.duckdb", tiny_bytes())
    secret.write_text(SECRET)
    with duckdb.connect(str(database)) as connection:
        connection.execute(HOSTILE[what].format(secret=secret))
    try:
        told = repr(ACTS[act](database))
    except WarehouseError as error:
        told = str(error)
    assert SECRET not in told
    assert SECRET.encode() not in database.read_bytes()
    assert not any(SECRET.encode() in path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())


@pytest.mark.slow
def test_a_load_refuses_a_file_that_hides_functions_of_duckdb_and_takes_a_user_s_own(tmp_path: Path) -> None:
    database = written(tmp_path / "a.duckdb", tiny_bytes())
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE MACRO mine(a) AS a + 1; CREATE MACRO replace(a, b, c) AS a")
    for act in (ACTS["loaded into"], lambda path: unload(path, "tiny24")):
        with pytest.raises(SchemaError, match=r"was not created by scorehouse \(it has a macro main\.replace"):
            act(database)
    with duckdb.connect(str(database)) as connection:
        connection.execute("DROP MACRO replace")
    ACTS["loaded into"](database)


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
            warehouse.sql(query.format(file=file))
        assert "42424242" not in str(told.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.duckdb", "secret.csv"]


def test_an_export_writes_below_its_folder_alone(tmp_path: Path) -> None:
    with Warehouse.open(empty_warehouse(tmp_path / "a.duckdb"), writes_below=tmp_path / "out") as warehouse:
        (tmp_path / "out").mkdir()
        warehouse.rows(f"COPY (SELECT 1) TO '{tmp_path}/out/x.csv'")
        for place in ("outside.csv", "out/../outside.csv", "out2/x.csv"):
            with pytest.raises(QuestionError, match="Permission"):
                warehouse.sql(f"COPY (SELECT 1) TO '{tmp_path}/{place}'")


def test_a_file_that_is_open_already_is_exported_unless_duckdb_keeps_it_for_one(tmp_path: Path) -> None:
    database = written(tmp_path / "a.duckdb", tiny_bytes())
    with Warehouse.open(database):
        if duckdb.__version__ < "2":
            with pytest.raises(SchemaError, match="open in this program already; close it there"):
                export(database, tmp_path / "out")
            return
        assert export(database, tmp_path / "out")
    with Warehouse.open(database) as warehouse, pytest.raises(QuestionError, match="Permission"):
        warehouse.sql(f"COPY (SELECT 1) TO '{tmp_path}/out/x.csv'")


def test_questions_have_a_time_limit(tmp_path: Path) -> None:
    endless = "SELECT count(*) FROM range(1000000000) AS a, range(1000000000) AS b WHERE sin(a.range + b.range) > 2"
    with Warehouse.open(empty_warehouse(tmp_path / "a.duckdb")) as warehouse:
        for asked in (warehouse.rows, warehouse.sql):
            with pytest.raises(LimitError, match=r"no answer after 0\.1 s"), warehouse.within(0.1):
                asked(endless)
        with warehouse.within(60):
            assert warehouse.rows("SELECT 1") == [(1,)]


@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB has no such limit before 2.0")
def test_every_query_of_the_program_has_a_time_limit_that_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "LONGEST", 0.1)
    endless = "SELECT count(*) FROM range(1000000000) AS a, range(1000000000) AS b WHERE sin(a.range + b.range) > 2"
    with Warehouse.open(empty_warehouse(tmp_path / "a.duckdb")) as warehouse:
        for asked in (warehouse.rows, warehouse.columns, warehouse.sql):
            with pytest.raises(LimitError, match=r"a query took longer than 0\.1 s and was stopped"):
                asked(endless)
        with pytest.raises(QuestionError, match="locked"):
            warehouse.sql("SET max_execution_time = 0")


def test_scores_that_no_load_takes_are_refused_before_statistics_overflow(tmp_path: Path) -> None:
    database = written(tmp_path / "a.duckdb", tiny_bytes())
    with duckdb.connect(str(database)) as connection:
        connection.execute("UPDATE internal.score SET value = 1e308 WHERE segment = 1")
    with Warehouse.open(database) as warehouse:
        with pytest.raises(SchemaError, match=r"has scores beyond 1e\+100, which scorehouse never stores"):
            warehouse.columns("SELECT value FROM internal.score")
        assert len(warehouse.columns("SELECT value FROM internal.score WHERE segment > 1")["value"])


@pytest.mark.parametrize("ending", [".wal", ".wal.recovery", ".wal.checkpoint", ".tmp"])
def test_links_and_pipes_beside_a_warehouse_are_refused_and_what_they_name_stays(ending: str, tmp_path: Path) -> None:
    database = written(tmp_path / "a.duckdb", tiny_bytes())
    beside, target = tmp_path / f"a.duckdb{ending}", tmp_path / "other.txt"
    target.write_text("precious")
    beside.symlink_to(target)
    with pytest.raises(SchemaError, match="a link or special file next to a warehouse; remove it"):
        Warehouse.open(database)
    assert target.read_text() == "precious"
    beside.unlink()
    if ending != ".tmp":
        os.mkfifo(beside)
        with pytest.raises(SchemaError, match="a link or special file"):
            Warehouse.open(database)


@pytest.mark.slow
def test_a_host_of_harmless_macros_is_refused_at_once(tmp_path: Path) -> None:
    database = written(tmp_path / "a.duckdb", tiny_bytes())
    with duckdb.connect(str(database)) as connection:
        connection.execute("".join(f"CREATE MACRO main.zz{number}(a) AS a;" for number in range(1001)))
    with pytest.raises(SchemaError, match="it defines 1001 objects of other programs"):
        Warehouse.open(database)
