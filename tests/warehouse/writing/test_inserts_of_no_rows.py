"""Inserts of no rows: DuckDB shows a table's next large insert in the same transaction to nobody until it is reopened.

Seen with 1.4.5 and 2.0.0, from one row group (122,880 rows) on.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.helpers import tiny_layout
from warehouse import Warehouse, load

_INSERT = re.compile(r"(?:\s|--.*\n)*INSERT (?:OR \w+ )?INTO (\S+)")  # behind the comments that begin a file of SQL
_TRANSACTION = re.compile(r"\s*(BEGIN|COMMIT|ROLLBACK)")


class Watched:
    """A connection that notes tables which get rows in a transaction after an insert that brought none."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, found: set[str]) -> None:
        self._connection = connection
        self._found = found
        self._empty: set[str] = set()

    def execute(self, query: str, *parameters: Any) -> Any:
        if _TRANSACTION.match(query):
            self._empty.clear()
        insert = _INSERT.match(query)
        if insert and insert[1] in self._empty:
            self._found.add(insert[1])
        answer = self._connection.execute(query, *parameters)
        if insert and answer.fetchall() == [(0,)]:
            self._empty.add(insert[1])
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def __enter__(self) -> "Watched":
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Tables that some transaction inserted into again after an insert of no rows."""
    tables: set[str] = set()
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *args, **options: Watched(connect(*args, **options), tables))
    return tables


def submission(folder: Path, systems: int, documents: int, per_document: int) -> tuple[Path, Path]:
    """A submission that names segments by document and place; and the file that says which line each of them is."""
    scores, details = folder / "submissions" / "TER.seg.score", folder / "details" / "de-en.txt"
    places = [(f"doc.{d}", n) for d in range(documents) for n in range(1, per_document + 1)]
    write(
        scores,
        (
            f"TER\tde-en\tnewstest2020\tnewstest2020\tsystem.{system}\t{document}\t{place}\t-0.{system + place:03d}\n"
            for system in range(systems)
            for document, place in reversed(places)
        ),
    )
    write(
        details,
        (f"{n}\tnewstest2020\tde-en\t{document}\t{place}\n" for n, (document, place) in enumerate(places, start=1)),
    )
    return scores, details


def write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))


@pytest.mark.long("125,000 scores: 1 second")
def test_line_numbers_that_come_later_renumber_more_scores_than_one_row_group_holds(tmp_path: Path) -> None:
    scores, details = submission(tmp_path, 20, 700, 10)
    database = tmp_path / "w.duckdb"
    assert load([scores], database).is_clean
    report = load([scores, details], database)
    assert report.is_clean, report.faults
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT count(*), count(value) FROM score") == [(140_000, 140_000)]
        assert warehouse.rows("SELECT document, value FROM scores WHERE system = 'system.3' AND segment = 12") == [
            ("doc.1", -0.005)
        ]


@pytest.mark.slow
def test_no_load_inserts_into_a_table_again_after_an_insert_of_no_rows(tmp_path: Path, found: set[str]) -> None:
    database = tmp_path / "w.duckdb"
    scores, details = submission(tmp_path / "a", 2, 11, 2)
    other, _ = submission(tmp_path / "b", 1, 11, 2)
    other = other.rename(other.with_name("chrF.seg.score"))
    other.write_text(other.read_text().replace("TER", "chrF"))
    layout = tiny_layout(tmp_path / "layout")
    for paths in ([scores], [scores, details], [other], [layout], [layout, scores, other]):
        assert load(paths, database).is_clean
    (layout / "metric-scores" / "en-de" / "Flat-src.seg.score").unlink()
    assert load([layout], database).is_clean
    assert not found
