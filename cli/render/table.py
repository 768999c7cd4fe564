"""Aligned tables for reading."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from cli.render.cells import MISSING, Least, TextColumn, text_columns
from warehouse.wording import counted

if TYPE_CHECKING:
    from rich.text import Text

GAP = "  "
MOST_LINES = 60  # of a table on a terminal
SENTENCE = 40  # characters; what is longer and has a space in it is no name
PROSE = 24  # columns on the screen that a sentence needs
_SHORT = {"rank": "#", "epsilon": "ε"}  # headings
_INTERVAL = re.compile(r"(?<=\d) \[[^][]*\]")
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def table_text(frame: pl.DataFrame, digits: int | Mapping[str, int], least: Least | None = None) -> str:
    """A header, a rule and one line per row, as plain text; numbers are right-aligned.

    Cells are padded up to the width of a name; after a sentence, the next cell of its row follows at once.
    """
    columns = text_columns(frame, digits, least)
    return "".join(f"{line}\n" for line in _lines(columns)) if columns else ""


def fitted_text(
    frame: pl.DataFrame,
    digits: int | Mapping[str, int],
    width: int,
    *,
    least: Least | None = None,
    dressed: "Mapping[str, Sequence[Text]] | None" = None,
    every_row: bool = False,
    n_beside: int = 0,
    important: Sequence[str] = (),
) -> str:
    """The table on a terminal of this width: constant columns become a line above it, and it has one screen of rows.

    Sentences are wrapped, names never are; columns that do not fit are dropped from the right, the important ones last,
    and counted below. Intervals behind values give way before an important column does.
    dressed: by column, the same cells with styles, shown unless NO_COLOR is set.
    every_row: all rows.
    n_beside: lines above or below it on the same screen.
    """
    styles = {} if "NO_COLOR" in os.environ else dressed or {}
    columns = [replace(one, name=_SHORT.get(one.name, one.name)) for one in text_columns(frame, digits, least)]
    if not columns:
        return ""
    if len(columns[0].cells) == 1 and not styles and _fitting(columns, width)[1]:
        columns = _upright(columns)
    above, columns = _constant(columns, width, styles)
    wanted = [_SHORT.get(name, name) for name in important]
    n_rows = len(columns[0].cells)
    most = MOST_LINES - n_beside
    n_shown = n_rows if every_row else min(n_rows, max(1, most))
    while True:
        there = [replace(one, cells=one.cells[:n_shown]) for one in columns]
        shown, dropped = _fitting(there, width, wanted)
        has_intervals = True
        if not set(wanted).isdisjoint(dropped) and (brief := list(map(_without_intervals, there))) != there:
            (shown, dropped), has_intervals = _fitting(brief, width, wanted), False
        hidden = below(n_rows - n_shown, dropped, width, has_intervals=has_intervals)
        lines = [*above, *_table(shown, width, styles), *hidden]
        if every_row or len(lines) <= most or n_shown <= 1:
            return "".join(f"{line}\n" for line in lines)
        n_shown -= max(1, (len(lines) - most) * n_shown // len(lines))


def _upright(columns: list[TextColumn]) -> list[TextColumn]:
    """A table of one row as one line per column; missing values get no line."""
    there = [one for one in columns if one.cells[0] not in (MISSING, "")]
    names, values = [one.name for one in there], [one.cells[0] for one in there]
    return [TextColumn("column", names, False), TextColumn("value", values, False)]


def _constant(
    columns: list[TextColumn], width: int, styles: Mapping[str, object]
) -> tuple[list[str], list[TextColumn]]:
    """Columns with one value in all rows, as lines, and the other columns; all columns if there is no second row."""
    if len(columns[0].cells) < 2:
        return [], columns
    constant = [one for one in columns[1:] if len(set(one.cells)) == 1 and one.name not in styles]
    constant += [one for one in columns[:1] if len(set(one.cells)) == 1 and len(constant) < len(columns) - 1]
    said = [f"{one.name} {one.cells[0]}" for one in columns if one in constant and one.cells[0] not in (MISSING, "")]
    lines: list[str] = []
    for one in said:
        if lines and len(lines[-1]) + len(one) + 2 <= width:
            lines[-1] += f", {one}"
        else:
            lines.append(one if len(one) <= width else one[: width - 1] + "…")
    return lines, [one for one in columns if one not in constant]


def _without_intervals(column: TextColumn) -> TextColumn:
    """The column with its values alone."""
    return replace(column, cells=[_INTERVAL.sub("", cell) for cell in column.cells])


def _is_prose(column: TextColumn) -> bool:
    return not column.is_number and any(" " in cell and len(cell) > SENTENCE for cell in column.cells)


def _least_width(column: TextColumn) -> int:
    """The least width that a column needs on the screen: its widest cell, or a few words of sentences."""
    widest = max(map(cell_width, [column.name, *column.cells]))
    if not _is_prose(column):
        return widest
    words = max((cell_width(word) for cell in column.cells for word in cell.split()), default=0)
    return min(widest, max(PROSE, min(words, 2 * PROSE), cell_width(column.name)))


def _fitting(
    columns: list[TextColumn], width: int, important: Sequence[str] = ()
) -> tuple[list[TextColumn], list[str]]:
    """The columns that fit a terminal of this width, at least one, and the names of the others.

    Columns on the right are dropped first, and important ones only if no other is left.
    """
    kept = list(columns)
    while len(kept) > 1 and sum(map(_least_width, kept)) + len(GAP) * (len(kept) - 1) > width:
        others = [one for one in kept[1:] if one.name not in important]
        kept.remove(others[-1] if others else kept[-1])
    return kept, [one.name for one in columns if one not in kept]


def fitting_names(frame: pl.DataFrame, digits: int, width: int) -> list[str]:
    """The names of the columns of a frame that fit a terminal of this width."""
    return [one.name for one in _fitting(text_columns(frame, digits), width)[0]]


def below(n_rows: int, dropped: list[str], width: int, *, has_intervals: bool = True) -> list[str]:
    """The line on rows, columns and intervals that are not shown, and how to see them; none if all are shown."""
    said = [f"{counted(n_rows, 'more row')}: --all"] if n_rows else []
    said += [] if has_intervals else ["intervals: --format csv"]
    said += [f"{counted(len(dropped), 'more column')} ({', '.join(dropped)}): --format csv"] if dropped else []
    line = f"… {'; '.join(said)}"
    if len(line) > width and dropped:
        line = line.replace(f" ({', '.join(dropped)})", "")
    return [line] if said else []


def _table(columns: list[TextColumn], width: int, styles: "Mapping[str, Sequence[Text]]") -> list[str]:
    widths = [max(map(cell_width, [column.name, *column.cells])) for column in columns]
    if any(one.name in styles for one in columns) or sum(widths) + len(GAP) * (len(widths) - 1) > width:
        return _folded(columns, width, styles)
    header, *rest = _lines(columns)
    return [header if "NO_COLOR" in os.environ else f"{BOLD}{header}{PLAIN}", *rest]


def _lines(columns: list[TextColumn]) -> list[str]:
    widths = [_padded_width(column) for column in columns]
    rows = zip(*map(_padded, columns, widths), strict=True)
    header, *lines = [GAP.join(cells).rstrip() for cells in rows]
    return [header, GAP.join("─" * n for n in widths), *lines]


def _padded(column: TextColumn, width: int) -> list[str]:
    """The column's name and its cells, each with space up to a width."""
    texts = {}
    for cell in dict.fromkeys([column.name, *column.cells]):
        space = " " * (width - cell_width(cell))
        texts[cell] = space + cell if column.is_number else cell + space
    return [texts[column.name], *(texts[cell] for cell in column.cells)]


def _padded_width(column: TextColumn) -> int:
    """The least width of a column's cells on the screen: that of the widest cell, or if that is a sentence, of the
    widest cell that is not.
    """
    every = [cell_width(column.name), *map(cell_width, dict.fromkeys(column.cells))]
    return max(every) if max(every) <= SENTENCE else max((one for one in every if one <= SENTENCE), default=SENTENCE)


def cell_width(text: str) -> int:
    """Width on the screen: Chinese and Japanese characters take two columns."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _folded(columns: list[TextColumn], width: int, dressed: "Mapping[str, Sequence[Text]]") -> list[str]:
    """The lines of a table no wider than the terminal: sentences are wrapped, other cells stay whole."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    style = "" if "NO_COLOR" in os.environ else "bold"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), header_style=style)
    prose = [one for one in columns if _is_prose(one) or one.name in dressed or len(columns) == 1]
    room = width - sum(_least_width(one) for one in columns if one not in prose) - len(GAP) * (len(columns) - 1)
    wanted = [max(map(cell_width, [one.name, *one.cells])) for one in prose]
    while sum(wanted) > room and max(wanted, default=0) > 1:
        wanted[wanted.index(max(wanted))] -= 1
    for column in columns:
        n = wanted[prose.index(column)] if column in prose else _least_width(column)
        justify: Any = "right" if column.is_number else "left"
        fold: Any = "fold" if column in prose else "ellipsis"
        table.add_column(Text(column.name), justify=justify, no_wrap=column not in prose, overflow=fold, width=n)
    n_rows = len(columns[0].cells)
    shown = ((dressed.get(one.name) or [Text(cell) for cell in one.cells])[:n_rows] for one in columns)
    for cells in zip(*shown, strict=True):
        table.add_row(*cells)
    # Rich takes 80 columns for a dumb terminal, and shortens cells to these, unless it is told both dimensions.
    console = Console(width=width, height=MOST_LINES, highlight=False)
    with console.capture() as captured:
        console.print(table, crop=False)  # which would lose the ends of lines where Rich makes the table too wide
    return [line.rstrip() for line in captured.get().splitlines()]
