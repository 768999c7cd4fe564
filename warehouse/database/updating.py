"""Updates of the file (tables by migrations, once each; views and macros if their text changed), and access for loads.

Loads query, create, migrate and write the file, and remove it if nothing was loaded.
"""

import contextlib
import hashlib
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

import migrations
from migrations import VIEWS
from warehouse.database import statement
from warehouse.database.catalogue import Migration, compared, defined, has_ledger, printable
from warehouse.database.opening import (
    attach,
    attach_to_read,
    check_path,
    comment_columns,
    confined,
    connect,
    database_of,
    find_tables,
    interruptible,
    is_empty_file,
    is_of_damage,
    lock,
    make_views_over,
    plain_path,
    reaching,
    retry_while_locked,
    schema_error,
    settle_log,
    translated,
)
from warehouse.errors import SchemaError
from warehouse.temporary import temporary_folder
from warehouse.wording import first_names, option


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _applied(connection: duckdb.DuckDBPyConnection, database: str | None = None) -> list[tuple[int, str, str]] | None:
    """Number, name and checksum of a database's applied migrations; None if it is not a warehouse.

    database: by default the current one.
    """
    whose = "" if database is None else '"' + database.replace('"', '""') + '".'
    try:
        return connection.execute(
            f"SELECT number, name, sha256 FROM {whose}internal.schema_migration ORDER BY number"
        ).fetchall()
    except (duckdb.CatalogException, duckdb.BinderException):  # no such table, or somebody else's of that name
        return None


def pending(
    connection: duckdb.DuckDBPyConnection,
    where: str,
    available: Sequence[Migration] | None = None,
    database: str | None = None,
) -> list[Migration]:
    """Migrations missing from a database (by default the current one), in order; nothing is changed.

    where: the database's path, for messages.
    Raises SchemaError: an applied migration whose text changed since, or a migration that this program does not know
        (the database is newer).
    """
    available = migrations.sql_files() if available is None else available
    applied = _applied(connection, database)
    if applied is None:
        return list(available)
    known = {number: (name, text) for number, name, text in available}
    seen = {number: checksum for number, _, checksum in applied}
    for number, (name, text) in known.items():
        if number != VIEWS and seen.get(number, _checksum(text)) != _checksum(text):
            raise SchemaError(
                f"{where}: made by an unreleased version of scorehouse (its migration {name} differs); load "
                "the score files into a new file"
            )
    newer = [name for number, name, _ in applied if number not in known]
    if newer:
        raise SchemaError(
            f"{where}: made by a newer scorehouse (it has migration {printable(newer[-1])}, this version ends at "
            f"{max(available)[1]}); upgrade scorehouse, or name another file with {option('db')}"
        )
    return [migration for migration in available if seen.get(migration[0]) != _checksum(migration[2])]


Mark = tuple[int, int, int, int, int]
_EXAMINED: dict[Mark, Sequence[Migration]] = {}
"""Files that this process has examined, and with which migrations: listing macros takes longer than opening a file."""
_NOTED: set[Path] = set()


def mark_of(path: Path) -> Mark | None:
    """A value that changes with the file's content; None if a log next to it may hold changes."""
    if path.with_name(f"{path.name}.wal").exists():
        return None
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def examined(path: Path, connection: duckdb.DuckDBPyConnection, mark: Mark | None = None) -> list[Migration] | None:
    """Migrations of this program that a file does not have; None if the file is empty.

    Every opening of a file checks this before any other statement: see `catalogue`. Harmless foreign objects are named
    in one line. mark: of the file, before it was opened.
    Raises SchemaError: see `Warehouse.open`.
    """
    available, database, where = migrations.sql_files(), database_of(connection), str(path)
    if mark is not None and _EXAMINED.get(mark) == available:
        return pending(connection, where, available, database)
    there = defined(connection, database)
    is_ours = has_ledger(there, where, available)
    behind = pending(connection, where, available, database) if is_ours else list(available)
    applied = [migration[1] for migration in available if migration not in behind]
    is_current, foreign = compared(connection, there, applied if is_ours else None, where, available)
    if foreign and path not in _NOTED:
        _NOTED.add(path)
        _LOG.warning("%s: not created by scorehouse, and not used: %s", path, first_names(foreign))
    if not is_ours:
        return None
    if not is_current and all(number != VIEWS for number, *_ in behind):
        behind.append(available[-1])
    elif not behind and mark is not None:
        _EXAMINED[mark] = available
    return behind


@contextlib.contextmanager
def in_one_transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All that the block writes, or nothing of it."""
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def apply_migrations(
    connection: duckdb.DuckDBPyConnection,
    where: str,
    available: Sequence[Migration] | None = None,
    missing: Sequence[Migration] | None = None,
) -> list[str]:
    """Apply pending migrations, each in one transaction, and find the tables; names of the migrations applied.

    missing: the pending migrations, if known. Raises SchemaError: see `pending`.
    """
    missing = pending(connection, where, available) if missing is None else missing
    is_new = bool(missing) and _applied(connection) is None
    applied = []
    for number, name, text in missing:
        with in_one_transaction(connection):
            if is_new:
                connection.execute(statement(__package__, "ledger"))
            connection.execute(text)
            if number == VIEWS:
                comment_columns(connection)
            connection.execute(
                "INSERT OR REPLACE INTO internal.schema_migration "
                "VALUES ($number, $name, $sha256, (now() AT TIME ZONE 'UTC')::TIMESTAMP)",
                {"number": number, "name": name, "sha256": _checksum(text)},
            )
        is_new = False
        applied.append(name)
    find_tables(connection)
    return applied


Ask = Callable[[str, Mapping[str, object]], list[tuple[Any, ...]]]
_LOG = logging.getLogger(__name__)
LOCK_TIMEOUT = 10.0  # seconds that a load waits for another process to let go of the file
EMPTY_FILE_GRACE = 2.0  # seconds after which an empty file is none that another process is just making
_OF_THE_FILE = (duckdb.IOException, duckdb.TransactionException, duckdb.ConstraintException)
"""The last are of a damaged index: what is written was checked before, and its identifiers are new."""


def current(
    path: Path,
    patience: float = 0.0,
    *,
    files: Sequence[str] = (),
    below: Path | None = None,
    memory: str | None = None,
    **config: str,
) -> duckdb.DuckDBPyConnection:
    """A read-only connection to a warehouse in this program's version, without other access or changes of settings.

    A file of an earlier version is updated. If it cannot be written (another process reads it, or the medium is
    read-only) and its tables are current, the views are made in memory. Both are logged in one line.
    files, below: further files that queries can access, as for `reaching`. memory: limit for queries.
    Raises SchemaError: see `Warehouse.open`.
    """
    connection, behind = _opened(path, patience, files, below, **config)
    if behind:
        connection.close()
        try:
            with in_memory(path) as one, writing(path, one, patience=patience) as applied:
                names = ", ".join(applied)
        except SchemaError as error:
            if any(number != VIEWS for number, *_ in behind):
                found = f"{error}; the warehouse is of an earlier version and must be upgraded first"
                raise SchemaError(found) from error
            connection = _connect_beside(path, LOCK_TIMEOUT, files, below, **config)
            _LOG.warning("%s: read-only, with views of another version; the views were created in memory", path)
        else:
            if names:  # no other process was first
                _LOG.warning("%s was brought up to date with %s", path, names)
            connection, behind = _opened(path, patience, files, below, **config)
    try:
        with translated(path):
            if memory is None:  # the questions of others see the public views alone
                find_tables(connection)
            lock(connection, memory)
    except BaseException:
        connection.close()
        raise
    return connection


def _opened(
    path: Path, patience: float, files: Sequence[str], below: Path | None, **config: str
) -> tuple[duckdb.DuckDBPyConnection, list[Migration]]:
    """A connection, and the missing migrations."""
    check_path(path)
    settle_log(path, patience)
    mark = mark_of(path)
    connection = connect(path, patience, files, below, **config)
    try:
        return connection, missing(connection, path, mark)
    except BaseException:
        connection.close()
        raise


def missing(connection: duckdb.DuckDBPyConnection, path: Path, mark: Mark | None = None) -> list[Migration]:
    """Migrations of this program that a file does not have. Raises SchemaError: see `Warehouse.open`."""
    with translated(path):
        behind = examined(path, connection, mark)
        if behind is None:
            raise _without_scores(path)
        _check_evalsets(path, connection, behind)
    return behind


def _without_scores(path: Path) -> SchemaError:
    """The error for a file without content: a first load ended before its tables were made, or none was begun."""
    return SchemaError(f"{path}: a warehouse without scores yet; `scorehouse load PATH` fills it")


def _check_evalsets(path: Path, connection: duckdb.DuckDBPyConnection, behind: Sequence[Migration]) -> None:
    """Raises SchemaError: a first load ended before it made all tables."""
    if behind and not _has_evalsets(connection):
        raise _without_scores(path)


def _connect_beside(
    path: Path, patience: float, files: Sequence[str], below: Path | None, **config: str
) -> duckdb.DuckDBPyConnection:
    """A connection to this program's views, made in memory over the tables of a file that cannot be written."""
    settle_log(path, patience)
    connection = reaching(path, files, below, **{"temp_directory": f"{plain_path(path)}.tmp", **config})
    try:
        with translated(path):
            retry_while_locked(lambda: attach_to_read(path, connection), patience)
            examined(path, connection)
            make_views_over(connection, "warehouse_file")
    except BaseException:
        connection.close()
        raise
    return connection


def _has_evalsets(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the current database has an evaluation set; a first load may have ended before making the table."""
    name = database_of(connection).replace('"', '""')
    try:
        return connection.execute(f'SELECT 1 FROM "{name}".internal.evalset LIMIT 1').fetchone() is not None
    except duckdb.CatalogException:
        return False


def bring_up_to_date(path: Path, connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Apply the migrations missing from a warehouse file, before a load reads it; names of the migrations applied.

    Raises SchemaError: see `Warehouse.open`.
    """
    if is_empty_file(path):
        return []
    check_path(path)
    settle_log(path, LOCK_TIMEOUT)
    mark = mark_of(path)
    with translated(path), contextlib.ExitStack() as stack:
        if retry_while_locked(lambda: attach_to_read(path, connection), LOCK_TIMEOUT):
            stack.enter_context(_attached(path, connection))
            there = connection
        else:  # this process has it open
            there = stack.enter_context(connect(path, LOCK_TIMEOUT))
        if not examined(path, there, mark):
            return []
    with writing(path, connection) as applied:
        return list(applied)


@contextlib.contextmanager
def reading(path: Path, connection: duckdb.DuckDBPyConnection) -> Iterator[Ask]:
    """Attach the warehouse file to a load's own connection for queries; detach at the end.

    Opening the file separately takes DuckDB many times as long. Yields a function that runs a statement there with its
    parameters. It returns no rows if there is no file, or if an interrupted first load left no table or view.
    Raises SchemaError: see `Warehouse.open`.
    """
    if not path.exists() or is_empty_file(path):
        yield _nothing
        return
    check_path(path)
    settle_log(path, LOCK_TIMEOUT)
    mark = mark_of(path)
    with translated(path):
        if retry_while_locked(lambda: attach_to_read(path, connection), LOCK_TIMEOUT):
            with _attached(path, connection):
                behind = examined(path, connection, mark)
                if behind is None:
                    yield _nothing
                    return
                _check_evalsets(path, connection, behind)
                find_tables(connection, alone=True)
                yield lambda query, parameters: connection.execute(query, dict(parameters)).fetchall()
            return
    with current(path, LOCK_TIMEOUT) as opened:
        yield lambda query, parameters: opened.execute(query, dict(parameters)).fetchall()


def _nothing(query: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
    """The empty result."""
    return []


@contextlib.contextmanager
def _attached(path: Path, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """The attached file as the connection's current database; detach it at the end."""
    try:
        with translated(path):
            connection.execute("USE warehouse_file")
        yield
    finally:
        failed = sys.exc_info()[0] is not None
        with contextlib.suppress(duckdb.Error) if failed else translated(path):  # what went wrong first is reported
            connection.execute("USE memory")
            connection.execute("DETACH warehouse_file")


@contextlib.contextmanager
def unless_nothing_came(path: Path) -> Iterator[None]:
    """If the block fails while creating a warehouse file, remove the file if it is still empty."""
    is_new = not path.exists()
    try:
        yield
    except BaseException:
        if is_new and path.exists() and _is_without_content(path):
            for left in (path, path.with_name(path.name + ".wal")):
                left.resolve().unlink(missing_ok=True)
        raise


def _is_without_content(path: Path) -> bool:
    """Whether a file has no evaluation set, or has pending migrations; False if unknown."""
    try:
        if is_empty_file(path):
            return True
        with connect(path, 0.0) as reading:
            return bool(examined(path, reading)) or not _has_evalsets(reading)
    except (duckdb.Error, SchemaError, OSError):
        return False


@contextlib.contextmanager
def writing(
    path: Path, connection: duckdb.DuckDBPyConnection, *, patience: float = LOCK_TIMEOUT
) -> Iterator[list[str]]:
    """Attach the warehouse file to a connection for writing, as its current database, migrated; detach at the end.

    The file is locked for as long as the block runs. Yields the names of migrations that were applied.
    patience: seconds to wait for another process to release the file.
    Raises SchemaError: see `Warehouse.open`; the folder cannot be written.
    """
    check_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SchemaError(f"{path}: cannot create its folder: {error.strerror}") from error
    with translated(path):
        _remove_empty_file(path)
        mark = mark_of(path)
        retry_while_locked(lambda: attach(path, connection), patience)
    _remove_left_spill(path)
    with _attached(path, connection):
        try:
            with translated(path):
                applied = apply_migrations(connection, str(path), missing=examined(path, connection, mark))
                find_tables(connection, alone=True)
            with interruptible():
                yield applied
        except duckdb.Error as error:
            if isinstance(error, _OF_THE_FILE) or is_of_damage(error):
                raise schema_error(path, error) from error
            raise
    if (mark := mark_of(path)) is not None:
        _EXAMINED[mark] = migrations.sql_files()


def _remove_left_spill(path: Path) -> None:
    """Remove spill files of killed processes next to the file; no process has the file open."""
    folder = path.with_name(f"{path.name}.tmp")
    with contextlib.suppress(OSError):
        if folder.is_symlink():
            return
        for left in folder.glob("duckdb_temp_*"):
            left.unlink()
        folder.rmdir()  # an error where anything else is in it


@contextlib.contextmanager
def in_memory(
    database: Path | None, files: Sequence[str] = (), below: Path | None = None, most: str | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory with its own spill folder, to which a warehouse file is attached at times.

    database, files, below: accessible files, as for `reaching`. most: memory such as 400MB, above which it spills.
    """
    with temporary_folder() as folder:
        limit = {} if most is None else {"memory_limit": most}
        with confined(database, files, below, temp_directory=str(folder), **limit) as connection:
            yield connection


def _remove_empty_file(path: Path) -> None:
    """Remove an empty file, which DuckDB cannot open, unless another process is just creating it."""
    while is_empty_file(path):
        if abs(time.time() - path.stat().st_mtime) > EMPTY_FILE_GRACE:
            path.resolve().unlink(missing_ok=True)
        else:
            time.sleep(0.1)
