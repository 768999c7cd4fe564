"""Gzip files unpacked within limits, so that a small file cannot fill the memory."""

import zlib

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
    found, rest = bytearray(), memoryview(data)
    while rest:
        member = zlib.decompressobj(wbits=31)
        waiting: bytes | memoryview = rest
        while not member.eof:
            piece = member.decompress(waiting, _PIECE)
            if not piece and not member.eof and not member.unconsumed_tail:
                raise EOFError("the file ends before its content does")
            found += piece
            _check(len(found), len(data), most)
            waiting = member.unconsumed_tail
        rest = memoryview(member.unused_data.lstrip(b"\0"))
    return bytes(found)


def _check(n: int, n_packed: int, most: int | None) -> None:
    if n > (MOST_UNPACKED if most is None else most):
        raise ExpansionError(f"more than {MOST_UNPACKED if most is None else most} bytes")
    if most is None and n > _UNSUSPICIOUS and n > _MOST_RATIO * n_packed:
        raise ExpansionError(f"more than {_MOST_RATIO} times its {n_packed} bytes")
