"""Results kept in the warehouse under a key."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers import tiny_warehouse
from warehouse import Warehouse
from warehouse.database.connection import StoredResult, store_results, stored_payload

RESULT = StoredResult(
    key="k1",
    kind="compare",
    testset="tiny24",
    lp="en-de",
    signature="measure:pa",
    payload='{"p": 0.5}',
    program_version="1.2",
    seconds=2.5,
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with tiny_warehouse(tmp_path) as warehouse:
        return warehouse.path


def test_a_result_is_found_again_by_its_key_alone(database: Path) -> None:
    assert store_results(database, [RESULT]) is None
    with Warehouse.open(database) as warehouse:
        assert stored_payload(warehouse, "k1") == '{"p": 0.5}'
        assert stored_payload(warehouse, "k2") is None


@pytest.mark.slow
def test_a_result_takes_the_place_of_one_with_the_same_key(database: Path) -> None:
    store_results(database, [RESULT])
    store_results(database, [replace(RESULT, payload="{}")])
    store_results(database, [replace(RESULT, key="k2")])
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT key, payload FROM result ORDER BY key") == [("k1", "{}"), ("k2", '{"p": 0.5}')]


def test_results_are_listed_without_their_keys(database: Path) -> None:
    store_results(database, [RESULT])
    with Warehouse.open(database) as warehouse:
        ((kind, testset, lp, signature, version, seconds, stored_at),) = warehouse.rows(
            "SELECT kind, testset, lp, signature, program_version, seconds, stored_at FROM results"
        )
    assert (kind, testset, lp, signature) == ("compare", "tiny24", "en-de", "measure:pa")
    assert (version, seconds) == ("1.2", 2.5)
    assert stored_at.tzinfo is None


def test_why_a_result_was_not_stored_is_one_line(database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    reason = store_results(folder, [RESULT])
    assert reason is not None
    assert "\n" not in reason
    broken = tmp_path / "broken.duckdb"
    broken.write_bytes(b"no database" * 500)
    reason = store_results(broken, [RESULT])
    assert reason is not None
    assert "\n" not in reason
    assert broken.read_bytes() == b"no database" * 500


def test_nothing_is_made_where_there_is_no_warehouse(tmp_path: Path) -> None:
    path = tmp_path / "none.duckdb"
    assert store_results(path, [RESULT]) is not None
    assert not path.exists()


def test_a_file_that_this_process_reads_is_left_alone(database: Path) -> None:
    with Warehouse.open(database):
        reason = store_results(database, [RESULT])
    assert reason is not None
    assert "\n" not in reason
    with Warehouse.open(database) as warehouse:
        assert stored_payload(warehouse, "k1") is None
