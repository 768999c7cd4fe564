"""The first lines of a file, from which readers tell what it is; and what can be read of a damaged one."""

import zlib
from pathlib import Path

from warehouse.errors import WITHOUT_IT, Fault
from warehouse.readers.text.tables import UNREADABLE
from warehouse.readers.text.unpacking import GZIP

_LINES = 20
_BYTES = 65536
_MOST_READABLE = 100_000_000  # bytes unpacked of a damaged file
_PAGE = ("a web page in the file's place", "fetch the file itself, not the page that shows it")
_FOREIGN = (  # what servers and version control put in a file's place, and what to do
    (b"<!doctype html", *_PAGE),
    (b"<html", *_PAGE),
    (b"version https://git-lfs", "a pointer of Git LFS to the file", "fetch the file itself: git lfs pull"),
)
_TEXT_ENDINGS = (".tsv", ".csv", ".score", ".scores", ".jsonl")


def head_of(path: Path) -> tuple[str, ...]:
    """The first lines of a file, unpacked and decoded; none where it is no text or cannot be read.

    Bytes that are no UTF-8 stand there as the sign for that: they keep nobody from recognising the rest.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_BYTES)
    except OSError:
        return ()
    if data.startswith(GZIP):
        data = _unpacked(data)
    if b"\0" in data[: data.find(b"\n")]:
        return ()
    text = data.decode("utf-8-sig", "replace")  # what is not UTF-8 is reported with its line when the file is read
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:_LINES])


def damage_of(path: Path) -> Fault | None:
    """Why a file that nobody recognises, though it is named like score files, is no text; None where it is one."""
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
        data = _unpacked(data)
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
    """The whole lines that can be read of a damaged text, unpacked; bytes that are none of UTF-8 are UNREADABLE."""
    if data.startswith(GZIP):
        data = _unpacked(data, _MOST_READABLE)
    text = data.decode("utf-8-sig", "replace").replace("\0", UNREADABLE).replace("\r", "\n")
    return text[: text.rfind("\n") + 1].encode()


def _unpacked(data: bytes, limit: int = _BYTES) -> bytes:
    """What can be unpacked of the beginning of a gzip file, also of a damaged one; at most some bytes of it."""
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
