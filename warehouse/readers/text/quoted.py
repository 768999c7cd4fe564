"""Tables with real quoting (CSV and TSV as spreadsheets write them) as a frame of strings.

If a line has as many tabs as the header, it is a row, and its quotes are characters unless they enclose a whole
cell: translations that begin or end with a quote never join lines.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.text.tables import of_each_kind, table_of
from warehouse.wording import counted

_LONGEST_CELL = 2**31 - 1
_ENCLOSED = re.compile(r'"(?:[^"]|"")*"', re.DOTALL)


def quoted_table(
    text: str,
    columns: Sequence[str],
    separator: str,
    path: Path,
    faults: list[Fault],
    *,
    n_header: int = 0,
    called: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Rows split at the separator, with cells optionally in double quotes: strings under `columns`, and `line`, from 1.

    n_header: rows to skip at the top. called: names of the columns in messages, if they differ.
    A row's line is its first one, where a quoted cell has several. Rows with another number of columns, and blank
    ones, go to the faults and have no row; an unclosed quote is a fault, and nothing after it is read.
    """
    called = called or columns
    if '"' not in text and "line" not in called:
        table = table_of(text, called, separator, path, faults, n_header=n_header)
        return table.rename(dict(zip(called, columns, strict=True)))
    rows = _rows(io.StringIO(text, newline=""), separator, len(columns))
    return _table(itertools.islice(rows, n_header, None), columns, called, path, faults)


def quoted_tables(
    texts: Iterable[tuple[str, list[Fault]]],
    columns: Sequence[str],
    separator: str,
    path: Path,
    called: Sequence[str],
    most: int,
) -> Iterator[tuple[pl.DataFrame, list[Fault]]]:
    """The tables of `quoted_table` for a text in pieces, below a header of one line.

    texts: whole lines, with the faults of damaged ones, counted within each. most: rows of one table after a quote,
    whose cell may go on in the next text.
    """
    n_before = 0
    stream = iter(texts)
    for text, damages in stream:
        if '"' in text or "line" in called:
            faults: list[Fault] = []
            lines = _lines(itertools.chain([(text, damages)], stream), faults)
            rows = _rows(lines, separator, len(columns))
            rows = itertools.islice(rows, 0 if n_before else 1, None)
            while some := list(itertools.islice(rows, most)):
                table = _table(some, columns, called, path, faults)
                yield table.with_columns(pl.col("line") + n_before), _below(faults, n_before)
                faults.clear()
            return
        faults = [*damages]
        table = table_of(text, called, separator, path, faults, n_header=0 if n_before else 1)
        table = table.rename(dict(zip(called, columns, strict=True)))
        yield table.with_columns(pl.col("line") + n_before), _below(faults, n_before)
        n_before += text.count("\n")


def _lines(texts: Iterable[tuple[str, list[Fault]]], faults: list[Fault]) -> Iterator[str]:
    """The lines of texts; the faults of damaged ones, counted from the first text, go to `faults`."""
    n_lines = 0
    for text, damages in texts:
        faults += _below(damages, n_lines)
        yield from io.StringIO(text, newline="")
        n_lines += text.count("\n")


def _below(faults: Iterable[Fault], n_lines: int) -> list[Fault]:
    """Faults of lines that stand below others, which their lines do not count."""
    return [replace(fault, line=fault.line + n_lines) if fault.line else fault for fault in faults]


def _table(
    rows: Iterable[tuple[int, list[str] | str]],
    columns: Sequence[str],
    called: Sequence[str],
    path: Path,
    faults: list[Fault],
) -> pl.DataFrame:
    """The frame of some rows, each with its line; invalid rows go to the faults."""
    lines: list[int] = []
    kept: list[str] = []  # cells of all rows, one row behind the other
    wrong: list[Fault] = []
    for line, row in rows:
        if isinstance(row, list) and len(row) == len(columns):
            lines.append(line)
            kept += row
            continue
        if isinstance(row, str):
            found, expected = f"broken quoting ({row})", "fields with each quote closed"
        else:
            found = counted(len(row), "column") if any(row) else "a blank line"
            expected = f"{len(columns)}: {' '.join(called)}"
        wrong.append(Fault(str(path), line, found, expected, kind="a row"))
    faults += of_each_kind(wrong)
    schema = {"line": pl.Int64} | dict.fromkeys(columns, pl.String)
    width = len(columns)
    return pl.DataFrame([lines, *(kept[at::width] for at in range(width))], schema=schema)


def _rows(stream: Iterable[str], separator: str, n_columns: int) -> Iterator[tuple[int, list[str] | str]]:
    """Each row with its first line; the fault in place of the cells if its quoting is broken."""
    return _tab_rows(stream, n_columns) if separator == "\t" else _csv_rows(stream, separator)


def _tab_rows(stream: Iterable[str], n_columns: int) -> Iterator[tuple[int, list[str] | str]]:
    """A complete line is a row; an incomplete line may end in a quoted cell that continues on further lines."""
    begin, row = 0, ""
    for number, line in enumerate(stream, start=1):
        line = line.rstrip("\r\n")
        is_whole = line.count("\t") == n_columns - 1
        if begin and is_whole:
            yield begin, _tab_cells(row)
            begin = 0
        if is_whole:
            yield number, _tab_cells(line)
            continue
        begin, row = (begin, f"{row}\n{line}") if begin else (number, line)
        if row.count('"') % 2 == 0:
            yield begin, _tab_cells(row)
            begin = 0
    if begin:
        yield begin, "unexpected end of data"


def _tab_cells(row: str) -> list[str]:
    return [cell[1:-1].replace('""', '"') if _ENCLOSED.fullmatch(cell) else cell for cell in row.split("\t")]


def _csv_rows(stream: Iterable[str], separator: str) -> Iterator[tuple[int, list[str] | str]]:
    csv.field_size_limit(_LONGEST_CELL)
    stream = iter(stream)
    n_before = 0
    while True:
        rows = csv.reader(stream, delimiter=separator, strict=True)
        begin = n_before + 1
        try:
            for row in rows:
                yield begin, row
                begin = n_before + rows.line_num + 1
        except csv.Error as error:
            yield begin, str(error)
            n_before += rows.line_num
            continue
        return


def quoted_cells(line: str, separator: str) -> list[str]:
    """The cells of one line; the text as one cell if its quoting is broken.

    >>> quoted_cells('a,"b,c"', ",")
    ['a', 'b,c']
    """
    if separator == "\t":
        return _tab_cells(line)
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        return [line]
