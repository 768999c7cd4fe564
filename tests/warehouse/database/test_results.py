"""Results kept in the warehouse under a key."""

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from tests.helpers import tiny_warehouse
from warehouse import QuestionError, SchemaError, Warehouse
from warehouse.database.connection import StoredResult, store_results, stored_payloads

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
        assert stored_payloads(warehouse, ["k1", "k2"]) == {"k1": '{"p": 0.5}'}


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
        assert stored_payloads(warehouse, ["k1"]) == {}


def _asked_once(warehouse: Warehouse, n_asked: list[int]) -> int:
    def ask() -> int:
        n_asked.append(1)
        return int(warehouse.rows("SELECT count(*) FROM result")[0][0])

    return warehouse.once("number of results", ask)


def _change(database: Path) -> None:
    """A change of the file, as by another process."""
    with duckdb.connect(str(database)) as other:
        other.execute("UPDATE internal.segment SET domain = 'of another process'")


def test_what_was_asked_once_is_known_until_the_file_changes(database: Path) -> None:
    n_asked: list[int] = []
    with Warehouse.open(database) as first:
        assert _asked_once(first, n_asked) == 0
    with first.opened_again() as second:
        assert _asked_once(second, n_asked) == 0
        assert len(n_asked) == 1
        assert second.rows("SELECT 7") == [(7,)]
    _change(database)
    with second.opened_again() as third:
        assert _asked_once(third, n_asked) == 0
    assert len(n_asked) == 2


def test_results_that_were_stored_are_no_change_of_the_scores(database: Path) -> None:
    n_asked: list[int] = []
    with Warehouse.open(database) as first:
        _asked_once(first, n_asked)
    assert store_results(database, [RESULT]) is None
    with first.opened_again() as second:
        _asked_once(second, n_asked)
        assert second.rows("SELECT count(*) FROM result") == [(1,)]
        assert len(n_asked) == 1
    assert store_results(database, [replace(RESULT, key="another")]) is None
    with second.opened_again() as third:
        _asked_once(third, n_asked)
        assert third.rows("SELECT count(*) FROM result") == [(2,)]
        assert len(n_asked) == 1
    _change(database)
    assert store_results(database, [RESULT]) is None
    with third.opened_again() as last:
        _asked_once(last, n_asked)
    assert len(n_asked) == 2


def test_a_file_that_changes_between_two_questions_of_one_reading_is_refused(database: Path) -> None:
    with Warehouse.open(database) as first:
        _asked_once(first, [])
    with first.opened_again() as again:
        assert _asked_once(again, []) == 0
        _change(database)
        with pytest.raises(SchemaError, match="another process changed it in the meantime"):
            again.rows("SELECT 7")


def test_a_closed_warehouse_answers_nothing_although_its_file_was_never_opened(database: Path) -> None:
    with Warehouse.open(database) as first:
        _asked_once(first, [])
    with first.opened_again() as again:
        pass
    with pytest.raises(QuestionError, match="the warehouse is closed"):
        again.rows("SELECT 7")
