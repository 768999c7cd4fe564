"""Values of every odd type that DuckDB has: each format writes them, or the answer is refused in one line."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest

from cli.render import _parquet_bytes
from cli.render.delimited import delimited_text, for_terminals, without_formulas
from cli.render.json import json_lines, json_text
from cli.render.latex import latex_text
from cli.render.markdown import markdown_text
from cli.render.table import fitted_text, table_text
from queries.adhoc_process import answer
from queries.limits import Request
from tests.helpers import together
from warehouse import QuestionError

FORMATS = {
    "csv": lambda frame: delimited_text(frame, ","),
    "tsv": lambda frame: delimited_text(for_terminals(frame), "\t"),
    "safe csv": lambda frame: delimited_text(without_formulas(frame), ","),
    "json": lambda frame: json_text(frame.rows(named=True)),
    "jsonl": lambda frame: json_lines(frame.rows(named=True)),
    "table": lambda frame: table_text(frame, 4),
    "terminal": lambda frame: fitted_text(frame, 4, 80),
    "markdown": lambda frame: markdown_text(frame, 4),
    "latex": lambda frame: latex_text(frame, 4),
    "parquet": _parquet_bytes,
}
REFUSED = [
    *(f"'infinity'::{kind}" for kind in ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS")),
    *("'-infinity'::DATE", "['infinity'::DATE]", "{'a': 'infinity'::TIMESTAMP}", "MAP {1: 'infinity'::DATE}"),
    *("DATE '0044-03-15 (BC)'", "[DATE '10000-01-01']", "TIMESTAMP '294247-01-10 04:00:54'"),
    *("TIME '24:00:00'", "TIMETZ '12:00:00+15:59'", "INTERVAL '1 year 2 days'", "[INTERVAL '1 day']"),
    *("'0101'::BIT", "{'a': '01'::BIT}", "union_value(n := 1)", "340282366920938463463374607431768211455::UHUGEINT"),
]
WRITTEN = [
    *("DATE '0001-01-01'", "DATE '9999-12-31'", "TIMESTAMP '9999-12-31 23:59:59.999999'", "TIME '23:59:59.999999'"),
    *("99999999999999999999999999999999999999::DECIMAL(38,0)", "0.12345678901234567890::DECIMAL(38,20)", "NULL", "[]"),
    *("170141183460469231731687303715884105727::HUGEINT", "18446744073709551615::UBIGINT", "'nan'::DOUBLE"),
    *(
        "'-inf'::FLOAT",
        "['nan'::DOUBLE]",
        "'\\xFF\\x00'::BLOB",
        "['\\xFF'::BLOB]",
        "uuid()",
        "[uuid()]",
        "'a'::ENUM('a')",
    ),
    *(
        "['x'::ENUM('x')]",
        "MAP {'a': 1, 'b': NULL}",
        "{'a': {'b': 1.5::DECIMAL(38,10)}}",
        "[[NULL]]",
        "array_value(1, 2)",
    ),
    *("TIMESTAMP_NS '2262-04-11 23:47:16.854775806'", "'a' || chr(0) || chr(27)", "'{\"a\": 1}'::JSON"),
]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def answered(connection: duckdb.DuckDBPyConnection, value: str) -> pl.DataFrame:
    asked = Request(Path("w"), f"SELECT {value} AS x, 1 AS y", {}, 10.0, 1 << 30, 1 << 30, None, "", 1, None)
    found, _ = answer(connection, asked)
    assert isinstance(found, pl.DataFrame)
    return found


@together("value", WRITTEN)
def test_every_format_writes_it(value: str, connection: duckdb.DuckDBPyConnection) -> None:
    frame = answered(connection, value)
    assert not [name for name, write in FORMATS.items() if not write(frame)]


@together("value", REFUSED)
def test_it_is_refused_before_any_format_fails(value: str, connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(QuestionError, match=r"^column 'x' .*, which an answer cannot contain; cast it to VARCHAR$"):
        answered(connection, value)
