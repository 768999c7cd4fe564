"""Gzip files unpacked within limits, so that a small file cannot fill the memory."""

import gzip
from io import BytesIO
from pathlib import Path

GZIP = b"\x1f\x8b"
MOST_UNPACKED = 4_000_000_000  # bytes of one file
_MOST_RATIO = 200  # unpacked to packed; text of scores has about 15
_UNSUSPICIOUS = 50_000_000  # bytes up to which the ratio does not matter


class ExpansionError(ValueError):
    """A packed file expands beyond the limits."""


def unpacked(data: bytes, most: int | None = None) -> bytes:
    """The content of a gzip file, of all its members; other data as they are.

    most: bytes that it may hold; None for the limits that a file of scores never meets.
    Raises OSError, EOFError, zlib.error: not whole. ExpansionError: more than it may hold; nothing further is unpacked.
    """
    if not data.startswith(GZIP):
        return data
    limit = most or min(MOST_UNPACKED, max(_UNSUSPICIOUS, _MOST_RATIO * len(data)))
    with gzip.GzipFile(fileobj=BytesIO(data)) as file:
        found = file.read(limit + 1)
    if len(found) > limit:
        is_of_ratio = most is None and limit < MOST_UNPACKED
        words = f"{_MOST_RATIO} times its {len(data)}" if is_of_ratio else str(limit)
        raise ExpansionError(f"more than {words} bytes")
    return found


def is_packed(path: Path) -> bool:
    """Whether a file is packed by gzip, so that a checksum shows whether it is whole. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(GZIP)) == GZIP
