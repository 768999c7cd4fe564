"""What DuckDB says of the file or of a question, as errors that say what to do."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb

from warehouse.errors import DISK_FULL, LimitError, QuestionError, SchemaError, WarehouseError, is_of_full_disk

_OF_DAMAGE = (duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
_OF_QUESTION = (duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError)
_DAMAGED = ("orrupt", "checksum")  # Corrupt database file, Corrupted segment, file appears to be corrupted
_UNWRITABLE = ("Permission denied", "Read-only file system", "Could not write")
_LOCK_HOLDER = re.compile(r"(\S+)?\s*\(?PID (\d+)\)?")
_OTHER_STORAGE = re.compile(r"version number (\d+), but we can only read (?:storage )?versions between (\d+) and (\d+)")


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
    return SchemaError(f"{path}: {suspicion(error)}: {first}")


def suspicion(error: duckdb.Error) -> str:
    """What is behind an error for which the question gives no reason; DuckDB's own defects are internal errors, too."""
    of_duckdb = f", or a defect of DuckDB {duckdb.__version__}" if isinstance(error, duckdb.InternalException) else ""
    return f"damaged or unreadable database{of_duckdb}"


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
        raise schema_error(path, error) from error


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
        raise answer_error(path, error) from error


def answer_error(path: Path, error: duckdb.Error) -> WarehouseError:
    text = str(error).strip()
    if isinstance(error, duckdb.OutOfMemoryException):
        return LimitError(f"{path}: out of memory: {text.splitlines()[0]}")
    is_of_file = isinstance(error, duckdb.IOException) and path.name in text
    is_of_disk = is_of_full_disk(text) or any(words in text for words in _UNWRITABLE)
    if is_of_file or is_of_disk or is_of_damage(error):
        return schema_error(path, error)
    return QuestionError(text)


def is_of_damage(error: duckdb.Error) -> bool:
    """Whether DuckDB found the file damaged, as far as its error says; words of the question do not count.

    Errors of its decoders have no class of their own, as those of missing extensions have none.
    """
    if isinstance(error, _OF_QUESTION):
        return False
    return isinstance(error, _OF_DAMAGE) or any(word in str(error) for word in _DAMAGED)
