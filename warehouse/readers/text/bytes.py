"""The bytes of a file: unpacked within limits, in pieces of whole lines, the first lines, and completeness."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

from warehouse.errors import WITHOUT_IT, Fault
from warehouse.readers.text.tables import UNREADABLE
from warehouse.wording import option

PIECE = 1 << 23  # bytes


def pieces_of(path: Path, size: int = PIECE) -> Iterator[bytes]:
    """A file's bytes in pieces of whole lines; only the last may have no line end. Raises OSError."""
    with path.open("rb") as file:
        yield from whole_lines(iter(lambda: file.read(size), b""))


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of whole lines; only the last may have no line end."""
    rest: list[bytes] = []
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, piece[:end]])
            rest = []
        if end < len(piece):
            rest.append(piece[end:])
    if rest:
        yield b"".join(rest)


GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
MOST_UNPACKED = (
    200_000_000  # bytes of one file, whose rows then take up to ten times as much; WMT's have less than 50 MB
)


class ExpansionError(ValueError):
    """A packed file expands beyond the limits."""


def unpacked(data: bytes) -> bytes:
    """The content of all members of a gzip file; other data unchanged.

    Raises OSError, EOFError, zlib.error: incomplete or damaged. ExpansionError: more than MOST_UNPACKED; the rest is
        not unpacked.
    """
    if not data.startswith(GZIP):
        return data
    with gzip.GzipFile(fileobj=BytesIO(data)) as file:
        found = file.read(MOST_UNPACKED + 1)
    if len(found) > MOST_UNPACKED:
        raise ExpansionError(f"more than {MOST_UNPACKED:,} bytes")
    return found


def is_packed(path: Path) -> bool:
    """Whether a file is packed by gzip, so that a checksum shows whether it is complete. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(GZIP)) == GZIP


def unterminated(pieces: Iterable[bytes], path: Path) -> Fault | None:
    """The fault of a text whose last line has no end; None if it has one, or if JSON shows that it is complete.

    pieces: the text, cut at ends of lines. JSON is the whole text, or an object in the last line.
    """
    n_lines, last, text = 0, b"", bytearray()
    for number, piece in enumerate(pieces):
        if b"\0" in piece:
            return None
        n_lines += piece.count(b"\n")
        last = piece.rpartition(b"\n")[2]
        if (text or (number == 0 and piece.lstrip()[:1] in (b"[", b"{"))) and len(text) < _MOST_READABLE:
            text += piece
    is_list = text.lstrip()[:1] == b"["  # whose last line may be an object that more were to follow
    if not last or (last[:1] == b"{" and not is_list and _is_json(last)):
        return None
    if len(text) < _MOST_READABLE and _is_json(bytes(text)):
        return None
    return Fault(
        str(path),
        n_lines + 1,
        "the last line has no line feed; the file may be truncated",
        "a line feed after the last line",
        f"download it again, or use {option('may_lack_end', True)} if it is complete",
    )


def _is_json(text: bytes) -> bool:
    """Whether a text is one whole JSON object or list."""
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


_LINES = 20
_BYTES = 65536
_MOST_READABLE = 100_000_000  # bytes unpacked of a damaged file
_PAGE = ("a web page instead of the file", "download the file itself, not the page that shows it")
_FOREIGN = (  # what servers and version control put in a file's place, and what to do
    (b"<!doctype html", *_PAGE),
    (b"<html", *_PAGE),
    (b"version https://git-lfs", "a Git LFS pointer instead of the file", "get the file with git lfs pull"),
)
_TEXT_ENDINGS = (".tsv", ".csv", ".score", ".scores", ".jsonl")


def head_of(path: Path) -> tuple[str, ...]:
    """The first lines of a file, unpacked and decoded; empty if it is not text or cannot be read.

    Bytes that are not UTF-8 become replacement characters, so that the rest can be recognised.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_BYTES)
    except OSError:
        return ()
    if data.startswith(GZIP):
        data = _readable(data)
    if data.startswith(PARQUET) or b"\0" in data[: data.find(b"\n")]:
        return ()
    text = data.decode("utf-8-sig", "replace")  # what is not UTF-8 is reported with its line when the file is read
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:_LINES])


def damage_of(path: Path) -> Fault | None:
    """Why an unrecognised file with a score file's name is not text; None if it is."""
    name = path.name.removesuffix(".gz")
    if "." in name and Path(name).suffix not in _TEXT_ENDINGS:
        return None
    try:
        with path.open("rb") as file:
            data = file.read(_BYTES)
    except OSError as error:
        return Fault(str(path), 0, f"cannot be read: {error.strerror}", "a readable file")
    is_packed = data.startswith(GZIP)
    if is_packed:
        data = _readable(data)
    if not data.strip():
        found = "nothing that can be unpacked" if is_packed and not data else "nothing but blank lines"
        return Fault(str(path), 0, found if data or is_packed else "the file is empty", "scores", WITHOUT_IT)
    for start, what, way_out in _FOREIGN:
        if data.lstrip().lower().startswith(start):
            return Fault(str(path), 1, what, "scores", way_out)
    if (position := data.find(b"\0")) >= 0:
        return Fault(str(path), data.count(b"\n", 0, position) + 1, "a NUL byte", "text in UTF-8")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data" or len(data) < _BYTES:
            line = data.count(b"\n", 0, error.start) + 1
            return Fault(str(path), line, f"bytes that are not UTF-8 ({error.reason})", "text in UTF-8")
    if Path(name).suffix == ".jsonl" and not any(line.startswith(b"{") or b"\t" in line for line in data.split(b"\n")):
        return Fault(str(path), 1, "no JSON object", "one JSON object per line", WITHOUT_IT)
    return None


def readable(data: bytes) -> bytes:
    """The readable whole lines of a damaged text, unpacked; bytes that are not UTF-8 become UNREADABLE."""
    if data.startswith(GZIP):
        data = _readable(data, _MOST_READABLE)
    text = data.decode("utf-8-sig", "replace").replace("\0", UNREADABLE).replace("\r", "\n")
    return text[: text.rfind("\n") + 1].encode()


def _readable(data: bytes, limit: int = _BYTES) -> bytes:
    """The beginning of a gzip file as far as it can be unpacked, even if damaged; at most some bytes."""
    unpacking = zlib.decompressobj(wbits=31)
    found = bytearray()
    for start in range(0, len(data), 512):
        try:
            found += unpacking.decompress(data[start : start + 512], limit - len(found))
        except zlib.error:
            break
        if len(found) >= limit:
            break
    return bytes(found)
