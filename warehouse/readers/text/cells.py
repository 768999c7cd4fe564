"""Faults line by line: of cells that do not hold what their column should, and the first of each kind."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import MOST_FAULTS, Fault
from warehouse.wording import counted


def first_faults(faults: Sequence[Fault], n: int) -> list[Fault]:
    """The first faults of one kind, and one for all further lines that have it.

    faults: those of the first lines at least. n: how many lines there are.
    >>> [str(fault) for fault in first_faults([Fault("a", 3, "no name", "one")], MOST_FAULTS + 2)]
    ['a:3: no name, expected one', 'a: 2 more lines: no name, expected one']
    """
    if n <= MOST_FAULTS:
        return [*faults]
    first, n_more = faults[0], n - MOST_FAULTS
    more = counted(n_more, "more such line") if first.kind else f"{counted(n_more, 'more line')}: {first.found}"
    others = Fault(first.path, 0, more, first.expected, first.way_out, first.kind or first.found, n_more)
    return [*faults[:MOST_FAULTS], others]


def of_each_kind(faults: Iterable[Fault]) -> list[Fault]:
    """The first faults of each kind, each with one for all further lines that have it; those of the whole file once.

    faults: of a file, or of its pieces one after the other, with what the pieces count themselves.
    """
    whole: dict[Fault, None] = {}
    first: dict[tuple[str, str, str], list[Fault]] = {}
    n_lines: dict[tuple[str, str, str], int] = {}
    for fault in faults:
        kind = fault.kind or fault.found, fault.expected, fault.way_out
        if fault.line == 0 and not (fault.n_more and kind in first):
            whole[fault] = None
            continue
        n_lines[kind] = n_lines.get(kind, 0) + (fault.n_more or 1)
        known = first.setdefault(kind, [])
        if not fault.n_more and len(known) < MOST_FAULTS:
            known.append(fault)
    return [*whole, *(fault for kind, known in first.items() for fault in first_faults(known, n_lines[kind]))]


def visible(names: pl.Expr) -> pl.Expr:
    """Names without what nobody sees: blanks of any kind at their ends, characters without width, split accents.

    >>> pl.select(visible(pl.lit("\\u00a0COMET\\u200b "))).item()
    'COMET'
    """
    return (
        names.str.normalize("NFC")
        .str.replace_all(r"[\u00ad\u200b-\u200d\u2060\ufeff]", "")
        .str.replace_all(r"^\s+|\s+$", "")
    )


def with_visible_names(table: pl.DataFrame, columns: Iterable[str]) -> tuple[pl.DataFrame, int]:
    """The table with such names in some columns, and how many different names that changes."""
    n_changed = 0
    for column in columns:
        if column not in table.columns:
            continue
        names = table.select(before=pl.col(column).unique()).drop_nulls().with_columns(after=visible(pl.col("before")))
        changed = names.filter(pl.col("before") != pl.col("after"))
        if changed.height:
            n_changed += changed.height
            table = table.with_columns(pl.col(column).replace(changed["before"], changed["after"]))
    return table, n_changed


def cells_that_are(
    table: pl.DataFrame, column: str, is_right: pl.Expr, expected: str, path: Path, faults: list[Fault]
) -> pl.DataFrame:
    """The rows where a column is as it should be; the others (null counts as wrong) go to the faults.

    table: with `line`.
    """
    right = is_right.fill_null(False)
    wrong = table.filter(~right)
    faults += line_faults(
        wrong.select("line", column), lambda cell: f"{column} {cell!r}{_known_slip(cell)}", expected, path, column
    )
    return table.filter(right)


def _known_slip(cell: object) -> str:
    """What is wrong with a number as spreadsheets write it.

    >>> _known_slip("0,5"), _known_slip("12.5%"), _known_slip("x")
    (' with a decimal comma', ' with a percent sign', '')
    """
    if isinstance(cell, str) and re.fullmatch(r"[+-]?\d*,\d+", cell):
        return " with a decimal comma"
    return " with a percent sign" if isinstance(cell, str) and re.fullmatch(r"[+-]?[\d.,]+ ?%", cell) else ""


def line_faults(wrong: pl.DataFrame, found: Callable[..., str], expected: str, path: Path, what: str) -> list[Fault]:
    """A fault for each of the first lines, and how many more there are.

    wrong: a row a line: `line`, and then the arguments of `found`, which says what stands there. what: what is wrong in
        all of them.
    """
    first = wrong.head(MOST_FAULTS).iter_rows()
    faults = [Fault(str(path), line, found(*cells), expected, kind=f"{what}: {expected}") for line, *cells in first]
    return first_faults(faults, wrong.height)


def repeated_faults(
    wrong: pl.DataFrame, column: str, found: str, expected: str, path: Path, way_out: str = ""
) -> list[Fault]:
    """One fault for each distinct cell, on its first line, with the number of further lines that have it.

    wrong: with `line` and the column. found: with a place for the cell, such as "test set {!r}".
    """
    cells = wrong.group_by(column).agg(pl.col("line").min(), n=pl.len()).sort("line")
    faults = [
        Fault(str(path), line, found.format(cell) + more_lines(n - 1), expected, way_out)
        for cell, line, n in cells.head(MOST_FAULTS).iter_rows()
    ]
    if cells.height > MOST_FAULTS:
        n_more = cells.height - MOST_FAULTS
        faults.append(Fault(str(path), 0, counted(n_more, "more such name"), expected, way_out, n_more=n_more))
    return faults


def more_lines(n: int) -> str:
    """How many further lines have the same fault, for the end of its message.

    >>> more_lines(0), more_lines(1), more_lines(7)
    ('', ', and in 1 more line', ', and in 7 more lines')
    """
    if n == 0:
        return ""
    return f", and in {counted(n, 'more line')}"
