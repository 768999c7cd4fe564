"""The warehouse file: opened read-only for questions, for writing by loads alone."""

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import duckdb

from warehouse.database.frames import frame
from warehouse.database.migration import apply_migrations, find_tables, has_tables
from warehouse.database.schema import is_known_whole, missing_in_file, now_whole
from warehouse.errors import DISK_FULL, LimitError, QuestionError, SchemaError, WarehouseError, is_of_full_disk

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

Result = TypeVar("Result")

STORAGE_VERSION = "v1.4.0"  # every DuckDB from 1.4 on reads the file
BLOCK_SIZE = 32768  # bytes; an eighth of DuckDB's default: less room is lost at the ends of many small columns
PATIENCE = 10.0  # seconds that a load waits for another process to let go of the file
_MOMENT = 0.05  # seconds between two calls to a query to stop
_SETTLED = 2.0  # seconds after which an empty file is none that another process is just making
_OF_THE_FILE = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.TransactionException)
_UNWRITABLE = ("Permission denied", "Read-only file system", "Could not write")
_ENDINGS = ("", ".wal", ".wal.recovery", ".wal.checkpoint")  # the file, and what DuckDB puts beside it
_MAGIC, _MAGIC_PLACE = b"DUCK", 8  # what a DuckDB file says of itself, and where
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # what Path leaves of two slashes
_OF_DAMAGE = (duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
_DAMAGED = ("Corrupt database file", "checksum")
_LOCK_HOLDER = re.compile(r"(\S+)?\s*\(?PID (\d+)\)?")
_OTHER_STORAGE = re.compile(r"version number (\d+), but we can only read (?:storage )?versions between (\d+) and (\d+)")


def default_path() -> Path:
    """Where the warehouse lies unless told otherwise: the user's data folder of the platform."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "scorehouse" / "scorehouse.duckdb"


def _is_lock(error: duckdb.Error) -> bool:
    text = str(error)
    return "lock on file" in text or "being used by another process" in text


def _schema_error(path: Path, error: duckdb.Error) -> SchemaError:
    text = str(error)
    if _is_lock(error):
        holder = _LOCK_HOLDER.search(text)
        who = f"process {holder[2]}" if holder else "another process"
        if holder and holder[1]:
            who += f" ({holder[1].strip('(')})"
        return SchemaError(f"{path}: locked by {who}, which is using it; try again when it has ended")
    first = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    if is_of_full_disk(text):
        return SchemaError(f"{path}: {DISK_FULL}: {first}")
    if any(words in text for words in _UNWRITABLE):
        return SchemaError(f"{path}: cannot be written: {first}")
    if "Permission denied" in text:
        return SchemaError(f"{path}: cannot be opened: permission denied")
    if "Cannot open file" in text:
        return SchemaError(f"{path}: cannot be opened: {first.rpartition(': ')[2]}")
    if storage := _OTHER_STORAGE.search(text):
        found, oldest, newest = map(int, storage.groups())
        if found > newest:
            return SchemaError(
                f"{path}: made by a newer DuckDB (storage version {found}, this one reads {oldest} to {newest}); "
                "`python3 -m pip install -U duckdb` gets one that reads it"
            )
        return SchemaError(
            f"{path}: made by too old a DuckDB (storage version {found}, expected {oldest} to {newest}); "
            "load everything into a new file"
        )
    if "not a valid DuckDB database file" in text or "version number" in text:
        return SchemaError(f"{path}: not a readable DuckDB database: {first}")
    return SchemaError(f"{path}: damaged or unreadable database: {first}")


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be KeyboardInterrupt also while a query runs, where DuckDB raises a RuntimeError for it."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, duckdb.Error) or "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn DuckDB's errors about the file (not about a question) into one clear SchemaError."""
    try:
        with interruptible():
            yield
    except duckdb.InterruptException:
        raise
    except duckdb.OutOfMemoryException as error:
        raise LimitError(f"{path}: out of memory: {str(error).splitlines()[0]}") from error
    except duckdb.Error as error:
        raise _schema_error(path, error) from error


@contextlib.contextmanager
def answered(path: Path) -> Iterator[None]:
    """Tell what is wrong with a question from what is wrong with the file.

    Raises QuestionError: DuckDB refuses the query. LimitError: out of memory. SchemaError: the file is damaged.
    """
    try:
        with interruptible():
            yield
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        raise _answer_error(path, error) from error


def _answer_error(path: Path, error: duckdb.Error) -> WarehouseError:
    text = str(error).strip()
    if isinstance(error, duckdb.OutOfMemoryException):
        return LimitError(f"{path}: out of memory: {text.splitlines()[0]}")
    is_of_file = isinstance(error, duckdb.IOException) and path.name in text
    is_of_disk = is_of_full_disk(text) or any(words in text for words in (*_DAMAGED, *_UNWRITABLE))
    if is_of_file or is_of_disk or isinstance(error, _OF_DAMAGE):
        return _schema_error(path, error)
    return QuestionError(text)


class Warehouse:
    """An open warehouse. Use it in a `with` block; results are Polars frames, numpy columns or plain rows."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def open(cls, path: str | Path | None = None, *, patience: float = 0.0, writes_below: Path | None = None) -> Self:
        """Open for questions: read-only, beside any number of other readers, and without a way to other files.

        path: the file; by default the one in the user's data folder.
        writes_below: a folder that queries may write files into, for exports.
        patience: seconds to wait for a process that is writing to the file.
        Raises SchemaError: no such file, no warehouse, damaged, newer or older than this program, locked, or with
            tables, views or macros other than ours.
        """
        path = default_path() if path is None else Path(path)
        _check_path(path)
        if not path.exists():
            raise SchemaError(f"{path}: no warehouse yet; `scorehouse load PATH` creates one")
        if is_empty_file(path):
            raise SchemaError(f"{path}: an empty file, not a warehouse yet; `scorehouse load PATH` creates one")
        connection = _connect(path, patience, writes_below)
        try:
            with translated(path):
                missing = missing_in_file(connection, path)
                if missing and not _has_evalsets(connection):
                    raise SchemaError(f"{path}: a warehouse without scores yet; `scorehouse load PATH` fills it")
        except BaseException:
            connection.close()
            raise
        if missing:
            connection.close()
            raise SchemaError(
                f"{path}: made by an earlier scorehouse ({len(missing)} migrations behind); "
                "`scorehouse migrate` brings it up to date"
            )
        return cls(connection, path)

    def sql(self, query: str, parameters: Mapping[str, object] | None = None) -> "pl.DataFrame":
        """Answer of a query as a Polars frame; parameters are `$name` in the text.

        For queries of one's own programs: they cannot change the warehouse, read files or reach the network, but take
        time and memory as any DuckDB query may. Texts of strangers belong into `queries.adhoc.answer`, which is behind
        `scorehouse sql`.
        Raises QuestionError: DuckDB refuses the query. LimitError: it runs out of memory.
        """
        import polars as pl

        try:
            relation = self._connection.sql(query, params=dict(parameters or {}))
            return pl.DataFrame() if relation is None else frame(relation)
        except pl.exceptions.DuplicateError as error:
            raise QuestionError(f"two columns with the same name in the result: {error}; rename one with AS") from error
        except duckdb.Error as error:
            raise _answer_error(self.path, error) from error

    def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        """Answer of one of the program's own queries as plain rows. Raises: as `sql`."""
        with answered(self.path):
            return self._connection.execute(query, dict(parameters or {})).fetchall()

    def columns(self, query: str, parameters: Mapping[str, object] | None = None) -> "dict[str, np.ndarray[Any, Any]]":
        """Answer of one of the program's own queries as numpy columns; NULL numbers are NaN, so they must be floats.

        Raises: as `sql`.
        """
        import numpy as np

        with answered(self.path):
            found = self._connection.execute(query, dict(parameters or {})).fetchnumpy()
        return {
            name: column.filled(np.nan) if isinstance(column, np.ma.MaskedArray) else column
            for name, column in found.items()
        }

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Stop the block's queries when the time is over.

        Raises LimitError: it was.
        """
        ended, late = threading.Event(), threading.Event()

        def stop() -> None:
            if not ended.wait(seconds):
                late.set()
                while not ended.wait(_MOMENT):  # a query that has not begun yet does not hear the first call
                    self._connection.interrupt()

        watch = threading.Thread(target=stop, daemon=True)
        watch.start()
        try:
            yield
        except Exception as error:
            if late.is_set():
                raise LimitError(f"{self.path}: no answer after {seconds:g} s, stopped") from error
            raise
        finally:
            ended.set()
            watch.join()

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _has_evalsets(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the current database holds an evaluation set; a first load may have ended before it made the table."""
    try:
        return connection.execute("SELECT 1 FROM evalset LIMIT 1").fetchone() is not None
    except duckdb.CatalogException:
        return False


def is_empty_file(path: Path) -> bool:
    """Whether a file has no bytes: a name was reserved, or a first load was killed at its very beginning."""
    return path.is_file() and path.stat().st_size == 0


def plain_path(path: Path) -> str:
    """The path as DuckDB takes it for a file's and nothing else: `md:x`, `sqlite:x` or `:memory:` mean more to it."""
    return os.path.abspath(path)  # noqa: PTH100 (links keep their names)


def _check_path(path: Path) -> None:
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
                raise SchemaError(f"{path}: not a DuckDB database; name another file with --db")
    except OSError as error:
        raise SchemaError(f"{path}: cannot be opened: {error.strerror or error}") from error
    if "?" in str(path) or (os.sep != "\\" and "\\" in str(path)):
        raise SchemaError(f"{path}: a path with ? or a backslash, which DuckDB cannot handle; choose another location")


def _connect(path: Path, patience: float, writes_below: Path | None = None) -> duckdb.DuckDBPyConnection:
    """A read-only connection; what an interrupted load left in the log is settled before.

    DuckDB cannot replay definitions of views and macros while it opens a file as its main database, but it can when
    it attaches the file.
    """
    _check_path(path)
    log = path.with_name(f"{path.name}.wal")
    with translated(path):
        if log.exists():
            with duckdb.connect() as connection:
                _lock_up_but_for(path, connection)
                _patiently(lambda: _attach(path, connection), patience)
                connection.execute("DETACH warehouse_file")
        connection = _patiently(lambda: duckdb.connect(plain_path(path), read_only=True), patience)
        try:
            _lock_up(path, connection, writes_below)
            find_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _lock_up(path: Path, connection: duckdb.DuckDBPyConnection, writes_below: Path | None) -> None:
    """Let queries, and the views and macros of a stranger's file, reach no other file, no network and no setting.

    Connections of one process to one file share their settings; the first of them locks them up for all.
    writes_below: a folder that stays open.
    """
    (is_locked, allowed), *_ = connection.execute(
        "SELECT current_setting('lock_configuration'), current_setting('allowed_directories')"
    ).fetchall()
    folder = None if writes_below is None else plain_path(writes_below) + os.sep
    if is_locked:
        if folder is not None and folder not in allowed:
            raise SchemaError(f"{path}: open in this program already; close it before files are written from it")
        return
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


def bring_up_to_date(path: Path, connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Apply what a warehouse file lacks, before a load reads it; names of the migrations applied.

    Raises SchemaError: see `Warehouse.open`.
    """
    if is_empty_file(path) or is_known_whole(path):
        return []
    with _connect(path, PATIENCE) as reading, translated(path):
        if not missing_in_file(reading, path) or not has_tables(reading):
            return []
    with writing(path, connection) as applied:
        return list(applied)


def holds_nothing(path: Path) -> bool:
    """Whether there is no file, or one without a table or view: a first load was interrupted."""
    if not path.exists() or is_empty_file(path):
        return True
    if is_known_whole(path):
        return False
    with _connect(path, PATIENCE) as reading, translated(path):
        return not has_tables(reading)


@contextlib.contextmanager
def unless_nothing_came(path: Path) -> Iterator[None]:
    """Where the block fails that was to make a warehouse file, take the file away again if nothing is in it yet."""
    is_new = not path.exists()
    try:
        yield
    except BaseException:
        if is_new and path.exists() and _is_without_content(path):
            for left in (path, path.with_name(path.name + ".wal")):
                left.resolve().unlink(missing_ok=True)
        raise


def _is_without_content(path: Path) -> bool:
    """Whether no evaluation set is in a file, or migrations are still to come; False where that cannot be told."""
    try:
        if is_empty_file(path):
            return True
        with _connect(path, 0.0) as reading:
            if missing_in_file(reading, path):
                return True
            return reading.execute("SELECT 1 FROM evalsets LIMIT 1").fetchone() is None
    except (duckdb.Error, SchemaError, OSError):
        return False


@contextlib.contextmanager
def writing(path: Path, connection: duckdb.DuckDBPyConnection, *, patience: float = PATIENCE) -> Iterator[list[str]]:
    """Attach the warehouse file to a connection for writing, as its current database, migrated; detach at the end.

    The file is locked for as long as the block runs. Yields the names of migrations that were applied.
    patience: seconds to wait for another process to let go of the file.
    Raises SchemaError: see `Warehouse.open`; the folder cannot be written.
    """
    _check_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SchemaError(f"{path}: cannot create its folder: {error.strerror}") from error
    with translated(path):
        _remove_empty_file(path)
        if path.exists() and not is_known_whole(path):
            with _connect(path, patience) as reading:
                missing_in_file(reading, path)
        _patiently(lambda: _attach(path, connection), patience)
    try:
        with translated(path):
            connection.execute("USE warehouse_file")
            applied = apply_migrations(connection, str(path))
        with interruptible():
            yield applied
    except _OF_THE_FILE as error:
        raise _schema_error(path, error) from error
    finally:
        failed = sys.exc_info()[0] is not None
        with contextlib.suppress(duckdb.Error) if failed else translated(path):  # what went wrong first is told
            connection.execute("USE memory")
            connection.execute("DETACH warehouse_file")
    now_whole(path)


def _remove_empty_file(path: Path) -> None:
    """DuckDB takes no empty file; one that another process is just making is left alone."""
    while is_empty_file(path):
        if abs(time.time() - path.stat().st_mtime) > _SETTLED:
            path.resolve().unlink(missing_ok=True)
        else:
            time.sleep(0.1)


def _attach(path: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Attach the file for writing; a new one is made as ours are, one that is there stays as it was made."""
    target = plain_path(path).replace("'", "''")
    made_with = "" if path.exists() else f" (STORAGE_VERSION '{STORAGE_VERSION}', BLOCK_SIZE {BLOCK_SIZE})"
    connection.execute(f"ATTACH '{target}' AS warehouse_file{made_with}")


def _patiently(action: Callable[[], Result], patience: float) -> Result:
    """Do something with the file; while another process has it locked, try again until patience (seconds) is over."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return action()
        except duckdb.IOException as error:
            if not _is_lock(error) or time.monotonic() >= deadline:
                raise
            time.sleep(0.1)


def migrate(path: Path) -> list[str]:
    """Bring a warehouse file up to date; the names of the migrations that were applied.

    Raises SchemaError: see `Warehouse.open`.
    """
    _check_path(path)
    if not path.exists():
        raise SchemaError(f"{path}: no warehouse yet; `scorehouse load PATH` creates one")
    if not is_empty_file(path):
        with _connect(path, PATIENCE) as reading, translated(path):
            if not missing_in_file(reading, path):
                return []
    with duckdb.connect() as connection, writing(path, connection) as applied:
        return list(applied)


__all__ = [
    "STORAGE_VERSION",
    "Warehouse",
    "WarehouseError",
    "default_path",
    "migrate",
    "translated",
    "writing",
]
