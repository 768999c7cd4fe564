"""Files read in pieces of whole lines, so that a large one never lies in the memory at once."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

PIECE = 1 << 23  # bytes


def pieces_of(path: Path) -> Iterator[bytes]:
    """A file's bytes in pieces that end with a line's end, but for the last. Raises OSError."""
    with path.open("rb") as file:
        yield from whole_lines(file)


def whole_lines(file: BinaryIO | io.BufferedIOBase) -> Iterator[bytes]:
    """The bytes of a stream in pieces that end with a line's end, but for the last."""
    rest: list[bytes] = []
    while piece := file.read(PIECE):
        end = piece.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, piece[:end]])
            rest = []
        if piece[end:]:
            rest.append(piece[end:])
    if rest:
        yield b"".join(rest)
