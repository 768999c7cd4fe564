"""Large tables are read in pieces; their rows, faults and notes are those of the whole."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import polars as pl
import pytest
from _pytest.mark.structures import ParameterSet
from polars.testing import assert_frame_equal

from tests.warehouse.readers.reading import claimed, damaged
from warehouse.readers.claims import Given
from warehouse.readers.compact import plain
from warehouse.readers.kept import Kept, kept
from warehouse.readers.long_table import LongTableReader
from warehouse.readers.records import columns
from warehouse.readers.text import quoted
from warehouse.readers.text.pieces import whole_lines
from warehouse.readers.text.unpacking import ExpansionError, unpacked, unpacked_pieces

READER = LongTableReader()
PATH = Path("mine.csv")
HEADER = "testset,lp,metric,system,doc,seg,comment,score\n"
ROWS = "".join(
    f"t24,{lp},{metric},{system},d{segment // 2},{segment},c{segment},{value}\n"
    for lp in ("en-de", "de-en")
    for metric in ("Mine-refA", "Other", "MQM")
    for system in ("A", "B")
    for segment, value in enumerate(("0.5", "None", "1e-3", "-2"), start=1)
)
TEXTS = {
    "sound": HEADER + ROWS,
    "a mark before it": "\ufeff" + HEADER + ROWS,
    "a mark on the way": HEADER + ROWS + "\ufefft24,en-de,Late,A,d,9,c,1\n",
    "line ends of other systems": (HEADER + ROWS).replace("\n", "\r\n"),
    "quoted cells with line ends": HEADER + ROWS + 't24,en-de,"M ""x""",A,d,5,"two\nlines",1\n' + ROWS[:40],
    "a quote that never ends": HEADER + ROWS + 't24,en-de,M,A,d,5,"c,1\n' + ROWS,
    "blank and short lines": HEADER + "\n" + ROWS + "t24,en-de\n\n" + ROWS,
    "language pairs that are none": HEADER + "".join(f"t24,x{n},M,A,d,1,c,1\n" for n in range(90)),
    "broken quotes, then short lines": HEADER + 't24,"M"x,A,d,5,c,1\n' * 30 + "t24,en-de\n" * 30 + ROWS,
    "carriage returns, then NUL bytes": HEADER + "t24,en-de,M,A,d\r,5,c,1\n" * 30 + "t24,en-de,M,A,d\0,5,c,1\n" * 30,
    "short lines and broken quotes in turn": HEADER + 't24,en-de\nt24,"M"x,A,d,5,c,1\n' * 30 + ROWS,
    "no numbers": HEADER + ROWS.replace("None", "nan!").replace("1e-3", "inf"),
    "many more faults than are shown": HEADER + ROWS.replace("0.5", "x").replace(",4,", ",-4,") * 3,
    "no names": HEADER + ROWS.replace("Other", "").replace(",B,", ",,") + "t24,xx-yy-zz,M,A,d,1,c,1\n",
    "NUL bytes": HEADER + ROWS.replace("c2", "c\0"),
    "two names of one thing": HEADER.replace("comment", "human") + ROWS,
    "a column twice": HEADER.replace("comment", "seg") + ROWS,
    "a column called line": HEADER.replace("comment", "line") + ROWS,
}
OBJECTS = "".join(
    json.dumps({"testset": "t24", "lp": lp, "metric": metric, "system": system, "seg": segment, "score": value}) + "\n"
    for lp in ("en-de", "de-en")
    for metric in ("Mine-refA", "Other", "MQM")
    for system in ("A", "B")
    for segment, value in enumerate((0.5, None, 1e-3, "-2"), start=1)
)
LATE = OBJECTS.replace("t24", "t23")
LINES = {
    "sound": OBJECTS,
    "a mark before it and returns": "\ufeff" + OBJECTS.replace("\n", "\r\n"),
    "a key that comes late": OBJECTS + LATE.replace('"seg"', '"comment": "c", "human": null, "seg"'),
    "another name of a column that comes late": OBJECTS + LATE.replace('"system"', '"sys"'),
    "a key that only an unsound line has": OBJECTS
    + '{"testset": "t24", "system": "A", "parts": [1]}\n'
    + OBJECTS[:100],
    "blank, torn and doubled lines": OBJECTS.replace('"Other"', '"Other"}{', 9).replace("\n", "\n\n", 30) + "[1]\n" * 9,
    "many values with parts": OBJECTS.replace("0.5", "[0.5]").replace("0.001", "true") * 3,
    "no numbers and no names": OBJECTS.replace("-2", "two").replace('"B"', '""').replace('"Other"', "null"),
    "NUL bytes and halves of characters": OBJECTS.replace('"A"', '"A\\ud83d"', 3).replace("t24", "t\0", 4),
}
GIVEN = {
    "load": Given(),
    "add": Given(metric="Mine", is_own=True),
    "one of several": Given(metric="Other", is_own=True),
}


def _in_ways(texts: dict[str, str]) -> list[ParameterSet]:
    """Every text with what is given in one of the ways, in turn; with --all in every way."""
    return [
        pytest.param(
            *(text, given),
            id=f"{name}-{way}",
            marks=() if n % len(GIVEN) == m else pytest.mark.long("every text in every way: 5 seconds"),
        )
        for n, (name, text) in enumerate(texts.items())
        for m, (way, given) in enumerate(GIVEN.items())
    ]


def _cut(data: bytes, size: int) -> Callable[[], Iterator[bytes]]:
    return lambda: whole_lines(data[at : at + size] for at in range(0, len(data), size))


def _whole(data: bytes, given: Given, sound: str = HEADER + ROWS) -> Kept:
    return kept([READER.parse(data, claimed(READER, PATH, sound, given), given).normal(PATH)])


def _in_pieces(pieces: Callable[[], Iterable[bytes]], given: Given, sound: str = HEADER + ROWS) -> Kept:
    found = READER.parse_pieces(pieces, claimed(READER, PATH, sound, given), given)
    return kept(records.normal(PATH) for records in found)


def _scores(read: Kept) -> pl.DataFrame:
    frames = [read.of(evalset).scores for evalset in read.evalsets]
    return pl.concat([plain(frame, columns("scores")) for frame in frames if frame is not None] or [pl.DataFrame()])


@pytest.mark.every(3)
@pytest.mark.parametrize(("text", "given"), _in_ways(TEXTS))
def test_a_table_in_pieces_is_read_as_the_whole(text: str, given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoted, "_ROWS", 7)
    data = text.encode()
    whole, pieces = _whole(data, given), _in_pieces(_cut(data, 600), given)
    assert_frame_equal(_scores(pieces), _scores(whole))
    assert sorted(pieces.faults) == sorted(set(whole.faults))
    assert set(pieces.notes) == set(whole.notes)
    assert pieces.evalsets == whole.evalsets


@pytest.mark.every(3)
@pytest.mark.parametrize(("text", "given"), _in_ways(LINES))
def test_json_lines_in_pieces_are_read_as_the_whole(text: str, given: Given) -> None:
    data = text.encode()
    whole, pieces = _whole(data, given, OBJECTS), _in_pieces(_cut(data, 900), given, OBJECTS)
    assert_frame_equal(_scores(pieces), _scores(whole))
    assert sorted(pieces.faults) == sorted(set(whole.faults))
    assert set(pieces.notes) == set(whole.notes)
    assert pieces.evalsets == whole.evalsets


@pytest.mark.slow
def test_damaged_json_lines_in_pieces_have_the_faults_of_the_whole(in_full: bool) -> None:
    for data in damaged(OBJECTS.encode(), seed=1, n=150 if in_full else 8):
        if not data.startswith(OBJECTS[:90].encode()):
            continue
        whole, pieces = _whole(data, Given(), OBJECTS), _in_pieces(_cut(data, 800), Given(), OBJECTS)
        assert sorted(pieces.faults) == sorted(set(whole.faults))
        assert_frame_equal(_scores(pieces), _scores(whole))


@pytest.mark.slow
def test_a_damaged_table_in_pieces_has_the_faults_of_the_whole(in_full: bool) -> None:
    for data in damaged((HEADER + ROWS).encode(), seed=1, n=200 if in_full else 12):
        if not data.startswith(HEADER.encode()):
            continue
        whole, pieces = _whole(data, Given()), _in_pieces(_cut(data, 500), Given())
        assert sorted(pieces.faults) == sorted(set(whole.faults))
        assert_frame_equal(_scores(pieces), _scores(whole))


def test_pieces_are_whole_lines_and_together_all_of_it() -> None:
    data = b"one\ntwo and more\n\nthree"
    for size in range(1, len(data) + 1):
        pieces = list(_cut(data, size)())
        assert b"".join(pieces) == data
        assert all(piece.endswith(b"\n") for piece in pieces[:-1])


def test_packed_files_come_in_pieces_as_they_come_whole(tmp_path: Path) -> None:
    path = tmp_path / "packed.gz"
    data = gzip.compress(b"a\t1\n" * 700_000) + b"\0\0" + gzip.compress(b"b\t2\n")
    path.write_bytes(data)
    assert b"".join(unpacked_pieces(path)) == unpacked(data) == b"a\t1\n" * 700_000 + b"b\t2\n"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(EOFError):
        list(unpacked_pieces(path))
    path.write_bytes(data)
    with pytest.raises(ExpansionError):
        list(unpacked_pieces(path, most=100_000))
    path.write_bytes(b"plain\n")
    assert list(unpacked_pieces(path)) == [b"plain\n"]
