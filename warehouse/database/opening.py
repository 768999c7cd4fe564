"""The file's place, and connections that reach that file and nothing else."""

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb

from warehouse.database.faults import is_lock, translated
from warehouse.database.migration import find_tables, make_views_over
from warehouse.errors import SchemaError
from warehouse.wording import option

Result = TypeVar("Result")
STORAGE_VERSION = "v1.4.0"  # every DuckDB from 1.4 on reads the file
BLOCK_SIZE = 32768  # bytes; an eighth of DuckDB's default: less room is lost at the ends of many small columns
_ENDINGS = ("", ".wal", ".wal.recovery", ".wal.checkpoint")  # the file, and what DuckDB puts beside it
_MAGIC, _MAGIC_PLACE = b"DUCK", 8  # what a DuckDB file says of itself, and where
_LOCKING_UP = threading.Lock()  # threads that open one file share its settings
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # what Path leaves of two slashes


def default_path() -> Path:
    """Where the warehouse lies unless told otherwise: the user's data folder of the platform."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "scorehouse" / "scorehouse.duckdb"


def is_empty_file(path: Path) -> bool:
    """Whether a file has no bytes: a name was reserved, or a first load was killed at its very beginning."""
    return path.is_file() and path.stat().st_size == 0


def plain_path(path: Path) -> str:
    """The path as DuckDB takes it for a file's and nothing else: `md:x`, `sqlite:x` or `:memory:` mean more to it."""
    return os.path.abspath(path)  # noqa: PTH100 (links keep their names)


def check_path(path: Path) -> None:
    """Raises SchemaError: no regular file, no DuckDB database, a URL, or a path that DuckDB would take for another."""
    if _URL.match(str(path)):
        raise SchemaError(f"{path}: a URL, expected a file on this machine")
    try:
        if path.is_dir():
            raise SchemaError(f"{path}: a folder, expected a warehouse file")
        if path.exists() and not path.is_file():
            raise SchemaError(f"{path}: not a regular file, expected a warehouse file")
        if path.exists():
            with path.open("rb") as file:
                head = file.read(_MAGIC_PLACE + len(_MAGIC))
            if head and head[_MAGIC_PLACE:] != _MAGIC:
                raise SchemaError(f"{path}: not a DuckDB database; name another file with {option('db')}")
    except OSError as error:
        raise SchemaError(f"{path}: cannot be opened: {error.strerror or error}") from error
    if "?" in str(path) or (os.sep != "\\" and "\\" in str(path)):
        raise SchemaError(f"{path}: a path with ? or a backslash, which DuckDB cannot handle; choose another location")


def check_there(path: Path) -> None:
    """Raises SchemaError: no such file, or none that can be opened; see `Warehouse.open`."""
    check_path(path)
    if not path.exists():
        raise SchemaError(f"{path}: no warehouse yet; `scorehouse load PATH` creates one")
    if is_empty_file(path):
        raise SchemaError(f"{path}: an empty file, not a warehouse yet; `scorehouse load PATH` creates one")


def settle_log(path: Path, patience: float = 0.0) -> None:
    """Bring what an interrupted load left in the log into the file.

    DuckDB cannot replay definitions of views and macros while it opens a file as its main database, but it can when
    it attaches the file.
    """
    if path.with_name(f"{path.name}.wal").exists():
        with translated(path), duckdb.connect() as connection:
            _lock_up_but_for(path, connection)
            retry_while_locked(lambda: attach(path, connection), patience)
            connection.execute("DETACH warehouse_file")


def connect(path: Path, patience: float, writes_below: Path | None = None) -> duckdb.DuckDBPyConnection:
    """A read-only connection; what an interrupted load left in the log is settled before."""
    check_path(path)
    settle_log(path, patience)
    with translated(path):
        connection = retry_while_locked(lambda: duckdb.connect(plain_path(path), read_only=True), patience)
        try:
            _lock_up(path, connection, writes_below)
            find_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def silence(connection: duckdb.DuckDBPyConnection) -> None:
    """No progress bar of DuckDB's on stdout, where it takes a process for a person; notebooks refuse the setting."""
    with contextlib.suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")


def _lock_up(path: Path, connection: duckdb.DuckDBPyConnection, writes_below: Path | None) -> None:
    """Let queries, and the views and macros of a stranger's file, reach no other file, no network and no setting.

    Connections of one process to one file share their settings; the first of them locks them up for all.
    writes_below: a folder that stays open.
    """
    folder = None if writes_below is None else plain_path(writes_below) + os.sep
    with _LOCKING_UP:
        (is_locked, allowed), *_ = connection.execute(
            "SELECT current_setting('lock_configuration'), current_setting('allowed_directories')"
        ).fetchall()
        if is_locked:
            if folder is not None and folder not in allowed:
                raise SchemaError(f"{path}: open in this program already; close it before files are written from it")
            return
        silence(connection)
        if folder is not None:
            connection.execute(f"SET allowed_directories = [{_literal(folder)}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")


def _lock_up_but_for(path: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Let a connection open the warehouse file and what DuckDB puts beside it, and do nothing else outside."""
    names = ", ".join(_literal(plain_path(path) + ending) for ending in _ENDINGS)
    connection.execute(f"SET allowed_paths = [{names}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def connect_beside(path: Path, patience: float, writes_below: Path | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to this program's views, made in memory over the tables of a file that cannot be written."""
    settle_log(path, patience)
    connection = duckdb.connect(config={"temp_directory": f"{plain_path(path)}.tmp"})
    try:
        with translated(path):
            retry_while_locked(lambda: attach_to_read(path, connection), patience)
            _lock_up(path, connection, writes_below)
            make_views_over(connection, "warehouse_file")
            find_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def attach(path: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Attach the file for writing; a new one is made as ours are, one that is there stays as it was made."""
    made_with = "" if path.exists() else f" (STORAGE_VERSION '{STORAGE_VERSION}', BLOCK_SIZE {BLOCK_SIZE})"
    connection.execute(f"ATTACH {_literal(plain_path(path))} AS warehouse_file{made_with}")


def attach_to_read(path: Path, connection: duckdb.DuckDBPyConnection) -> bool:
    """Attach a file that is there for questions alone, beside other readers.

    False where this process has it open already, and DuckDB (1.4 does) keeps it for one instance.
    """
    try:
        connection.execute(f"ATTACH {_literal(plain_path(path))} AS warehouse_file (READ_ONLY)")
    except duckdb.BinderException as error:
        if "already attached" not in str(error):
            raise
        return False
    return True


def retry_while_locked(action: Callable[[], Result], patience: float) -> Result:
    """Do something with the file; while another process has it locked, try again until patience (seconds) is over."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return action()
        except duckdb.IOException as error:
            if not is_lock(error) or time.monotonic() >= deadline:
                raise
            time.sleep(0.1)
