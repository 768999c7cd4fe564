"""What costs seconds to make is made once: for all tests, for both workers, and again only where a test changed it."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest


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
            shutil.copy(self._original, self._path)
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
