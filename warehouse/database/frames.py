"""Conversion between Polars and DuckDB without further dependencies.

This module must not import duckdb at run time: Polars keeps the class of each object that it read from for ever, and
through it the globals of the class's module. DuckDB 2.0 found there would print lines about leaks when the program
ends.
"""

from typing import TYPE_CHECKING, Protocol

from warehouse.errors import QuestionError
from warehouse.wording import MARK, NO_LP

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb
    import polars as pl


class _HasStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class _Stream:
    """A table as an object with only the Arrow stream method, which DuckDB and Polars can both read."""

    def __init__(self, table: _HasStream) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def frame(relation: "duckdb.DuckDBPyRelation") -> "pl.DataFrame":
    """The rows of a relation as a Polars frame.

    Raises QuestionError: two columns have one name, which makes Polars panic if there are no rows.
    """
    import polars as pl

    if twice := [name for n, name in enumerate(relation.columns) if name in relation.columns[:n]]:
        raise QuestionError(f"two columns with the same name in the result: {twice[0]!r}; rename one with AS")
    return pl.DataFrame(_Stream(relation))


def spelt_frame(rows: "pl.DataFrame", spelling: "Callable[[str], str]") -> "pl.DataFrame":
    """A frame whose texts name options in the style of `spelling`, see `warehouse.wording.option`.

    The language pair of test sets without one becomes null.
    """
    import polars as pl

    if rows.schema.get("lp") == pl.String:
        rows = rows.with_columns(lp=pl.when(pl.col("lp") != NO_LP).then("lp"))
    marks = f"{MARK}|{NO_LP}"
    texts = [one for one in rows if one.dtype == pl.String and one.str.contains(marks).any()]
    spelt = [pl.Series(one.name, [text and spelling(text) for text in one], pl.String) for one in texts]
    return rows.with_columns(spelt)


def insert(connection: "duckdb.DuckDBPyConnection", table: str, rows: "pl.DataFrame") -> None:
    """Append a frame to a table; columns are matched by name.

    table: one of the program's names, never a user's text.
    """
    with_frame(connection, rows, f"INSERT INTO {table} BY NAME SELECT * FROM inserted_frame")


def temporary(connection: "duckdb.DuckDBPyConnection", table: str, rows: "pl.DataFrame") -> None:
    """Make a temporary table from a frame, replacing an earlier one. table: as for `insert`."""
    with_frame(connection, rows, f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT * FROM inserted_frame")


def with_frame(
    connection: "duckdb.DuckDBPyConnection", rows: "pl.DataFrame", statement: str, parameters: object = None
) -> None:
    """Execute a statement that reads the rows as `inserted_frame`."""
    connection.register("inserted_frame", _Stream(rows))
    try:
        connection.execute(statement, parameters)
    finally:
        connection.unregister("inserted_frame")
