"""The process that answers a user's own SQL: it limits itself, runs the query, and writes the rows to stdout."""

import contextlib
import ctypes
import io
import json
import os
import pickle
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import duckdb
import polars as pl

from queries.limits import MARGIN, MORE_MEMORY, RESERVED, Request, address_space
from warehouse import LimitError, QuestionError, SchemaError, WarehouseError
from warehouse.database import literal
from warehouse.database.frames import frame
from warehouse.database.opening import check_statement, check_there, is_of_damage
from warehouse.database.updating import current
from warehouse.errors import DISK_FULL, is_of_full_disk
from warehouse.wording import option

KINDS = {
    "csv": "FORMAT csv, HEADER, DELIMITER ','",
    "tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
    "json": "FORMAT json, ARRAY true",
    "jsonl": "FORMAT json",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}
"""Formats that DuckDB writes as the program does, up to blanks and the spelling of numbers."""

_WRITTEN = {
    **dict.fromkeys(("boolean", "tinyint", "smallint", "integer", "bigint"), "{0}"),
    **dict.fromkeys(("utinyint", "usmallint", "uinteger", "ubigint", "varchar", "enum"), "{0}"),
    **dict.fromkeys(("float", "double"), "CASE WHEN NOT isnan({0}) THEN {0} END AS {0}"),
    "hugeint": "CAST({0} AS BIGINT) AS {0}",
}
"""What is written of a column, by its type; others DuckDB writes in its own way."""


def copied(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    parameters: Mapping[str, object],
    most: int | None,
    kind: str,
    file: Path,
) -> int | None:
    """Number of rows written to the file, at most `most`; NaN is written as missing, as in every format for programs.

    None: DuckDB does not write the rows as the program does (lists, times, very large integers), or the query cannot be
    part of another query, which would change its error and answer.
    """
    if [statement.type for statement in connection.extract_statements(query)] != [duckdb.StatementType.SELECT]:
        return None
    inner = f"(\n{query}\n)"
    try:
        columns = connection.execute(f"SELECT * FROM {inner} LIMIT 0", parameters).description
    except duckdb.Error:
        return None
    if len(columns) == 1 and kind in ("csv", "tsv"):  # a row of one missing value would be a blank line
        return None
    values = [_written(name, type_, kind) for name, type_, *_ in columns]
    if None in values:
        return None
    rows = f"SELECT {', '.join(map(str, values))} FROM {inner}" + ("" if most is None else f" LIMIT {most}")
    try:
        copy = f"COPY ({rows}) TO {literal(str(file))} ({KINDS[kind]}, USE_TMP_FILE false)"
        (n_rows,) = connection.execute(copy, parameters).fetchall()[0]
    except (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.ParserException):
        return None
    return int(n_rows)


def _written(name: str, type_: Any, kind: str) -> str | None:
    """The expression written for a column; None: a type that DuckDB writes differently."""
    text = _WRITTEN.get(type_.id)
    if type_.id == "decimal":
        text = f"CAST({{0}} AS {'DOUBLE' if dict(type_.children)['scale'] else 'BIGINT'}) AS {{0}}"
    elif text is not None and kind in ("json", "jsonl"):
        text = text.replace("NOT isnan", "isfinite")  # JSON has no infinity
    return None if text is None else text.format('"' + name.replace('"', '""') + '"')


_HINTS = ("Did you mean", "Candidate bindings", "Candidate Entries", "Candidate tables", "Loading external extensions")
_LIST_THE_VALUES = "list the values: ON column IN (...)"
_QUOTE_THE_TEXT = "text takes single quotes: lp = 'en-de'"
_MOST_ROWS = 2**62  # that DuckDB accepts
_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
_OF_FILE = (duckdb.FatalException, duckdb.InternalException, duckdb.IOException)
_NO_FRAME = re.compile(r"\b(BIGNUM|BIT|GEOMETRY|INTERVAL|TIME WITH TIME ZONE|TIMESTAMP_S|UHUGEINT|UNION|VARIANT)\b")


def main(ready: IO[bytes], request: IO[bytes]) -> None:
    """Answer a request: a line of JSON when it begins and one when it is done, then the rows as an Arrow stream."""
    words = request.read()
    if not words:  # nothing was asked
        return
    asked = pickle.loads(words)
    limit_process(asked)
    reply: dict[str, object] = {"is_cut": False}
    rows = b""
    try:
        with opened(asked) as connection:
            ready.write(b"\n")
            ready.flush()
            found, reply["is_cut"] = answer(connection, asked)
        if isinstance(found, int):
            reply["n_rows"] = found
        else:
            stream = io.BytesIO()
            found.write_ipc_stream(stream)
            rows = stream.getvalue()
    except WarehouseError as error:
        reply = {"error": type(error).__name__, "message": error.text}
    except MemoryError:
        reply = {"error": "LimitError", "message": f"the query ran out of memory; {MORE_MEMORY}"}
    ready.write(json.dumps(reply).encode() + b"\n")
    ready.write(rows)
    ready.flush()


def limit_process(asked: Request) -> None:
    """Have the operating system end this process with its parent, and limit its memory, time and file size."""
    if sys.platform == "win32":
        return
    import resource

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != asked.parent:
        os._exit(1)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error of the write instead of an end
    size = address_space(os.getpid())
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: int(asked.timeout * (os.cpu_count() or 1)) + 10}
    if asked.file is None:
        limits[resource.RLIMIT_FSIZE] = asked.spill + MARGIN
    if size:
        limits[resource.RLIMIT_AS] = size + asked.memory + RESERVED
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        lower = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (lower, lower))


@contextlib.contextmanager
def opened(asked: Request) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse with the limits of a query, after the same checks as for every other question."""
    check_there(asked.path)
    with current(
        asked.path,
        files=() if asked.file is None else (str(asked.file[0]),),
        memory=f"{asked.memory // 1024}KiB",  # the query's, not that of what is done before
        temp_directory=asked.folder,
        max_temp_directory_size=f"{asked.spill // 2 // 1024}KiB",  # its threads go over it
    ) as connection:
        yield connection


def answer(connection: duckdb.DuckDBPyConnection, asked: Request) -> tuple[pl.DataFrame | int, bool]:
    """The answer, or the number of its rows in the file; and whether it has more rows than requested.

    Raises QuestionError: not exactly one statement that only reads, or DuckDB refuses it. LimitError: memory ran out.
    SchemaError: the database cannot be read.
    """
    try:
        query = asked.query.rstrip("; \t\r\n")  # with a semicolon it can be no subquery
        check_statement(connection, query)
        most = None if asked.max_rows is None else min(asked.max_rows, _MOST_ROWS)
        if asked.file is not None:
            file, kind = asked.file
            n_rows = copied(connection, query, asked.parameters, None if most is None else most + 1, kind, file)
            if n_rows is not None:
                return n_rows, most is not None and n_rows > most
        relation = connection.sql(query, params=asked.parameters)
        if relation is None:
            raise QuestionError("the statement returns no rows")
        if most is None:
            return _plain(frame(_framable(relation))), False
        found = _plain(frame(_framable(relation.limit(most + 1))))
        return found.head(most), found.height > most
    except (pl.exceptions.ComputeError, duckdb.Error) as error:  # the first: DuckDB's, wrapped while rows were fetched
        raise _worded(asked.path, error) from error


def _worded(path: Path, error: Exception) -> WarehouseError:
    """DuckDB's error, reworded as what the user can do about it."""
    first = _first(error)
    is_of_file = isinstance(error, (*_OF_FILE, pl.exceptions.ComputeError))
    is_memory = isinstance(error, duckdb.OutOfMemoryException) or (is_of_file and "Out of Memory" in first)
    if is_memory or (is_of_file and _is_of_room(str(error))):
        return _limit(first)
    if isinstance(error, duckdb.Error) and (isinstance(error, _OF_FILE) or is_of_damage(error)):
        return SchemaError(f"{path}: damaged or unreadable database: {first}")
    return QuestionError(first.removeprefix("Invalid Input Error: "))  # what an error() of SQL says is enough


def _is_of_room(text: str) -> bool:
    """Whether DuckDB can write no more temporary files: at a query's limit, or because the disk is full."""
    return "max_temp_directory_size" in text or "failed to offload" in text or is_of_full_disk(text)


def _limit(text: str) -> LimitError:
    """The error for a query that ran out of memory or disk space. text: DuckDB's message."""
    if not _is_of_room(text):
        return LimitError(f"the query ran out of memory: {text}; {MORE_MEMORY}")
    what = (
        DISK_FULL if is_of_full_disk(text) else f"the query ran out of room on disk; {option('spill')} raises the limit"
    )
    return LimitError(f"{what}: {text}")


def _framable(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The relation with distinct column names.

    Raises QuestionError: a column type that frames do not support, for which Polars would panic or drop the time zone.
    """
    for name, kind in zip(relation.columns, relation.types, strict=True):
        if _NO_FRAME.search(str(kind)):
            raise QuestionError(
                f"column {name!r} is of type {kind}, which an answer cannot contain; cast it to VARCHAR"
            )
    if len(set(relation.columns)) < len(relation.columns):
        relation = relation.select("*")  # a second column named a becomes a_1
    times = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "TIME"]
    return relation.select(f"* REPLACE ({', '.join(map(_time, times))})") if times else relation


def _time(column: str) -> str:
    """A column of times, with an error for 24:00, which would be missing in a frame."""
    name = '"' + column.replace('"', '""') + '"'
    message = literal(f"column {column!r} holds 24:00:00, which an answer cannot contain; cast it to VARCHAR")
    return f"CASE WHEN {name} = TIME '24:00:00' THEN error({message}) ELSE {name} END AS {name}"


_DAYS = -719_162, 2_932_896  # from 1970 to the first and the last day that a calendar of four digits has
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000}  # nanoseconds reach from 1677 to 2262


def _has_plain_values(cells: pl.Series) -> bool:
    """Whether no cell is an infinite date, a date outside the years 1 to 9999, or a composite key."""
    kind = cells.dtype
    if kind.is_nested():
        try:
            cells.to_list()
        except (ValueError, TypeError, OverflowError, pl.exceptions.PanicException):
            return False
        return True
    per_day = (
        1 if isinstance(kind, pl.Date) else _PER_DAY.get(kind.time_unit) if isinstance(kind, pl.Datetime) else None
    )
    if per_day is None:
        return True
    numbers = cells.to_physical().drop_nulls()
    return bool(((numbers >= _DAYS[0] * per_day) & (numbers < (_DAYS[1] + 1) * per_day)).all())


def _plain(answered: pl.DataFrame) -> pl.DataFrame:
    """The answer in plain values.

    Raises QuestionError: a date that neither Python nor any format can represent.
    """
    for column in answered:
        if not _has_plain_values(column):
            what = "a key with parts, or " if column.dtype.is_nested() else ""
            found = f"column {column.name!r} holds {what}a date that is infinite or not of the years 1 to 9999"
            raise QuestionError(f"{found}, which an answer cannot contain; cast it to VARCHAR")
    return _plain_numbers(answered)


def _plain_numbers(answered: pl.DataFrame) -> pl.DataFrame:
    """Decimals, including sums of integers, as plain integers if they are whole and fit, else as floats."""
    for name, kind in answered.schema.items():
        if isinstance(kind, pl.Decimal):
            column = answered[name]
            whole = column.cast(pl.Int64, strict=False)
            is_whole = kind.scale == 0 and whole.null_count() == column.null_count()
            answered = answered.with_columns((whole if is_whole else column.cast(pl.Float64)).alias(name))
    return answered


def _first(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    hints = [line for line in lines[1:] if line.startswith(_HINTS)]
    hints += [_LIST_THE_VALUES for line in lines[:1] if "PIVOT statements with pivot elements" in line]
    ways = [_QUOTE_THE_TEXT for line in lines[:1] if "Referenced column" in line or "Referenced table" in line]
    return "; ".join([lines[0].removesuffix(":"), *hints[:1], *ways]) if lines else type(error).__name__
