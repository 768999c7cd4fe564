"""Files of exports: each takes its place once it is whole, and a folder bears a mark until all of them are there."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from warehouse.names import UNFINISHED_EXPORT

LONGEST_NAME = 200  # bytes of a file's name without what stands before it and behind it


@contextlib.contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A hidden file beside the path, to be written in the block; it takes the path's place at the end of it.

    Where the block fails, what stood there stays. Folders are made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.tmp")
    try:
        yield fresh
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> Path:
    """Write a text as UTF-8 with its line ends as they are; the path."""
    with beside(path) as fresh:
        fresh.write_bytes(text.encode())
    return path


def is_unfinished(folder: Path) -> bool:
    """Whether an export into the folder was begun and did not come to its end."""
    return (folder / UNFINISHED_EXPORT).is_file()


@contextlib.contextmanager
def unfinished(folder: Path, form: str) -> Iterator[None]:
    """Mark a folder as an export that is being written; `load` refuses it until the block has come to its end.

    Where the block fails before it has written anything, nothing is left.
    """
    mark, is_new = folder / UNFINISHED_EXPORT, not folder.exists()
    write_text(mark, json.dumps({"format": form}) + "\n")
    try:
        yield
    except BaseException:
        if is_new and list(folder.iterdir()) == [mark]:
            mark.unlink()
            folder.rmdir()
        raise
    mark.unlink()
