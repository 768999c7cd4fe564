"""What costs seconds to make is made once: for all tests, for both workers, and again only where a test changed it."""

import contextlib
import functools
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest

from tests.holding import release
from warehouse.database import updating
from warehouse.database.updating import writing


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder of the whole session, filled by `make` in the worker that needs it first; the others wait for it.

    Read its files only. Where `make` fails, each worker tries anew and fails for itself.
    """
    root = factory.getbasetemp()
    root = root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root
    folder, made = root / name, root / f"{name}.made"
    with closing(sqlite3.connect(root / f"{name}.lock", timeout=1800, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")  # a lock on every system, which ends with its process
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            made.touch()
    return folder


def written(path: Path, warehouse: bytes) -> Path:
    """The file, with the bytes of a warehouse."""
    path.write_bytes(warehouse)
    return path


class Copies:
    """A copy of a file that tests may change: they get the same one until one of them did."""

    def __init__(self, original: Path, folder: Path) -> None:
        self._original = original
        self._folder = folder
        self._number = 0
        self._state: object = None

    def unchanged(self) -> Path:
        """The copy, alone in its folder, as the original is."""
        if self._number == 0 or self._found() != self._state:
            shutil.rmtree(self._path.parent, ignore_errors=True)
            self._number += 1
            self._path.parent.mkdir()
            written(self._path, self._original.read_bytes())
            self._state = self._found()
        return self._path

    @property
    def _path(self) -> Path:
        return self._folder / f"copy{self._number}" / self._original.name

    def _found(self) -> object:
        """What changes with a file: bytes, names, rights."""
        folder = self._path.parent
        states = {path: path.lstat() for path in (folder, *folder.rglob("*")) if path.is_symlink() or path.exists()}
        return {path: (state.st_mtime_ns, state.st_size, state.st_mode, state.st_ino) for path, state in states.items()}


_attach = updating.attach
_is_copied = False


@functools.cache
def empty_bytes() -> bytes:
    """A warehouse file without content, made by the migrations once in a process."""
    with copies_for_new_files(False), TemporaryDirectory() as folder, duckdb.connect() as connection:
        with writing(Path(folder, "empty.duckdb"), connection):
            pass
        return Path(folder, "empty.duckdb").read_bytes()


@contextlib.contextmanager
def copies_for_new_files(is_on: bool) -> Iterator[None]:
    """Whether a new warehouse file is begun as a copy of one without content, instead of by all migrations: that saves
    half the time of a small load, and it has the same bytes apart from the migrations' time."""
    global _is_copied
    before, _is_copied = _is_copied, is_on
    try:
        yield
    finally:
        _is_copied = before


def attach(path: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """In place of the product's: as that does, beginning a new file as a copy where that is asked for."""
    release(path)
    if _is_copied and not path.exists():
        copy = path.with_name(f".{path.name}.{os.getpid()}.copy")
        with contextlib.suppress(OSError):  # the product says what is wrong with the place
            copy.write_bytes(empty_bytes())
            try:
                os.link(copy, path)  # never over a file that another thread made meanwhile
            finally:
                copy.unlink()
    _attach(path, connection)
