"""What does not fit into the memory lies in folders that go away, also after a process was killed."""

from pathlib import Path

import pytest

from tests.warehouse.memory import TESTSET
from warehouse import Warehouse
from warehouse.database.updating import in_memory, writing
from warehouse.temporary import remove_left_folders


@pytest.mark.slow
def test_what_a_killed_process_spilled_beside_the_file_goes_with_the_next_write(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    spilled = tmp_path / "w.duckdb.tmp"
    spilled.mkdir()
    (spilled / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(b"left")
    with in_memory(database) as connection, writing(database, connection):
        assert not spilled.exists()
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT count(*) FROM testsets WHERE testset = $name", {"name": TESTSET}) == [(0,)]


@pytest.mark.slow
def test_a_folder_of_that_name_that_holds_anything_else_stays(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    mine = tmp_path / "w.duckdb.tmp" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("kept")
    with in_memory(database) as connection, writing(database, connection):
        pass
    assert mine.read_text() == "kept"


def test_a_database_in_memory_spills_into_a_folder_that_goes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with in_memory(None, most="40MB") as connection:
        connection.execute("CREATE TEMP TABLE large AS SELECT range AS a, hash(range) AS b FROM range(4_000_000)")
        spilled = [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size > 1_000_000]
        assert spilled
        remove_left_folders(tmp_path)
        assert connection.execute("SELECT sum(a) FROM large").fetchall() == [(7_999_998_000_000,)]
    assert list(tmp_path.iterdir()) == []
