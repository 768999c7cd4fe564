"""Files read in pieces of whole lines, so that a large one never lies in the memory at once."""

from collections.abc import Iterable, Iterator
from pathlib import Path

PIECE = 1 << 23  # bytes


def pieces_of(path: Path) -> Iterator[bytes]:
    """A file's bytes in pieces that end with a line's end, but for the last. Raises OSError."""
    with path.open("rb") as file:
        yield from whole_lines(iter(lambda: file.read(PIECE), b""))


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces that end with a line's end, but for the last."""
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
