"""A user's own SQL: read-only, without files or network, within limits of time and memory."""

import re
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from queries.footprint import memory_in_use
from warehouse import LimitError, QuestionError, SchemaError, Warehouse
from warehouse.database.connection import plain_path, translated
from warehouse.database.frames import frame

if TYPE_CHECKING:
    import polars as pl

_HINTS = ("Did you mean", "Candidate bindings", "Candidate Entries", "Candidate tables")
_LIST_THE_VALUES = "list the values: ON column IN (...)"
_MOMENT = 0.05  # seconds between looks at a running query
_DISK = 4  # how many times the memory a query may take on disk, too
_SLACK = 256 * 1024**2  # bytes; libraries and buffers of the program itself
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")
_TIMES = frozenset(
    {"date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone"}
)
_PLAIN_TYPES = frozenset(
    {
        *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint", "float", "double", "decimal"),
        *("varchar", "blob", "uuid", "enum", "null"),
    }
)
_PIVOT_KINDS = (
    (duckdb.StatementType.MULTI,),
    (duckdb.StatementType.CREATE, duckdb.StatementType.SELECT),  # before DuckDB 2
)
_NUMBER = re.compile(r"-?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?")


def parameter(text: str) -> int | float | str:
    """A parameter's value as typed on a command line: a number where it reads as one, else text.

    >>> parameter("2023"), parameter("0.5"), parameter("007"), parameter("en-de")
    (2023, 0.5, '007', 'en-de')
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and not re.match(r"-?0\d", text):
        return float(text)
    return text


def answer(
    path: Path,
    query: str,
    parameters: Mapping[str, object] | None = None,
    *,
    timeout: float = 60.0,
    memory: str = "4GB",
) -> "pl.DataFrame":
    """Answer of one SELECT (or EXPLAIN, DESCRIBE, SHOW, SUMMARIZE) over the warehouse at `path`.

    parameters: values of `$name` in the text. timeout: seconds; memory: as DuckDB writes it.
    Raises QuestionError: no such statement, several, or DuckDB refuses it. LimitError: time or memory ran out.
    SchemaError: the database cannot be read.
    """
    with Warehouse.open(path):
        pass  # the same checks as for every other question
    with tempfile.TemporaryDirectory(prefix="scorehouse-") as folder, translated(path):
        config: dict[str, str | bool | int | float | list[str]] = {"memory_limit": memory, "temp_directory": folder}
        try:
            connection = duckdb.connect(plain_path(path), read_only=True, config=config)
        except (duckdb.InvalidInputException, duckdb.ParserException) as error:
            raise QuestionError(f"memory limit {memory!r}: {_first(error)}") from error
        with connection:
            disk = _DISK * _memory_limit(connection) // 1024
            connection.execute(f"SET max_temp_directory_size = '{disk:d}KiB'")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            return _answer(path, connection, query, dict(parameters or {}), timeout)


def _answer(
    path: Path, connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, object], timeout: float
) -> "pl.DataFrame":
    import polars as pl

    try:
        _check_statement(connection, query, parameters)
        return _computed(connection, query, parameters, timeout)
    except pl.exceptions.ComputeError as error:  # DuckDB's error, wrapped while rows were fetched
        first = str(error).splitlines()[0]
        if "Out of Memory" in first:
            raise LimitError(f"the query ran out of memory: {first}") from error
        raise QuestionError(first) from error
    except duckdb.OutOfMemoryException as error:
        raise LimitError(f"the query ran out of memory: {_first(error)}") from error
    except (duckdb.FatalException, duckdb.InternalException, duckdb.IOException) as error:
        raise SchemaError(f"{path}: damaged or unreadable database: {_first(error)}") from error
    except duckdb.Error as error:
        if "Corrupt database file" in str(error):
            raise SchemaError(f"{path}: damaged database: {_first(error)}") from error
        raise QuestionError(_first(error)) from error


def _computed(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, object], timeout: float
) -> "pl.DataFrame":
    """The answer, computed in a thread of its own, so that this one can end the query at once.

    That is at Ctrl-C, after timeout (seconds), and where the rows of the answer, which DuckDB has handed out and counts
    no more, take the memory that the query may take.
    """
    import polars as pl

    def compute() -> "pl.DataFrame":
        relation = connection.sql(query, params=parameters)
        if relation is None:
            raise QuestionError("the statement returns no rows")
        return _checked_times(_plain_numbers(frame(_framable(relation))))

    with ThreadPoolExecutor(max_workers=1) as executor:
        memory = memory_in_use() + _memory_limit(connection) + _SLACK
        deadline = time.monotonic() + timeout
        answered = executor.submit(compute)
        over = None
        try:
            while not answered.done() and over is None:
                wait([answered], min(_MOMENT, max(deadline - time.monotonic(), 0.0)))
                if time.monotonic() >= deadline:
                    over = f"the query ran for more than {timeout:g} s and was stopped; --timeout allows more"
                elif memory_in_use() > memory:
                    over = (
                        "the result ran out of memory and was stopped; LIMIT makes it smaller, --memory gives it more"
                    )
        finally:  # a query that has not begun yet does not hear the first call
            while not answered.done():
                connection.interrupt()
                wait([answered], _MOMENT)
        try:
            return answered.result()
        except (duckdb.InterruptException, pl.exceptions.ComputeError) as error:
            if over is not None and "INTERRUPT" in str(error):
                raise LimitError(over) from error
            raise


def _memory_limit(connection: duckdb.DuckDBPyConnection) -> int:
    """The memory that a connection's queries may take, in bytes."""
    ((limit,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    number, unit = str(limit).split()
    return int(float(number) * 1024 ** _UNITS.index(unit))


def _check_statement(connection: duckdb.DuckDBPyConnection, query: str, parameters: Mapping[str, object]) -> None:
    """Raises QuestionError: not exactly one statement, one that does more than read, or other parameters than given."""
    statements = connection.extract_statements(query)
    if _is_pivot(connection, query, statements):
        return
    if len(statements) != 1:
        raise QuestionError(f"expected one statement, found {len(statements)}")
    kind = statements[0].type
    if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN, duckdb.StatementType.RELATION):
        name = "this statement" if kind in _PIVOT_KINDS[0] else str(kind).rpartition(".")[2]
        raise QuestionError(f"{name} is refused: a query may only read (SELECT, EXPLAIN, DESCRIBE, SHOW)")
    there = sorted(statements[0].named_parameters)
    if unknown := sorted(set(parameters) - set(there)):
        what = f"which has {', '.join(f'${name}' for name in there)}" if there else "which has none"
        raise QuestionError(f"no parameter ${unknown[0]} in the query, {what}")
    if missing := sorted(set(there) - set(parameters)):
        raise QuestionError(f"no value for the query's parameter{'s' * (len(missing) > 1)}: {', '.join(missing)}")


def _is_pivot(connection: duckdb.DuckDBPyConnection, query: str, statements: list[duckdb.Statement]) -> bool:
    """Whether the text is one question with PIVOT ... ON columns whose values are looked up in the data.

    DuckDB makes several statements of it, as of other texts that hold a PIVOT; only a question can be a subquery.
    """
    if tuple(statement.type for statement in statements) not in _PIVOT_KINDS:
        return False
    try:
        parts = connection.extract_statements(f"SELECT * FROM (\n{query.rstrip().rstrip(';')}\n)")
    except duckdb.Error:
        return False
    return tuple(part.type for part in parts) in _PIVOT_KINDS


def _framable(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The relation with names that differ, and as text what a frame has no type for (intervals, unions, bits)."""
    fits = [kind.id in _TIMES or _fits(kind) for kind in relation.types]
    if len(set(relation.columns)) < len(relation.columns):
        relation = relation.select("*")  # a second column named a becomes a_1
    if all(fits):
        return relation
    quoted = ['"' + name.replace('"', '""') + '"' for name in relation.columns]
    words = [name if fit else f"CAST({name} AS VARCHAR) AS {name}" for name, fit in zip(quoted, fits, strict=True)]
    return relation.project(", ".join(words))


def _fits(kind: Any) -> bool:
    """Whether a frame can hold values of a DuckDB type that are no times."""
    if kind.id in ("list", "array"):
        return _fits(dict(kind.children)["child"])
    if kind.id in ("struct", "map"):
        return all(_fits(child) for _, child in kind.children)
    return kind.id in _PLAIN_TYPES


def _checked_times(answered: "pl.DataFrame") -> "pl.DataFrame":
    """The frame as it is.

    Raises QuestionError: a date or time outside of the years 1 to 9999, such as infinity, which nothing can print.
    """
    import datetime

    import polars as pl

    for name, kind in answered.schema.items():
        if kind == pl.Date or (isinstance(kind, pl.Datetime) and kind.time_unit != "ns"):
            column = answered[name].cast(pl.Int64)
            ends = pl.Series([datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]).cast(kind).cast(pl.Int64)
            if not column.drop_nulls().is_between(ends[0], ends[1]).all():
                raise QuestionError(f"column {name!r} holds times outside of the years 1 to 9999; cast it to VARCHAR")
    return answered


def _plain_numbers(answered: "pl.DataFrame") -> "pl.DataFrame":
    """Decimals, which sums of whole numbers become too, as plain integers where they are whole and fit, else floats."""
    import polars as pl

    for name, kind in answered.schema.items():
        if isinstance(kind, pl.Decimal):
            column = answered[name]
            whole = column.cast(pl.Int64, strict=False)
            is_whole = kind.scale == 0 and whole.null_count() == column.null_count()
            answered = answered.with_columns((whole if is_whole else column.cast(pl.Float64)).alias(name))
    return answered


def _first(error: duckdb.Error) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    hints = [line for line in lines[1:] if line.startswith(_HINTS)]
    hints += [_LIST_THE_VALUES for line in lines[:1] if "PIVOT statements with pivot elements" in line]
    return "; ".join([lines[0], *hints[:1]]) if lines else type(error).__name__
