"""Warehouses that tests ask again and again stay open meanwhile: to open one takes longer than many an answer.

A few files, for reading, and each only until anything else may want it: the file is not as it was, somebody writes into
it, connects in another way or starts a process.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from warehouse.database import opening

_AT_MOST = 6  # files
_open = opening.connect
_lock = threading.Lock()
_held: dict[Path, tuple[object, duckdb.DuckDBPyConnection]] = {}  # the file asked last is the last
_is_on = False


def release(path: Path | None = None) -> None:
    """Close a file if it is held, or all that are."""
    with _lock:
        for one in list(_held) if path is None else [path.absolute()]:
            if one in _held:
                _held.pop(one)[1].close()


def _state(path: Path) -> object:
    """What changes with a file, or with the log beside it; None where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    log = path.with_name(f"{path.name}.wal")
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode, log.exists()


def _release_changed() -> None:
    """Close what is held of files that are no longer as they were."""
    for path, (state, _) in list(_held.items()):
        if state != _state(path):
            release(path)


def _connect(
    path: Path, patience: float, files: Sequence[str] = (), below: Path | None = None, **config: str
) -> duckdb.DuckDBPyConnection:
    """In place of the product's: as that does, and the file is held from then on."""
    _release_changed()
    is_plain = not files and below is None and not config
    if not is_plain:
        release(path)
    opened = _open(path, patience, files, below, **config)
    if is_plain and _is_on:
        place = path.absolute()
        # a connection of its own keeps the instance of DuckDB, a cursor does not
        held = _held.get(place) or (_state(path), _open(path, patience))
        with _lock:
            _held.pop(place, None)
            _held[place] = held
        for longest in list(_held)[:-_AT_MOST]:
            release(longest)
    return opened


def _hear(event: str, _: object) -> None:
    """Let go of the file where a process begins, which may want to write into it."""
    if _is_on and _held and event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"):
        release()


sys.addaudithook(_hear)


@contextlib.contextmanager
def warehouses_held() -> Iterator[None]:
    """Hold the files that were opened last, within the block."""
    global _is_on
    connect = duckdb.connect

    def otherwise(*words: Any, **options: Any) -> duckdb.DuckDBPyConnection:
        caller = sys._getframe(1).f_globals["__name__"]
        if caller != opening.__name__:
            release()
        elif options.get("read_only"):
            _release_changed()
        return connect(*words, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", otherwise)
        patch.setattr("warehouse.database.updating.connect", _connect)
        _is_on = True
        try:
            yield
        finally:
            _is_on = False
            release()
