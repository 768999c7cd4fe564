"""One file through one reader, as a load does it; and what can happen to files on their way."""

import gzip
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import polars as pl

from tests.helpers import LP, SYSTEMS, TESTSET
from warehouse.readers.claims import Claim, KnownTexts, LoadHints
from warehouse.readers.recognition import RecordReader, claim, record_reader_named
from warehouse.readers.records import Records


def content(path: Path) -> bytes:
    """A file's bytes, unpacked."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def head(data: bytes) -> tuple[str, ...]:
    """The first lines as a reader's claim sees them: none where the file is no text."""
    try:
        text = data[: 1 << 16].decode("utf-8-sig", errors="strict" if len(data) < 1 << 16 else "ignore")
    except UnicodeDecodeError:
        return ()
    return () if "\0" in text else tuple(text.replace("\r\n", "\n").split("\n")[:20])


def claimed(reader: RecordReader, path: Path, data: bytes | str, given: LoadHints | None = None) -> Claim:
    """The reader's claim; it must be one."""
    data = data.encode() if isinstance(data, str) else data
    found = reader.claim(path, head(data), given or LoadHints())
    assert isinstance(found, Claim), found
    return found


def answer(reader: RecordReader, path: Path, data: bytes, given: LoadHints) -> Claim | str | None:
    """What the reader says to a file."""
    return reader.claim(path, head(data), given)


class Whole(Records):
    """Completed records: each frame is there."""

    scores: pl.DataFrame
    judgements: pl.DataFrame
    ratings: pl.DataFrame
    segments: pl.DataFrame


def read(
    reader: RecordReader, path: Path | str, data: bytes | str | None = None, given: LoadHints | None = None
) -> Whole:
    """Completed records of a file that the reader claims. data: what it holds, where it is not there.

    What files are told apart by is no source of rows: the reader does not see it.
    """
    path = Path(path)
    data = content(path) if data is None else data.encode() if isinstance(data, str) else data
    found = replace(claimed(reader, path, data, given), origin="", group=None, companion=None)
    return cast(Whole, reader.parse(data, found, given or LoadHints()).normal(path))


KNOWN = KnownTexts(  # of the tiny task
    tuple(range(1, 6)),
    {name: name for name in SYSTEMS},
    {at: f"source {at}" for at in range(1, 6)},
    {name: {at: f"{name} {at}" for at in range(1, 6)} for name in SYSTEMS},
    {("d", at): at for at in range(1, 6)},
)


def claimed_as_own(path: Path, text: str, **more: Any) -> tuple[Claim | str, LoadHints]:
    """What is said of a file that is to be added to the tiny task, without a warehouse."""
    path.write_text(text)
    words = {"testset": TESTSET, "lp": LP, "metric": "Mine", "reference": "refA", "is_own": True} | more
    given = LoadHints(texts={(TESTSET, LP): KNOWN}, **words)
    return claim(path, given), given


def read_own(path: Path, text: str, **more: Any) -> Whole:
    """What its reader makes of such a file."""
    found, given = claimed_as_own(path, text, **more)
    assert isinstance(found, Claim), found
    return cast(Whole, record_reader_named(found.reader).parse(path.read_bytes(), found, given).normal(path))


def rows(records: Whole, *columns: str) -> list[tuple[object, ...]]:
    """The scores' rows of a sound file in its order, some columns."""
    assert records.faults == []
    return records.scores.select(columns).rows()


def told(records: Records) -> list[tuple[int, str]]:
    """Line and finding of each fault."""
    return [(fault.line, fault.found) for fault in records.faults]


def assert_no_row_fits(
    reader: RecordReader, path: Path, sound: str, rows: Sequence[tuple[str, str]], given: LoadHints | None = None
) -> None:
    """That each row behind sound ones is one fault with its line. rows: with what is found there."""
    others, line = {}, sound.count("\n") + 1
    for row, found in rows:
        faults = told(read(reader, path, sound + row, given))
        if len(faults) != 1 or faults[0][0] != line or found not in faults[0][1]:
            others[row] = faults
    assert others == {}


def damaged(data: bytes, seed: int, n: int) -> Iterator[bytes]:
    """The bytes with damages of many kinds, the same for a seed."""
    rng = random.Random(seed)
    for _ in range(n):
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        cells = lines[at].replace(b"\t", b" ").split(b" ")
        odd = rng.choice(
            (b"-inf", b"1e999", b"9" * 40, b"\xff\xfe", b"\0", b'"', b"", b"None", b"\xc3\xa9", b"-1", b"all")
        )
        change = rng.randrange(9)
        if change == 0:
            yield data[: rng.randrange(len(data))]
        elif change == 1:
            rng.shuffle(cells)
            yield b"\n".join([*lines[:at], b"\t".join(cells), *lines[at + 1 :]])
        elif change == 2:
            cells[rng.randrange(len(cells))] = odd
            yield b"\n".join([*lines[:at], (b"\t" if b"\t" in lines[at] else b" ").join(cells), *lines[at + 1 :]])
        elif change == 3:
            yield b"\n".join([*lines, *lines[at:]])
        elif change == 4:
            yield data.replace(b"\n", b"\r\n")
        elif change == 5:
            yield b"\xef\xbb\xbf" + data
        elif change == 6:
            yield data.decode("utf-8", errors="replace").encode("utf-16")
        elif change == 7:
            position = rng.randrange(len(data))
            yield data[:position] + bytes(rng.randrange(256) for _ in range(rng.randrange(4))) + data[position + 2 :]
        else:
            yield b"\n".join(line for line in lines if rng.random() > 0.3)


def reads_or_refuses(
    reader: RecordReader, path: Path, data: bytes, seed: int, given: LoadHints | None = None, n: int = 40
) -> int:
    """Reads many damaged copies of a file; how many had faults. Nothing may be raised, no value may be non-finite.

    Copies without a fault must hold nothing but rows with a place in the file.
    """
    n_refused = 0
    given = given or LoadHints()
    n_lines = data.count(b"\n") * 3 + 10
    for copy in damaged(data, seed, n):
        found = reader.claim(path, head(copy), given)
        if not isinstance(found, Claim):
            continue
        records = reader.parse(copy, found, given).normal(path)
        n_refused += bool(records.faults)
        frame = records.scores
        assert frame is not None
        assert frame["value"].is_finite().all()
        assert frame["line"].is_between(1, n_lines).all()
        assert all(fault.path == str(path) and fault.found for fault in records.faults)
    return n_refused
