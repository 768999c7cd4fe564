"""Texts that may have been cut, and packed files that expand beyond any use."""

import gzip
import zlib
from pathlib import Path

import polars as pl
import pytest

from tests.helpers import tiny_layout, together
from warehouse import LoadHints, Warehouse, load
from warehouse.readers.text.bytes import ExpansionError, unpacked, unterminated

PATH = Path("x.seg.score")
TABLE = "testset,lp,metric,system,score\nlab,en-de,M-src,A,0.5\nlab,en-de,M-src,B,32.2144"
CUT = "the last line has no line feed; the file may be truncated"


@pytest.mark.slow
def test_no_cut_of_a_table_is_loaded(in_full: bool, tmp_path: Path) -> None:
    """At every third byte, with --all at every one: whatever is left of the last number, it may be another one."""
    whole = (TABLE + "01587757784\n").encode()
    path, database = tmp_path / "mine.csv", tmp_path / "w.duckdb"
    for end in range(len(TABLE) - 3, len(whole), 1 if in_full else 3):
        path.write_bytes(whole[:end])
        report = load([path], database)
        assert [(fault.line, fault.found) for fault in report.faults] == [(3, CUT)]
    assert str(report.faults[0]).endswith("or use may_lack_end=True if it is complete")
    path.write_bytes(whole)
    assert load([path], database).is_clean
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT max(submitted) FROM system_scores") == [(32.214401587757784,)]


@pytest.mark.slow
def test_a_file_that_the_user_says_is_whole_is_loaded_without_a_last_line_end(tmp_path: Path) -> None:
    path, database = tmp_path / "mine.csv", tmp_path / "w.duckdb"
    path.write_text(TABLE)
    assert load([path], database, given=LoadHints(may_lack_end=True)).is_clean
    layout = tiny_layout(tmp_path / "layout")
    scores = layout / "metric-scores" / "en-de" / "Flat-src.seg.score"
    scores.write_text(scores.read_text().removesuffix("0\n"))
    assert [fault.found for fault in load([layout], database).faults] == [CUT]
    assert load([layout], database, given=LoadHints(may_lack_end=True)).is_clean
    assert {evalset.status for evalset in load([path], database).evalsets} == {"unchanged"}


@together(
    ("text", "is_whole"),
    [
        ("A\t0.50\nA\t0.25\n", True),
        ("A\t0.50\nA\t0.25", False),
        ("A\t0.50\nA\tNone", False),
        ('A\t{"errors": []}\nA\t{"errors": []}', False),
        ('{"a": 1}\n{"a": 2}', True),
        ('{"a": 1}\n{"a": 2', False),
        ('[{"a": 1},\n {"a": 2}]', True),
        ('[{"a": 1},\n {"a": 2}', False),
        ('{"scores": [1,\n 2]}', True),
        ("", True),  # reported as empty
    ],
)
def test_a_text_without_a_last_line_end_is_whole_only_as_json(text: str, is_whole: bool) -> None:
    assert (unterminated([text.encode()], PATH) is None) == is_whole


def test_packed_files_of_several_members_are_unpacked_whole() -> None:
    data = gzip.compress(b"one\n") + gzip.compress(b"two\n" * 1_000_000)
    assert unpacked(data) == b"one\n" + b"two\n" * 1_000_000
    assert unpacked(data + b"\0\0") == unpacked(data)
    assert unpacked(b"plain") == b"plain"
    for end in (5, 12, len(data) // 2, len(data) - 4):
        with pytest.raises((EOFError, zlib.error)):
            unpacked(data[:end])
    with pytest.raises(gzip.BadGzipFile):
        unpacked(data + b"garbage")


def test_a_file_that_expands_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warehouse.readers.text.bytes.MOST_UNPACKED", 100_000)
    bomb = gzip.compress(b"M\ten-de\tnewstest2012\tAsh\t0.5\n" * 10_000)
    with pytest.raises(ExpansionError, match="more than 100,000 bytes"):
        unpacked(bomb)
    path = tmp_path / "M.sys.score.gz"
    path.write_bytes(bomb)
    report = load([path], tmp_path / "w.duckdb")
    assert ["unpacks to more than 100,000 bytes" in fault.found for fault in report.faults] == [True]
    assert "unpack it yourself" in str(report.faults[0])


def test_a_packed_table_of_too_many_cells_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warehouse.readers.text.named_columns._MOST_CELLS", 1000)
    path = tmp_path / "mine.parquet"
    rows = pl.select(testset=pl.lit("lab"), lp=pl.lit("en-de"), system=pl.lit("A"), M=pl.repeat(0.5, 251))
    rows.write_parquet(path, compression="zstd")
    (fault,) = load([path], tmp_path / "w.duckdb").faults
    assert "a table of 1,004 cells, expected at most 1,000" in str(fault)
