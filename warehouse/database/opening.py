"""The file's location, connections that can access nothing else, and DuckDB's errors reworded with what to do."""

import contextlib
import itertools
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb

import migrations
from warehouse.database import literal, statement
from warehouse.database.buckets import SCHEME, Bucket, let_in
from warehouse.errors import DISK_FULL, LimitError, QuestionError, SchemaError, WarehouseError, is_of_full_disk
from warehouse.wording import first_line, option

INTERNAL = "internal"
"""Schema of the tables; what is public (views and macros) is in `main`, so that SHOW TABLES lists that alone."""
_OF_DAMAGE = (duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
_OF_QUESTION = (duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError)
_DAMAGED = ("orrupt", "checksum")  # Corrupt database file, Corrupted segment, file appears to be corrupted
_UNWRITABLE = ("Permission denied", "Read-only file system", "Could not write")
_LOCK_HOLDER = re.compile(r"(\S+)?\s*\(?PID (\d+)\)?")


def is_lock(error: duckdb.Error) -> bool:
    text = str(error)
    return "lock on file" in text or "being used by another process" in text


def schema_error(path: Path, error: duckdb.Error) -> SchemaError:
    text = str(error)
    if is_lock(error):
        holder = _LOCK_HOLDER.search(text)
        who = f"process {holder[2]}" if holder else "another process"
        if holder and holder[1]:
            who += f" ({holder[1].strip('(')})"
        return SchemaError(f"{path}: locked by {who}, which is using it; try again when it has finished")
    first = first_line(error)
    if is_of_full_disk(text):
        return SchemaError(f"{path}: {DISK_FULL}: {first}")
    if any(words in text for words in _UNWRITABLE):
        return SchemaError(f"{path}: cannot be written: {first}")
    if "Cannot open file" in text:
        return SchemaError(f"{path}: cannot be opened: {first.rpartition(': ')[2]}")
    if "Cannot access file" in text:  # such as a log of another name, where a folder has a ? in its name
        return SchemaError(f"{path}: cannot be opened: DuckDB misreads its path; rename the file or folder")
    if "not a valid DuckDB database file" in text or "version number" in text:
        return SchemaError(f"{path}: not a readable DuckDB database: {first}")
    return SchemaError(f"{path}: damaged or unreadable database: {first}")


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt even during a query, for which DuckDB raises a RuntimeError."""
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
        raise LimitError(f"{path}: out of memory: {first_line(error)}") from error
    except duckdb.Error as error:
        raise schema_error(path, error) from error


@contextlib.contextmanager
def answered(path: Path) -> Iterator[None]:
    """Reword errors of the program's own queries; none of them says that a question has no answer.

    Raises LimitError: out of memory. SchemaError: the file is damaged, or does not have what the query needs.
    """
    try:
        with interruptible():
            yield
    except duckdb.Error as error:
        if isinstance(error, duckdb.InterruptException) and _LATE not in str(error):
            raise
        found = answer_error(path, error)
        if isinstance(found, QuestionError):
            found = SchemaError(f"{path}: a query of scorehouse itself failed: {first_line(found.text)}")
        raise found from error


def answer_error(path: Path, error: duckdb.Error) -> WarehouseError:
    text = str(error).strip()
    if isinstance(error, duckdb.OutOfMemoryException):
        return LimitError(f"{path}: out of memory: {first_line(error)}")
    if isinstance(error, duckdb.InterruptException) and _LATE in text:
        return LimitError(f"{path}: a query took longer than {LONGEST} s and was stopped")
    is_of_file = isinstance(error, duckdb.IOException) and path.name in text
    is_of_disk = is_of_full_disk(text) or any(words in text for words in _UNWRITABLE)
    if is_of_file or is_of_disk or is_of_damage(error):
        return schema_error(path, error)
    return QuestionError(text)


def is_of_damage(error: duckdb.Error) -> bool:
    """Whether DuckDB's error says that the file is damaged; words of the query are ignored.

    Errors of its decoders, like errors of missing extensions, have no separate class.
    """
    if isinstance(error, _OF_QUESTION):
        return False
    return isinstance(error, _OF_DAMAGE) or any(word in str(error) for word in _DAMAGED)


Result = TypeVar("Result")
_MULTI = duckdb.StatementType.MULTI
_OF_PIVOT = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
STORAGE_VERSION = "v1.4.0"  # every DuckDB from 1.4 on reads the file
BLOCK_SIZE = 32768  # bytes; an eighth of DuckDB's default: less room is lost at the ends of many small columns
_ENDINGS = ("", ".wal", ".wal.recovery", ".wal.checkpoint")  # the file, and what DuckDB puts beside it
_LATE = "maximum execution time"  # what DuckDB says of a query whose time is over
LONGEST: float = 600  # seconds for a query of the program's own: those over all years take a few
_MAGIC, _MAGIC_PLACE = b"DUCK", 8  # what a DuckDB file says of itself, and where
_LOCKING_UP = threading.Lock()  # threads that open one file share its settings
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # what Path leaves of two slashes


def default_path() -> Path:
    """Default location of the warehouse: the platform's data folder of the user."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "scorehouse" / "scorehouse.duckdb"


def is_empty_file(path: Path) -> bool:
    """Whether a file has no bytes: a name was reserved, or a first load was killed at its start."""
    return path.is_file() and path.stat().st_size == 0


def plain_path(path: Path) -> str:
    """The path in a form that DuckDB always takes as a file; `md:x`, `sqlite:x` and `:memory:` have other meanings."""
    return str(path) if isinstance(path, Bucket) else os.path.abspath(path)  # noqa: PTH100 (links keep their names)


def _spellings(path: Path) -> tuple[Path, ...]:
    """A file's path and, if it is a link, the path of its target, next to which DuckDB keeps the log."""
    return tuple(dict.fromkeys((Path(plain_path(path)), path.resolve())))


def check_path(path: Path) -> None:
    """Raises SchemaError: not a regular file, not a DuckDB database, or a URL."""
    if _URL.match(str(path)):
        raise SchemaError(f"{path}: a URL, expected a file on this machine")
    try:
        if path.is_dir():
            raise SchemaError(f"{path}: a folder, expected a warehouse file")
        if path.exists() and not path.is_file():
            raise SchemaError(f"{path}: not a regular file, expected a warehouse file")
        for one, ending in itertools.product(_spellings(path), (*_ENDINGS[1:], ".tmp")):
            beside = one.with_name(one.name + ending)
            if beside.is_symlink() or (ending != ".tmp" and beside.exists() and not beside.is_file()):
                raise SchemaError(f"{beside}: a link or special file next to a warehouse; remove it")
        if path.exists():
            with path.open("rb") as file:
                head = file.read(_MAGIC_PLACE + len(_MAGIC))
            if head and head[_MAGIC_PLACE:] != _MAGIC:
                raise SchemaError(f"{path}: not a DuckDB database; name another file with {option('db')}")
    except OSError as error:
        raise SchemaError(f"{path}: cannot be opened: {error.strerror or error}") from error


def check_there(path: Path) -> None:
    """Raises SchemaError: no such file, or it cannot be opened; see `Warehouse.open`."""
    check_path(path)
    if not path.exists():
        raise SchemaError(f"{path}: no warehouse yet; `scorehouse load PATH` creates one")
    if is_empty_file(path):
        raise SchemaError(f"{path}: an empty file, not a warehouse yet; `scorehouse load PATH` creates one")


def settle_log(path: Path, patience: float = 0.0) -> None:
    """Write the log of an interrupted load into the file.

    DuckDB cannot replay definitions of views and macros while it opens a file as its main database, but it can when
    it attaches the file.
    """
    if path.with_name(f"{path.name}.wal").exists():
        with translated(path), confined(path) as connection:
            retry_while_locked(lambda: attach(path, connection), patience)
            connection.execute("DETACH warehouse_file")


_ALONE: Mapping[str, str] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_persistent_secrets": "false",
}
"""No extension is looked for, not even while a file is opened: DuckDB 1.4 made folders."""


def reaching(
    database: Path | None, files: Sequence[str] = (), below: Path | None = None, **config: str
) -> duckdb.DuckDBPyConnection:
    """A database in memory that can access only the warehouse file, to attach it, and DuckDB's files next to it.

    files: further accessible files. below: a folder with further accessible files. config: DuckDB's settings.
    """
    connection = duckdb.connect(config={**_ALONE, **config})
    if any(one.startswith(f"{SCHEME}//") for one in files):
        let_in(connection)
    beside = () if database is None else (str(one) + ending for one in _spellings(database) for ending in _ENDINGS)
    names = dict.fromkeys((*beside, *files, *map(pattern, files)))
    connection.execute(f"SET allowed_paths = [{', '.join(map(literal, names))}]")
    if below is not None:
        folder = plain_path(below) + os.sep
        connection.execute(f"SET allowed_directories = [{literal(folder)}, {literal(pattern(folder))}]")
    connection.execute("SET enable_external_access = false")
    return connection


@contextlib.contextmanager
def confined(
    database: Path | None, files: Sequence[str] = (), below: Path | None = None, **config: str
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The database of `reaching` with locked settings; closed at the end."""
    with reaching(database, files, below, **config) as connection:
        lock(connection)
        yield connection


def connect(
    path: Path, patience: float, files: Sequence[str] = (), below: Path | None = None, **config: str
) -> duckdb.DuckDBPyConnection:
    """A read-only connection to the file, confined before it opens the file; the content is not examined yet.

    The log of an interrupted load is written first. files, below: further accessible files, as for `reaching`.
    The caller locks the settings when done with them, see `lock`.
    """
    check_path(path)
    settle_log(path, patience)
    with translated(path):
        is_plain = not files and below is None and not config
        if is_plain and path.stem.lower() != INTERNAL:  # a database of that name hides the schema
            settings: dict[str, Any] = {**_ALONE, "enable_external_access": "false"}
            with contextlib.suppress(duckdb.ConnectionException):  # this process has it open with other settings
                return retry_while_locked(
                    lambda: duckdb.connect(plain_path(path), read_only=True, config=settings), patience
                )
        connection = reaching(path, files, below, **config)
        try:
            if not retry_while_locked(lambda: attach_to_read(path, connection), patience):
                raise SchemaError(f"{path}: open in this program already; close it there")
            connection.execute("USE warehouse_file")
        except BaseException:
            connection.close()
            raise
        return connection


def database_of(connection: duckdb.DuckDBPyConnection) -> str:
    """The file's database name on a connection to it, found without any function that the file could define."""
    query = "SELECT database_name FROM system.main.duckdb_databases() WHERE NOT internal"
    names = [name for (name,) in connection.execute(query).fetchall()]
    return "warehouse_file" if "warehouse_file" in names else str(names[0])


def lock(connection: duckdb.DuckDBPyConnection, memory: str | None = None) -> None:
    """Forbid statements to change settings.

    memory: limit for queries that also have their own time limit; without it each query may take LONGEST.
    Connections of one process to one file share their settings; the first connection locks them for all.
    """
    with _LOCKING_UP:
        if connection.execute("SELECT system.main.current_setting('lock_configuration')").fetchall() == [(True,)]:
            return
        with contextlib.suppress(duckdb.InvalidInputException):  # notebooks refuse the setting
            # Its bar goes to stdout, where DuckDB takes a process for a person.
            connection.execute("SET enable_progress_bar = false")
        if memory is not None:
            connection.execute(f"SET memory_limit = {literal(memory)}")
        else:
            with contextlib.suppress(duckdb.CatalogException):  # DuckDB before 2.0 has no such limit
                connection.execute(f"SET max_execution_time = {int(1000 * LONGEST)}")
        connection.execute("SET lock_configuration = true")


def check_statement(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Raises QuestionError: not exactly one statement, or a statement that does more than read."""
    kinds = [statement.type for statement in connection.extract_statements(query)]
    if kinds[:1] == [duckdb.StatementType.CREATE] and set(kinds[:-1]) == {duckdb.StatementType.CREATE}:
        kinds = kinds[-1:] if kinds[-1] in _OF_PIVOT else kinds  # before 2.0 a PIVOT makes a type for each column first
    elif kinds == [_MULTI]:  # a PIVOT is one of many
        return
    if len(kinds) != 1:
        raise QuestionError(f"expected one statement, found {len(kinds)}")
    if kinds[0] not in (*_OF_PIVOT, duckdb.StatementType.RELATION):
        name = str(kinds[0]).rpartition(".")[2]
        raise QuestionError(f"{name} is refused: a query may only read (SELECT, EXPLAIN, DESCRIBE, SHOW)")


def pattern(path: str) -> str:
    """The pattern that matches exactly this path in DuckDB, with wildcard characters in brackets.

    >>> pattern("a*[1]")
    'a[*][[]1]'
    """
    return re.sub(r"[*?[]", r"[\g<0>]", path)


def attach(path: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Attach the file for writing; a new file gets our storage format, an existing file keeps its own."""
    made_with = "" if path.exists() else f" (STORAGE_VERSION '{STORAGE_VERSION}', BLOCK_SIZE {BLOCK_SIZE})"
    connection.execute(f"ATTACH {literal(plain_path(path))} AS warehouse_file{made_with}")


def attach_to_read(path: Path, connection: duckdb.DuckDBPyConnection) -> bool:
    """Attach an existing file for reading only, along with other readers.

    False if this process already has it open and DuckDB (as 1.4 does) allows only one instance.
    """
    try:
        connection.execute(f"ATTACH {literal(plain_path(path))} AS warehouse_file (READ_ONLY)")
    except duckdb.BinderException as error:
        if "already attached" not in str(error):
            raise
        return False
    return True


def retry_while_locked(action: Callable[[], Result], patience: float) -> Result:
    """Perform an action on the file; while another process has it locked, retry for `patience` seconds."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return action()
        except duckdb.IOException as error:
            if not is_lock(error) or time.monotonic() >= deadline:
                raise
            time.sleep(0.1)


def find_tables(connection: duckdb.DuckDBPyConnection, *, alone: bool = False) -> None:
    """Let statements of this connection name the internal tables of the current database without their schema.

    alone: hide public views and macros, for loads.
    """
    ((name,),) = connection.execute("SELECT replace(current_database(), '\"', '\"\"')").fetchall()
    schemas = (INTERNAL,) if alone else ("main", INTERNAL)
    path = ",".join(f'"{name}".{schema}' for schema in schemas).replace("'", "''")
    with contextlib.suppress(duckdb.CatalogException):  # there are none
        connection.execute(f"SET search_path = '{path}'")


def make_views_over(connection: duckdb.DuckDBPyConnection, attached: str) -> None:
    """Make the views and macros in the current database, over the tables of an attached database."""
    connection.execute(f"CREATE SCHEMA {INTERNAL}")
    tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = $name AND schema_name = 'internal'"
    for (table,) in connection.execute(tables, {"name": attached}).fetchall():
        name = '"' + table.replace('"', '""') + '"'  # a stranger's file may name a table as it likes
        connection.execute(f"CREATE VIEW {INTERNAL}.{name} AS FROM {attached}.{INTERNAL}.{name}")
    connection.execute(migrations.sql_files()[-1][2])
    comment_columns(connection)


def comment_columns(connection: duckdb.DuckDBPyConnection) -> None:
    """Comment the columns of public views whose meaning follows from their name alone."""
    ((comments,),) = connection.execute(statement(__package__, "uncommented")).fetchall()
    connection.execute(comments or "")
