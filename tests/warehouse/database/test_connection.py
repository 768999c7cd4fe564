"""Opening a warehouse, asking it, and what is told where that cannot be."""

import math
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from tests.helpers import tiny_layout, together
from tests.warehouse.building import ask, empty_warehouse
from warehouse import QuestionError, SchemaError, Warehouse, WarehouseError, default_path, load
from warehouse.database.opening import answer_error
from warehouse.database.updating import writing

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny task, alone in a folder beside its files; read it only."""
    folder = tmp_path_factory.mktemp("tiny")
    assert load([tiny_layout(folder)], folder / "db" / "a.duckdb").is_clean
    return folder / "db" / "a.duckdb"


@pytest.mark.slow
def test_every_duckdb_from_1_4_on_reads_the_file(database: Path) -> None:
    head = database.read_bytes()[:20]
    assert head[8:12] == b"DUCK"
    assert struct.unpack("<Q", head[12:20]) == (67,)


@pytest.mark.slow
def test_threads_open_one_file_at_the_same_time(database: Path) -> None:
    ready, found = threading.Barrier(8), []

    def opened() -> None:
        for _ in range(10):
            ready.wait(30)
            with Warehouse.open(database) as warehouse:
                found.append(warehouse.rows("SELECT testset FROM testsets"))

    threads = [threading.Thread(target=opened) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [[("tiny24",)]] * 80


@pytest.mark.slow
def test_no_other_file_is_left_beside_the_warehouse(database: Path) -> None:
    assert [path.name for path in database.parent.iterdir()] == ["a.duckdb"]


def test_a_query_is_answered_as_a_frame_as_rows_and_as_columns(database: Path) -> None:
    query = "SELECT segment, value FROM human_scores WHERE system = $system ORDER BY segment LIMIT 4"
    with Warehouse.open(database) as warehouse:
        frame = warehouse.sql(query, {"system": "Ash"})
        assert frame.to_dict(as_series=False) == {"segment": [1, 2, 3, 4], "value": [-1.0, 0.0, -5.0, None]}
        assert warehouse.rows(query, {"system": "Ash"}) == [(1, -1.0), (2, 0.0), (3, -5.0), (4, None)]
        columns = warehouse.columns(query, {"system": "Ash"})
    assert columns["segment"].tolist() == [1, 2, 3, 4]
    assert columns["value"].tolist()[:3] == [-1.0, 0.0, -5.0]
    assert math.isnan(columns["value"][3])


def test_questions_change_nothing(database: Path) -> None:
    before = database.read_bytes()
    with Warehouse.open(database) as warehouse, pytest.raises(QuestionError, match="read-only"):
        warehouse.sql("DELETE FROM score")
    assert database.read_bytes() == before


@pytest.mark.parametrize("query", ["SELEC 1", "SELECT nothing FROM scores", "FROM absent", "SELECT 'x'::INTEGER"])
def test_a_question_that_duckdb_refuses_is_an_error_of_the_question(query: str, database: Path) -> None:
    with Warehouse.open(database) as warehouse:
        with pytest.raises(QuestionError):
            warehouse.sql(query)
        assert warehouse.rows("SELECT 1") == [(1,)]


@pytest.mark.slow
def test_many_readers_open_the_file_together(database: Path) -> None:
    program = "import sys; from warehouse import Warehouse; print(len(Warehouse.open(sys.argv[1]).rows('FROM scores')))"
    with Warehouse.open(database) as one, Warehouse.open(database) as other:
        ran = subprocess.run(
            [sys.executable, "-c", program, str(database)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert one.rows("SELECT count(*) FROM scores") == other.rows("SELECT count(*) FROM scores") == [(75,)]
    assert ran.stdout == "75\n"


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 20_000, b"SQLite format 3\0" + bytes(8000), bytes(20_000)])
def test_what_is_no_warehouse_is_reported_in_one_line_and_left_alone(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.duckdb"
    file.write_bytes(content)
    with pytest.raises(SchemaError) as told:
        Warehouse.open(file)
    assert str(told.value).startswith(f"{file}: ")
    assert "\n" not in str(told.value)
    assert file.read_bytes() == content


def _read_all(file: Path) -> None:
    with Warehouse.open(file) as warehouse:
        for table in ("score", "segment_text", "source", "vector", "segment", "entry"):
            warehouse.rows(f"SELECT * FROM {table}")


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.8, 0.99])
def test_a_truncated_warehouse_never_answers_wrongly(share: float, database: Path, tmp_path: Path) -> None:
    data = database.read_bytes()
    file = tmp_path / "cut.duckdb"
    file.write_bytes(data[: int(share * len(data))])
    with pytest.raises(WarehouseError) as told:
        _read_all(file)
    assert "\n" not in str(told.value)


@pytest.mark.slow
def test_a_flipped_byte_is_an_error_or_changes_nothing(database: Path, tmp_path: Path) -> None:
    data = database.read_bytes()
    right = ask(database, "FROM human_scores ORDER BY ALL")
    file = tmp_path / "flipped.duckdb"
    for place in range(5_000, len(data), len(data) // 12):
        file.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            assert ask(file, "FROM human_scores ORDER BY ALL") == right
        except WarehouseError as error:
            assert str(error).startswith(f"{file}: ")  # noqa: PT017


@pytest.mark.slow
def test_an_empty_database_that_duckdb_made_its_own_way_is_loaded_into_as_it_is(tmp_path: Path) -> None:
    database = tmp_path / "a.duckdb"
    duckdb.connect(str(database)).close()
    with pytest.raises(SchemaError):
        Warehouse.open(database)
    for status in ("loaded", "unchanged"):
        assert [e.status for e in load([tiny_layout(tmp_path / "in")], database).evalsets] == [status]
    assert len(ask(database, "FROM human_scores")) == 20


@pytest.mark.slow
@together(
    "definition",
    ["CREATE TABLE mine (x INTEGER)", "CREATE VIEW mine AS SELECT 1", "CREATE TABLE schema_migration (version TEXT)"],
)
def test_a_database_of_another_program_is_neither_brought_up_to_date_nor_loaded_into(
    definition: str, tmp_path: Path
) -> None:
    database = tmp_path / "a.duckdb"
    database.unlink(missing_ok=True)
    with duckdb.connect(str(database)) as connection:
        connection.execute(definition)
    before = database.read_bytes()
    for action in (Warehouse.open, lambda file: load([tiny_layout(tmp_path / "in")], file)):
        with pytest.raises(SchemaError, match="a DuckDB database, but not a scorehouse warehouse"):
            action(database)
        assert database.read_bytes() == before


def test_writing_lets_go_of_the_file_after_an_error(tmp_path: Path) -> None:
    database = empty_warehouse(tmp_path / "a.duckdb")
    with duckdb.connect() as connection:
        with pytest.raises(RuntimeError, match="mine"), writing(database, connection):
            raise RuntimeError("mine")
        assert ask(database, "FROM scores") == []


@pytest.mark.parametrize(
    "error",
    [
        duckdb.Error("Corrupted bitpacking segment: offset is outside the segment"),
        duckdb.ConstraintException('Duplicate key "scorer_id: 22" violates primary key constraint.'),
    ],
)
def test_damage_that_shows_while_something_is_written_is_told_of_the_file(error: duckdb.Error, tmp_path: Path) -> None:
    database = empty_warehouse(tmp_path / "a.duckdb")
    told = pytest.raises(SchemaError, match="damaged or unreadable")
    with told, duckdb.connect() as connection, writing(database, connection):
        raise error
    assert ask(database, "FROM scores") == []


def test_the_warehouse_lies_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if sys.platform in ("win32", "darwin"):
        pytest.skip("other variables there")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "scorehouse" / "scorehouse.duckdb"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".local" / "share" / "scorehouse" / "scorehouse.duckdb"
    with pytest.raises(SchemaError, match="no warehouse yet"):
        Warehouse.open()


PROGRAM = """
import sys
from pathlib import Path
from warehouse import *
path = Path(sys.argv[1])
with Warehouse.open(path) as w:
    print(w.sql("FROM scores").height, len(w.rows("FROM scores")))
    try: w.sql("SELEC")
    except QuestionError: print("told")
print(load([path.parents[1]], path).evalsets[0].status)
w = Warehouse.open(path)
print(w.sql("FROM scores").lazy().collect().height)
columns = w.columns("SELECT 1.0 AS x")
sys.exit(3)
"""


@pytest.mark.slow
def test_a_program_that_used_a_warehouse_ends_in_silence(database: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(database)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDEVMODE": ""},
    )
    assert (ran.returncode, ran.stderr) == (3, "")


@pytest.mark.slow
def test_an_empty_file_is_loaded_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warehouse.database.updating.EMPTY_FILE_GRACE", 0.2)
    (tmp_path / "a.duckdb").touch()
    report = load([tiny_layout(tmp_path / "in")], tmp_path / "a.duckdb")
    assert [e.status for e in report.evalsets] == ["loaded"]


WRONG = (
    *("SELECT xx", "FROM nothere", "SELECT 1/", "SELECT 'a'::INT", "FROM 'none.csv'"),
    *("SELECT checksum", "SELECT 'Corrupt'::INT", "FROM read_avro('none.avro')"),
)


@pytest.mark.parametrize("ask", ["rows", "columns", "sql"])
def test_what_is_wrong_with_a_query_is_not_called_damage(ask: str, database: Path) -> None:
    """Only a user's own is a wrong question: over several evaluation sets that would be a set without an answer."""
    with Warehouse.open(database) as warehouse:
        for query in WRONG:
            with pytest.raises(QuestionError if ask == "sql" else SchemaError) as told:
                pytest.fail(f"{query}: {getattr(warehouse, ask)(query)}")
            assert "damaged" not in str(told.value), query
            assert ("a query of scorehouse itself failed" in str(told.value)) == (ask != "sql")


@pytest.mark.parametrize(
    "error",
    [
        duckdb.Error("Corrupted bitpacking segment: offset is outside the segment"),
        duckdb.IOException("IO Error: Failed to scan DICT_FSST string segment. Database file appears to be corrupted."),
        duckdb.IOException("IO Error: Corrupt database file: computed checksum 1 does not match stored checksum 2"),
        duckdb.SerializationException("Serialization Error: Failed to deserialize: expected end of object"),
    ],
)
def test_what_is_wrong_with_the_file_is_no_fault_of_the_question(error: duckdb.Error) -> None:
    found = answer_error(Path("a.duckdb"), error)
    assert isinstance(found, SchemaError)
    assert str(found).startswith("a.duckdb: damaged or unreadable database: ")


@pytest.mark.parametrize("ask", ["sql", "rows", "columns"])
def test_a_closed_warehouse_is_told_as_such(ask: str, database: Path) -> None:
    with Warehouse.open(database) as warehouse:
        pass
    with pytest.raises(QuestionError, match=r"^the warehouse is closed$"):
        getattr(warehouse, ask)("SELECT 1 AS a")


def test_other_programs_read_views_macros_and_comments_in_the_file(database: Path) -> None:
    """As the guide's page of other programs says: DuckDB alone, without this program."""
    with duckdb.connect(str(database), read_only=True) as connection:
        assert ("scores",) in connection.execute("SHOW TABLES").fetchall()
        assert connection.execute("FROM metrics LIMIT 1").fetchall()
        views = "SELECT count(*), count(comment) FROM duckdb_views() WHERE NOT internal AND schema_name = 'main'"
        assert len(set(*connection.execute(views).fetchall())) == 1, "each view says what it holds"
        assert connection.execute("FROM pearson_by_metric('tiny24', 'en-de')").fetchall()
