"""The file brought up to date (tables by migrations, once each; views and macros where their text changed), and loads.

Loads ask it, make it, migrate it, write it, and remove it where nothing came.
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
from warehouse.database.opening import (
    attach,
    attach_to_read,
    check_path,
    comment_columns,
    connect,
    connect_beside,
    find_tables,
    interruptible,
    is_empty_file,
    is_of_damage,
    retry_while_locked,
    schema_error,
    settle_log,
    silence,
    translated,
)
from warehouse.errors import SchemaError
from warehouse.temporary import temporary_folder
from warehouse.wording import option

Migration = tuple[int, str, str]

_DEFINED = """
SELECT 'VIEW internal.' || view_name FROM duckdb_views()
WHERE database_name = current_database() AND schema_name = 'internal'
"""
_SHADOWS = """
SELECT function_name FROM duckdb_functions()
GROUP BY function_name HAVING bool_or(database_name = 'system') AND bool_or(database_name != 'system')
"""


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def not_ours(where: str) -> SchemaError:
    """The error for a database of another program. where: its path."""
    return SchemaError(
        f"{where}: a DuckDB database, but not a scorehouse warehouse; name another file with {option('db')}"
    )


def _applied(connection: duckdb.DuckDBPyConnection) -> list[tuple[int, str, str]] | None:
    """Number, name and checksum of the migrations that the current database has seen; None where it is no warehouse."""
    try:
        return connection.execute(
            "SELECT number, name, sha256 FROM internal.schema_migration ORDER BY number"
        ).fetchall()
    except (duckdb.CatalogException, duckdb.BinderException):  # no such table, or somebody else's of that name
        return None


def has_tables(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether there is any table or view in the current database."""
    there = """
        SELECT 1 FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal
        UNION ALL
        SELECT 1 FROM duckdb_views() WHERE database_name = current_database() AND NOT internal
        LIMIT 1
        """
    return connection.execute(there).fetchone() is not None


def pending(
    connection: duckdb.DuckDBPyConnection, where: str, available: Sequence[Migration] | None = None
) -> list[Migration]:
    """Migrations missing from the current database, in order; nothing is changed.

    where: the database's path, for messages.
    Raises SchemaError: tables that are not ours, an applied migration whose text changed since,
        or a migration that this program does not know (the database is newer).
    """
    available = migrations.sql_files() if available is None else available
    texts = "".join(text for *_, text in available)
    if any(defined not in texts for (defined,) in connection.execute(_DEFINED).fetchall()):  # such as a view as a table
        raise not_ours(where)
    applied = _applied(connection)
    if applied is None:
        if has_tables(connection):
            raise not_ours(where)
        return list(available)
    known = {number: (name, text) for number, name, text in available}
    seen = {number: checksum for number, _, checksum in applied}
    newer = [name for number, name, _ in applied if number not in known]
    if newer:
        raise SchemaError(
            f"{where}: made by a newer scorehouse (it has migration {newer[-1]}, this program ends at "
            f"{available[-1][1]}); upgrade scorehouse, or name another file with {option('db')}"
        )
    for number, (name, text) in known.items():
        if number != migrations.VIEWS and seen.get(number, _checksum(text)) != _checksum(text):
            raise SchemaError(
                f"{where}: migration {name} was applied with a different text from this program's; "
                "load everything into a new file"
            )
    return [migration for migration in available if seen.get(migration[0]) != _checksum(migration[2])]


def apply_migrations(
    connection: duckdb.DuckDBPyConnection, where: str, available: Sequence[Migration] | None = None
) -> list[str]:
    """Apply what is pending, each migration in one transaction, and find the tables; names of the migrations applied.

    Raises SchemaError: see `pending`.
    """
    missing = pending(connection, where, available)
    is_new = bool(missing) and _applied(connection) is None
    applied = []
    for number, name, text in missing:
        connection.execute("BEGIN")
        try:
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
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        is_new = False
        applied.append(name)
    find_tables(connection)
    return applied


Ask = Callable[[str, Mapping[str, object]], list[tuple[Any, ...]]]
_LOG = logging.getLogger(__name__)
PATIENCE = 10.0  # seconds that a load waits for another process to let go of the file
_SETTLED = 2.0  # seconds after which an empty file is none that another process is just making
_OF_THE_FILE = (duckdb.IOException, duckdb.TransactionException, duckdb.ConstraintException)
"""The last are of a damaged index: what is written was checked before, and its identifiers are new."""


def current(path: Path, patience: float = 0.0, writes_below: Path | None = None) -> duckdb.DuckDBPyConnection:
    """A read-only connection to a warehouse as this program knows it.

    A file of an earlier version is brought up to date. Where it cannot be written (another process reads it, a medium
    for reading alone) and its tables are those of today, the views are made in memory. Both are logged in one line.
    Raises SchemaError: see `Warehouse.open`.
    """
    connection = connect(path, patience, writes_below)
    try:
        behind = missing(connection, path)
    except BaseException:
        connection.close()
        raise
    if not behind:
        return connection
    connection.close()
    try:
        with in_memory() as memory, writing(path, memory, patience=patience) as applied:
            names = ", ".join(applied)
    except SchemaError as error:
        if any(number != VIEWS for number, *_ in behind):
            raise SchemaError(f"{error}; the warehouse is of an earlier version and has to be written first") from error
        connection = connect_beside(path, PATIENCE, writes_below)
        _LOG.warning("%s: cannot be written; views, which are of another version in it, are made in memory", path)
        return connection
    if names:  # no other process was first
        _LOG.warning("%s: brought up to date with %s", path, names)
    return connect(path, patience, writes_below)


def missing(connection: duckdb.DuckDBPyConnection, path: Path) -> list[Migration]:
    """What the current database lacks of this program's data definition. Raises SchemaError: see `Warehouse.open`."""
    with translated(path):
        behind = pending(connection, str(path))
        if behind and not _has_evalsets(connection):
            raise SchemaError(f"{path}: a warehouse without scores yet; `scorehouse load PATH` fills it")
    return behind


def _has_evalsets(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the current database holds an evaluation set; a first load may have ended before it made the table."""
    try:
        return connection.execute("SELECT 1 FROM internal.evalset LIMIT 1").fetchone() is not None
    except duckdb.CatalogException:
        return False


def bring_up_to_date(path: Path, connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Apply the migrations missing from a warehouse file, before a load reads it; names of the migrations applied.

    Raises SchemaError: see `Warehouse.open`.
    """
    if is_empty_file(path):
        return []
    check_path(path)
    settle_log(path, PATIENCE)
    with translated(path), contextlib.ExitStack() as stack:
        if retry_while_locked(lambda: attach_to_read(path, connection), PATIENCE):
            stack.enter_context(_attached(path, connection))
            there = connection
        else:  # this process has it open
            there = stack.enter_context(connect(path, PATIENCE))
        _refuse_shadows(path, there)
        if not pending(there, str(path)) or not has_tables(there):
            return []
    with writing(path, connection, is_known=True) as applied:
        return list(applied)


@contextlib.contextmanager
def reading(path: Path, connection: duckdb.DuckDBPyConnection) -> Iterator[Ask]:
    """Attach the warehouse file to a load's own connection for questions; detach at the end.

    To open the file by itself takes DuckDB many times as long. Yields what runs a statement there, with its parameters;
    no rows where there is no file, or one without a table or view, as a first load was interrupted.
    Raises SchemaError: see `Warehouse.open`.
    """
    if not path.exists() or is_empty_file(path):
        yield _nothing
        return
    check_path(path)
    settle_log(path, PATIENCE)
    with translated(path):
        if retry_while_locked(lambda: attach_to_read(path, connection), PATIENCE):
            with _attached(path, connection):
                if not has_tables(connection):
                    yield _nothing
                    return
                missing(connection, path)
                find_tables(connection, alone=True)
                yield lambda query, parameters: connection.execute(query, dict(parameters)).fetchall()
            return
    with current(path, PATIENCE) as opened:
        yield lambda query, parameters: opened.execute(query, dict(parameters)).fetchall()


def _nothing(query: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
    """The answer where nothing is."""
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


def _refuse_shadows(path: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Raise SchemaError where a macro in the file would stand in for a function of DuckDB, as long as it is attached to
    a connection that can read files. To list all functions takes DuckDB as long as a fifth of a tiny load."""
    if shadows := connection.execute(_SHADOWS).fetchone():
        raise SchemaError(f"{path}: its macro {shadows[0]} hides a function of DuckDB; drop it")


@contextlib.contextmanager
def unless_nothing_came(path: Path) -> Iterator[None]:
    """Where the block fails that was to make a warehouse file, remove the file if nothing is in it yet."""
    is_new = not path.exists()
    try:
        yield
    except BaseException:
        if is_new and path.exists() and _is_without_content(path):
            for left in (path, path.with_name(path.name + ".wal")):
                left.resolve().unlink(missing_ok=True)
        raise


def _is_without_content(path: Path) -> bool:
    """Whether no evaluation set is in a file, or migrations are still to come; False where that cannot be known."""
    try:
        if is_empty_file(path):
            return True
        with connect(path, 0.0) as reading:
            if pending(reading, str(path)):
                return True
            return reading.execute("SELECT 1 FROM evalsets LIMIT 1").fetchone() is None
    except (duckdb.Error, SchemaError, OSError):
        return False


@contextlib.contextmanager
def writing(
    path: Path, connection: duckdb.DuckDBPyConnection, *, patience: float = PATIENCE, is_known: bool = False
) -> Iterator[list[str]]:
    """Attach the warehouse file to a connection for writing, as its current database, migrated; detach at the end.

    The file is locked for as long as the block runs. Yields the names of migrations that were applied.
    patience: seconds to wait for another process to let go of the file. is_known: its macros do no harm, since
    `bring_up_to_date` has seen it or the connection is locked up.
    Raises SchemaError: see `Warehouse.open`; the folder cannot be written.
    """
    check_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SchemaError(f"{path}: cannot create its folder: {error.strerror}") from error
    with translated(path):
        _remove_empty_file(path)
        is_known |= not path.exists()
        retry_while_locked(lambda: attach(path, connection), patience)
    _remove_left_spill(path)
    with _attached(path, connection):
        try:
            with translated(path):
                if not is_known:
                    _refuse_shadows(path, connection)
                applied = apply_migrations(connection, str(path))
                find_tables(connection, alone=True)
            with interruptible():
                yield applied
        except duckdb.Error as error:
            if isinstance(error, _OF_THE_FILE) or is_of_damage(error):
                raise schema_error(path, error) from error
            raise


def _remove_left_spill(path: Path) -> None:
    """Remove what killed processes wrote beside the file when their memory was full; nobody else has it open now."""
    folder = path.with_name(f"{path.name}.tmp")
    with contextlib.suppress(OSError):
        for left in folder.glob("duckdb_temp_*"):
            left.unlink()
        folder.rmdir()  # an error where anything else is in it


@contextlib.contextmanager
def in_memory(most: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that spills into a folder of its own. most: such as 400MB, above which it does."""
    with temporary_folder() as folder:
        limit = {} if most is None else {"memory_limit": most}
        with duckdb.connect(config={"temp_directory": str(folder), **limit}) as connection:
            silence(connection)
            yield connection


def _remove_empty_file(path: Path) -> None:
    """DuckDB takes no empty file; one that another process is just making is left alone."""
    while is_empty_file(path):
        if abs(time.time() - path.stat().st_mtime) > _SETTLED:
            path.resolve().unlink(missing_ok=True)
        else:
            time.sleep(0.1)
