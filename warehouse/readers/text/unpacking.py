"""Gzip files unpacked within limits, so that a small file cannot fill the memory."""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from warehouse.readers.text.pieces import PIECE, whole_lines

GZIP = b"\x1f\x8b"
MOST_UNPACKED = 4_000_000_000  # bytes of one file
_MOST_RATIO = 200  # unpacked to packed; text of scores has about 15
_UNSUSPICIOUS = 50_000_000  # bytes up to which the ratio does not matter
_PIECE = 1 << 20


class ExpansionError(ValueError):
    """A packed file expands beyond the limits."""


def unpacked(data: bytes, most: int | None = None) -> bytes:
    """The content of a gzip file, of all its members; other data as they are.

    most: bytes that it may hold; None for the limits that a file of scores never meets.
    Raises EOFError, zlib.error: not whole. ExpansionError: more than it may hold; nothing further is unpacked then.
    """
    if not data.startswith(GZIP):
        return data
    return b"".join(_unpacking([data], len(data), most))


def is_packed(path: Path) -> bool:
    """Whether a file is packed by gzip, so that a checksum shows whether it is whole. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(GZIP)) == GZIP


def unpacked_pieces(path: Path, most: int | None = None) -> Iterator[bytes]:
    """As `unpacked`, of a file, in pieces of whole lines. Raises also OSError."""
    packed = is_packed(path)
    with path.open("rb") as file:
        read = iter(lambda: file.read(PIECE), b"")
        yield from whole_lines(_unpacking(read, path.stat().st_size, most) if packed else read)


def _unpacking(pieces: Iterable[bytes], n_packed: int, most: int | None) -> Iterator[bytes]:
    """The content of the members of a gzip file that comes in pieces."""
    member, n = None, 0
    for piece in pieces:
        waiting = piece
        while True:
            if member is None:
                waiting = waiting.lstrip(b"\0") if n else waiting
                if not waiting:
                    break
                member = zlib.decompressobj(wbits=31)
            found = member.decompress(waiting, _PIECE)
            n += len(found)
            _check(n, n_packed, most)
            yield found
            waiting = member.unused_data if member.eof else member.unconsumed_tail
            if member.eof:
                member = None
            elif not found and not waiting:
                break
    if member is not None:
        raise EOFError("the file ends before its content does")


def _check(n: int, n_packed: int, most: int | None) -> None:
    if n > (MOST_UNPACKED if most is None else most):
        raise ExpansionError(f"more than {MOST_UNPACKED if most is None else most} bytes")
    if most is None and n > _UNSUSPICIOUS and n > _MOST_RATIO * n_packed:
        raise ExpansionError(f"more than {_MOST_RATIO} times its {n_packed} bytes")
