"""A warehouse that tests ask again and again stays open meanwhile: to open one takes longer than many an answer.

One file at a time, for reading, and only until anything else may want it: another file is opened, the file is not as it
was, somebody writes, connects in another way or starts a process.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from warehouse.database import opening

_open = opening.connect
_lock = threading.Lock()
_held: list[tuple[object, duckdb.DuckDBPyConnection]] = []
_is_on = False


def release() -> None:
    """Close the file that is held, if there is one."""
    with _lock:
        while _held:
            _held.pop()[1].close()


def _state(path: Path) -> object:
    """What changes with a file, or with the log beside it."""
    found = path.stat()
    log = path.with_name(f"{path.name}.wal")
    return path.absolute(), found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode, log.exists()


def _connect(path: Path, patience: float, writes_below: Path | None = None) -> duckdb.DuckDBPyConnection:
    """In place of the product's: as that does, and the file is held from then on."""
    if writes_below is not None or not path.exists() or any(state != _state(path) for state, _ in _held):
        release()
    opened = _open(path, patience, writes_below)
    with _lock:
        if not _held and writes_below is None and _is_on:
            _held.append((_state(path), opened.cursor()))
    return opened


def _hear(event: str, _: object) -> None:
    """Let go of the file where a process begins, which may want to write into it."""
    if _is_on and _held and event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"):
        release()


sys.addaudithook(_hear)


@contextlib.contextmanager
def warehouses_held() -> Iterator[None]:
    """Hold the file that was opened last, within the block."""
    global _is_on
    connect = duckdb.connect

    def otherwise(*words: Any, **options: Any) -> duckdb.DuckDBPyConnection:
        if options != {"read_only": True}:
            release()
        return connect(*words, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", otherwise)
        patch.setattr("warehouse.database.connection.connect", _connect)
        _is_on = True
        try:
            yield
        finally:
            _is_on = False
            release()
