"""Aligned tables for people."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from cli.render.cells import Least, TextColumn, text_columns

if TYPE_CHECKING:
    from rich.text import Text

GAP = "  "
LEAST_TEXT = 10
FOLDED_GAP = 3
FOLDED_EDGES = 2  # which Rich counts, though it does not draw them
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def table_text(
    frame: pl.DataFrame,
    digits: int | Mapping[str, int],
    *,
    width: int | None,
    least: Least | None = None,
    dressed: "Mapping[str, Sequence[Text]] | None" = None,
) -> str:
    """A header, a rule, one line a row; numbers to the right. No cell is ever cut.

    width: of the terminal: long texts are folded to fit it where that leaves LEAST_TEXT of each, and the header is
        bold (unless NO_COLOR is set). None, for a pipe or a file: as wide as it takes, nothing but text.
    dressed: by column, the same cells with styles, which a terminal shows unless NO_COLOR is set.
    """
    columns = text_columns(frame, digits, least)
    if not columns:
        return ""
    widths = [max(map(cell_width, [column.name, *column.cells])) for column in columns]
    styles = {} if "NO_COLOR" in os.environ else dressed or {}
    if width is not None and (styles or sum(widths) + len(GAP) * (len(widths) - 1) > width):
        for least_text in (LEAST_TEXT, LEAST_TEXT - 1, LEAST_TEXT - 2):  # one of one column, too, fits its own width
            narrowest = [n if c.is_number else min(n, least_text) for c, n in zip(columns, widths, strict=True)]
            if sum(narrowest) + FOLDED_GAP * (len(narrowest) - 1) + FOLDED_EDGES <= width:
                return _folded(columns, narrowest, width, styles)
    header = _line([column.name for column in columns], columns, widths)
    if width is not None and "NO_COLOR" not in os.environ:
        header = f"{BOLD}{header}{PLAIN}"
    rule = GAP.join("─" * n for n in widths)
    rows = (_line(list(cells), columns, widths) for cells in zip(*(c.cells for c in columns), strict=True))
    return "".join(f"{line}\n" for line in (header, rule, *rows))


def cell_width(text: str) -> int:
    """Columns on the screen: letters of Chinese or Japanese take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _line(cells: list[str], columns: list[TextColumn], widths: list[int]) -> str:
    padded = []
    for cell, column, width in zip(cells, columns, widths, strict=True):
        space = " " * (width - cell_width(cell))
        padded.append(space + cell if column.is_number else cell + space)
    return GAP.join(padded).rstrip()


def _folded(columns: list[TextColumn], least: list[int], width: int, dressed: "Mapping[str, Sequence[Text]]") -> str:
    """A table no wider than the terminal: names and texts go on in the next line, numbers stay whole."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for column, n in zip(columns, least, strict=True):
        if column.is_number:
            table.add_column(Text(column.name), justify="right", no_wrap=True, min_width=n, max_width=n)
        else:
            table.add_column(Text(column.name), justify="left", overflow="fold", min_width=n)
    shown = (dressed.get(column.name) or [Text(cell) for cell in column.cells] for column in columns)
    for cells in zip(*shown, strict=True):
        table.add_row(*cells)
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        console.print(table, crop=False)  # which would lose the ends of lines where Rich makes the table too wide
    return captured.get()
