"""The answer of a user's own SQL that goes to a file: DuckDB writes it as the rows come, and nobody holds it whole."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

KINDS = {
    "csv": "FORMAT csv, HEADER, DELIMITER ','",
    "tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
    "json": "FORMAT json, ARRAY true",
    "jsonl": "FORMAT json",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}
"""Formats that DuckDB writes as the program does, up to blanks and the spelling of numbers."""

_AS_THEY_ARE = frozenset(
    {"boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint"}
    | {"varchar", "enum"}
)
_FLOATS = frozenset({"float", "double"})
_WHOLE = frozenset({"hugeint", "uhugeint"})


def copied(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    parameters: Mapping[str, object],
    most: int | None,
    kind: str,
    file: Path,
) -> int | None:
    """Number of rows written to the file, at most `most`; NaN is missing, as in every format for programs.

    None: DuckDB does not write them as the program does (lists, times, whole numbers that are too large), or the query
    cannot be a part of another one, so that its error and its answer are those of the query alone.
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
    target = str(file).replace("'", "''")
    try:
        copy = f"COPY ({rows}) TO '{target}' ({KINDS[kind]}, USE_TMP_FILE false)"
        (n_rows,) = connection.execute(copy, parameters).fetchall()[0]
    except (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.ParserException):
        return None
    return int(n_rows)


def _written(name: str, type_: Any, kind: str) -> str | None:
    """What is written of a column; None: a type that DuckDB writes in its own way."""
    quoted = '"' + name.replace('"', '""') + '"'
    if type_.id in _AS_THEY_ARE:
        return quoted
    if type_.id in _FLOATS:
        is_value = f"isfinite({quoted})" if kind in ("json", "jsonl") else f"NOT isnan({quoted})"
        return f"CASE WHEN {is_value} THEN {quoted} END AS {quoted}"
    if type_.id in _WHOLE:
        return f"CAST({quoted} AS BIGINT) AS {quoted}"
    if type_.id == "decimal":
        return f"CAST({quoted} AS {'DOUBLE' if dict(type_.children)['scale'] else 'BIGINT'}) AS {quoted}"
    return None
