"""A table read in pieces, as large ones are, makes the warehouse that it makes when it is read whole."""

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.warehouse.building import ask
from warehouse import LoadHints, LoadReport, load
from warehouse.readers import records
from warehouse.readers.text import named_columns
from warehouse.staging import record_staging

_TABLES = """
SELECT schema_name || '.' || table_name FROM duckdb_tables()
WHERE NOT internal AND table_name NOT IN ('source', 'migration') ORDER BY ALL
"""
_SOURCES = "SELECT origin, sha256, n_bytes, n_rows, n_missing, status, fault FROM source ORDER BY ALL"
Row = dict[str, Any]


def _rows() -> list[Row]:
    """Scores of two evaluation sets in an order that tears scorers, systems and segments apart."""
    rows: list[Row] = []
    for number in range(240):
        segment, metric, system = number % 6 + 1, number // 6 % 4, number // 24 % 5
        lp = ("en-de", "he-en")[number // 120]
        rows.append(
            {
                "testset": "lab 25",
                "lp": lp,
                "metric": (None, "BLEU-refA", "Kiwi-src", "Lab")[metric],
                "human": "mqm" if metric == 0 else None,
                "system": ("A.1", "A", "Zürich", "b,c", 'say "x"')[system],
                "document": f"doc{(segment + 1) // 2}",
                "segment": segment,
                "domain": "news" if segment < 3 else "social",
                "reference": "refB" if metric == 3 and system else None,
                "value": None if number % 7 == 0 or (metric == 2 and lp == "he-en") else (number * 37 % 101) / 10 - 4,
                "comment": f"line {number}",
            }
        )
    rows += [{**rows[5]}, {**rows[200]}]
    whole = [{**rows[at], "segment": None, "document": None, "domain": None, "value": at / 7} for at in (6, 30, 54)]
    return [*rows, *whole, {**rows[30], "segment": None, "document": "doc9", "domain": None}]


def _written(rows: list[Row], path: Path) -> Path:
    table = pl.DataFrame(rows, infer_schema_length=None)
    if path.suffix == ".parquet":
        table.write_parquet(path, row_group_size=17)
    else:
        separator = "\t" if path.suffix == ".tsv" else ","
        style = "always" if path.stem == "quoted" else "necessary"
        path.write_text(table.write_csv(separator=separator, quote_style=style))
    return path


def _loaded(path: Path, database: Path, monkeypatch: pytest.MonkeyPatch, size: int | None, **said: Any) -> LoadReport:
    """The report of a load in pieces of so many rows; whole where size is None."""
    with monkeypatch.context() as patched:
        if size is not None:
            patched.setattr(named_columns, "PIECE_ROWS", size)
            patched.setattr(named_columns, "PIECE_BYTES", 60 * size)
            patched.setattr(record_staging, "MOST_ROWS", size)
            patched.setattr(records, "FEW_ROWS", size)
        return load([path], database, given=LoadHints(**said))


def _content(database: Path) -> dict[str, object]:
    tables = [name for (name,) in ask(database, _TABLES)]
    assert len(tables) > 15
    return {name: ask(database, f"SELECT * FROM {name} ORDER BY ALL") for name in tables} | {
        "source": ask(database, _SOURCES)
    }


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("table.parquet", {}),
        ("table.csv", {}),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (
                ("quoted.csv", {}),
                ("table.tsv", {}),
                ("table.parquet", {"metric": "Lab"}),
                ("table.csv", {"numbering": "testset"}),
            )
        ),
    ],
)
def test_pieces_of_any_size_make_the_same_warehouse(
    name: str, said: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _written(_rows(), tmp_path / name)
    whole = _loaded(path, tmp_path / "whole.duckdb", monkeypatch, None, **said)
    assert whole.is_clean
    expected = _content(tmp_path / "whole.duckdb")
    for size in (31, 130):
        database = tmp_path / f"{size}.duckdb"
        report = _loaded(path, database, monkeypatch, size, **said)
        assert report.is_clean
        assert _content(database) == expected
        assert sum(evalset.n_rows for evalset in report.evalsets) == sum(evalset.n_rows for evalset in whole.evalsets)


def test_notes_are_of_the_whole_table_or_name_their_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _rows()
    rows[20] |= {"system": "A.1\u200b"}
    path = _written(rows, tmp_path / "table.parquet")
    whole = _loaded(path, tmp_path / "whole.duckdb", monkeypatch, None).notes
    pieces = _loaded(path, tmp_path / "pieces.duckdb", monkeypatch, 50).notes
    (changed,) = [note for note in whole if "invisible" in note]
    assert [note for note in pieces if "lines 1 to 50" not in note] == [note for note in whole if note != changed]
    (of_lines,) = [note for note in pieces if "lines 1 to 50" in note]
    assert of_lines == changed.replace(": 1 name", ": lines 1 to 50: 1 name")
    assert any("Kiwi has no scores on lab 25 he-en" in note for note in pieces)
    assert any("1 repeated row, loaded once" in note for note in pieces)


@pytest.mark.parametrize("name", ["table.parquet", "table.csv", "quoted.csv", "table.tsv"])
def test_a_fault_in_a_late_piece_has_its_line_and_refuses_the_table(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row | {"value": str(row["value"] or "None")} for row in _rows()]
    for number in range(17, 200, 5):
        rows[number] |= {"value": "0,5"}
    rows[177] |= {"system": None}
    path = _written(rows, tmp_path / name)
    whole, pieces = (_loaded(path, tmp_path / f"{size}.duckdb", monkeypatch, size) for size in (None, 40))
    assert [str(fault) for fault in pieces.faults] == [str(fault) for fault in whole.faults]
    assert "decimal comma" in str(pieces.faults[0])
    assert not any(evalset.n_scores for evalset in pieces.evalsets)


def test_contradicting_rows_far_apart_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _rows()
    rows += [{**rows[at], "value": 99.0} for at in range(1, 100, 3)]
    path = _written(rows, tmp_path / "table.parquet")
    whole, pieces = (_loaded(path, tmp_path / f"{size}.duckdb", monkeypatch, size) for size in (None, 40))
    assert whole.faults
    assert [str(fault) for fault in pieces.faults] == [str(fault) for fault in whole.faults]


def test_numbering_is_judged_by_all_pieces_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [(document, index) for document in ("a", "b", "c") for index in (1, 2, 3)]
    rows = [
        {
            "testset": "lab",
            "lp": "en-de",
            "metric": "M",
            "system": system,
            "doc": document,
            "index": index,
            "score": index,
        }
        for system in "AB"
        for document, index in places
    ]
    path = _written(rows, tmp_path / "table.parquet")
    for size in (None, 4):
        assert _loaded(path, tmp_path / f"{size}.duckdb", monkeypatch, size).is_clean
    continued = [row | {"index": number % 9 + 1} for number, row in enumerate(rows)]
    path = _written(continued, tmp_path / "continued.parquet")
    whole, pieces = (_loaded(path, tmp_path / f"c{size}.duckdb", monkeypatch, size) for size in (None, 4))
    assert "begins with segment" in str(whole.faults[0])
    assert [str(fault) for fault in pieces.faults] == [str(fault) for fault in whole.faults]


def test_what_needs_the_whole_table_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row | {"annotator": "r1" if row["human"] else None} for row in _rows()]
    path = _written(rows, tmp_path / "table.parquet")
    _loaded(path, tmp_path / "whole.duckdb", monkeypatch, None)
    assert _loaded(path, tmp_path / "pieces.duckdb", monkeypatch, 10).is_clean
    assert _content(tmp_path / "pieces.duckdb") == _content(tmp_path / "whole.duckdb")
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress(_written(_rows(), tmp_path / "table.csv").read_bytes(), mtime=0))
    assert _loaded(packed, tmp_path / "packed.duckdb", monkeypatch, 10).is_clean


def test_parquet_is_recognised_where_a_line_feed_stands_among_its_first_bytes(tmp_path: Path) -> None:
    has_nul = set()
    for n_segments in range(2, 9):
        places = [(system, segment) for system in "AB" for segment in range(n_segments)] * 50
        columns = {"segment": [segment + 1 for _, segment in places], "system": [system for system, _ in places]}
        path = tmp_path / f"{n_segments}.parquet"
        pl.DataFrame(columns).with_columns(lp=pl.lit("en-de"), metric=pl.lit("M"), score=0.5).write_parquet(path)
        data = path.read_bytes()
        has_nul.add(b"\0" in data[: data.find(b"\n")])
        assert load([path], tmp_path / "w.duckdb", given=LoadHints(testset=f"lab{n_segments}")).is_clean
    assert has_nul == {True, False}
