"""Databases in memory that loads lay out their records in: tests take one again where a load has left it clean.

To make one takes DuckDB a fifth as long as a tiny load does. What a load changes there is its connection's alone, and
ends with it: temporary tables, the current database.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pytest

from warehouse.loading import entry

_LIMITS = (None, entry._MEMORY)  # other ones are of tests that fill the memory
_AT_MOST = 3  # kept of each limit
_connect = duckdb.connect
_lock = threading.Lock()
_kept: dict[str | None, list[duckdb.DuckDBPyConnection]] = {limit: [] for limit in _LIMITS}
_is_on = False


def _taken(limit: str | None, folder: str) -> duckdb.DuckDBPyConnection | None:
    """One that is kept, which spills into this folder from now on."""
    with _lock:
        if not _kept[limit]:
            return None
        one = _kept[limit].pop()
    try:
        one.execute("SET temp_directory = $folder", {"folder": folder})
    except duckdb.Error:  # it has spilled already
        one.close()
        return None
    return one


def _given_back(limit: str | None, one: duckdb.DuckDBPyConnection) -> None:
    """Keep one if nothing is in it and no file is attached to it."""
    try:
        left = one.execute("SELECT database_name FROM duckdb_databases() WHERE NOT internal").fetchall()
        left += one.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall()
    except duckdb.Error:
        left = []
    with _lock:
        if _is_on and left == [("memory",)] and len(_kept[limit]) < _AT_MOST:
            _kept[limit].append(one)
            return
    one.close()


def _close_kept() -> None:
    with _lock:
        for kept in _kept.values():
            while kept:
                kept.pop().close()


if sys.platform != "win32":
    os.register_at_fork(before=_close_kept)  # the threads of DuckDB would be missing in the other process


@contextlib.contextmanager
def _in_memory(config: Mapping[str, str]) -> Iterator[duckdb.DuckDBPyConnection]:
    limit = config.get("memory_limit")
    one = _taken(limit, config["temp_directory"]) or _connect(config=dict(config))
    try:
        with one.cursor() as connection:
            yield connection
    finally:
        _given_back(limit, one)


class _DuckDB:
    """In place of the module, where loads ask it for a database in memory."""

    def connect(self, *, config: Mapping[str, str]) -> contextlib.AbstractContextManager[duckdb.DuckDBPyConnection]:
        if duckdb.connect is _connect and config.get("memory_limit") in _LIMITS:
            return _in_memory(config)
        return duckdb.connect(config=dict(config))  # somebody watches what comes of it

    def __getattr__(self, name: str) -> Any:
        return getattr(duckdb, name)


@contextlib.contextmanager
def staging_areas_kept() -> Iterator[None]:
    """Keep some, within the block."""
    global _connect, _is_on
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warehouse.database.updating.duckdb", _DuckDB())
        _connect, _is_on = duckdb.connect, True
        try:
            yield
        finally:
            _is_on = False
            _close_kept()
