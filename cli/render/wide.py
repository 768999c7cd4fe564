"""Wide rankings for reading: the best of each column bold, clusters after the values, distinct from their digits."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cli.render.cells import MISSING, number_text, one_line
from cli.render.latex import escaped as in_latex
from cli.render.markdown import escaped as in_markdown
from cli.render.output import Format
from cli.render.table import BOLD, GAP, MOST_LINES, PLAIN, below, cell_width

if TYPE_CHECKING:
    from metaeval.studies.ranking.wide import Wide

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def wide_texts(wide: "Wide", digits: int, width: int | None, *, every_row: bool = False) -> Mapping[Format, str]:
    """The table in each format for reading.

    width: of the terminal, where escapes make the best of each column bold; None elsewhere, where a star marks it.
    every_row: a terminal shows all rows, not only the first screen.
    """
    return {
        Format.TABLE: _table(wide, digits, width, every_row),
        Format.MARKDOWN: _markdown(wide, digits),
        Format.LATEX: _latex(wide, digits),
    }


UNTESTED = "†"


def marks(clusters: Sequence[int | None], values: Sequence[float | None]) -> list[str]:
    """The mark after each value of a column: its cluster, raised and after a space, so that a copied value keeps its
    digits; a dagger if it was not tested while others have a cluster.

    >>> marks([1, None], [0.9, 0.8]), marks([None, 0], [0.9, 0.8])
    ([' ¹', ' †'], ['', ''])
    """
    if not any(clusters):
        return [""] * len(clusters)
    texts = [str(int(one)).translate(SUPERSCRIPTS) if one else UNTESTED for one in clusters]
    return ["" if value is None or value != value else f" {text}" for text, value in zip(texts, values, strict=True)]


def raised(values: Iterable[float], clusters: Iterable[int], digits: int) -> list[str]:
    """Numbers one below the other, each with its cluster raised, if it has one."""
    numbers = list(map(float, values))
    texts = [number_text(value, digits) for value in numbers]
    widest = max(map(len, texts), default=0)
    return [text.rjust(widest) + mark for text, mark in zip(texts, marks(list(clusters), numbers), strict=True)]


def _number(wide: "Wide", row: int, column: int, digits: int) -> str:
    return number_text(float(wide.values[row, column]), digits)


def _table(wide: "Wide", digits: int, width: int | None, every_row: bool) -> str:
    has_bold = width is not None and "NO_COLOR" not in os.environ
    has_groups = width is not None and any(wide.groups)
    headings = wide.columns if has_groups else wide.names
    rows = [["metric", *map(one_line, headings)]]
    behind = [
        marks(wide.clusters[:, column].tolist(), wide.values[:, column].tolist()) for column in range(len(wide.columns))
    ]
    for place, name in enumerate(wide.metrics):
        cells = [one_line(name)]
        for column in range(len(wide.columns)):
            star = "*" if wide.best[place, column] and not has_bold else ""
            mark = behind[column][place].ljust(max(map(len, behind[column])))
            cells.append(f"{star}{_number(wide, place, column, digits)}{mark}")
        rows.append(cells)
    widths = [max(cell_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    n_shown = len(widths)
    while width is not None and n_shown > 2 and sum(widths[:n_shown]) + len(GAP) * (n_shown - 1) > width:
        n_shown -= 1
    most = len(rows) if width is None or every_row else MOST_LINES - 6
    lines = _group_line(wide, widths[:n_shown]) if has_groups else []
    for number, row in enumerate(rows[:most]):
        shown = []
        for column, (cell, room) in enumerate(zip(row[:n_shown], widths, strict=False)):
            space = " " * (room - cell_width(cell))
            text = cell + space if column == 0 else space + cell
            is_bold = has_bold and (number == 0 or (column > 0 and bool(wide.best[number - 1, column - 1])))
            shown.append(f"{BOLD}{text}{PLAIN}" if is_bold else text)
        lines.append(GAP.join(shown).rstrip())
        if number == 0:
            lines.append(GAP.join("─" * room for room in widths[:n_shown]))
    lines += below(max(0, len(rows) - most), list(map(one_line, wide.names[n_shown - 1 :])), width or 0)
    return "".join(f"{line}\n" for line in lines)


def _group_line(wide: "Wide", widths: list[int]) -> list[str]:
    """The line of group headings above the column headings, cut to these widths."""
    line = " " * widths[0]
    for name, first, n in _spans(wide.groups):
        room = sum(widths[first - 1 : first - 1 + n]) + len(GAP) * (n - 1)
        if first <= len(widths):
            line += GAP + (name if len(name) <= room else name[: room - 1] + "…").ljust(room)
    return [line.rstrip()]


def _markdown(wide: "Wide", digits: int) -> str:
    lines = [["metric", *map(in_markdown, map(one_line, wide.names))], ["---", *["---:"] * len(wide.columns)]]
    for place, name in enumerate(wide.metrics):
        cells = [in_markdown(one_line(name))]
        for column in range(len(wide.columns)):
            text = _number(wide, place, column, digits)
            text = f"**{text}**" if wide.best[place, column] else text
            cluster = int(wide.clusters[place, column])
            cells.append(f"{text} ({cluster})" if cluster else text)
        lines.append(cells)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _latex(wide: "Wide", digits: int) -> str:
    header = [["metric", *map(in_latex, map(one_line, wide.columns))]]
    rules = []
    if any(wide.groups):
        spans = _spans(wide.groups)
        header.insert(0, ["", *(rf"\multicolumn{{{n}}}{{c}}{{{in_latex(one_line(name))}}}" for name, _, n in spans)])
        rules = ["".join(rf"\cmidrule(lr){{{first}-{first + n - 1}}}" for _, first, n in spans)]
    rows = []
    for place, name in enumerate(wide.metrics):
        cells = [in_latex(one_line(name))]
        for column in range(len(wide.columns)):
            text = _number(wide, place, column, digits)
            text = "--" if text == MISSING else f"$-${text[1:]}" if text.startswith("-") else text
            text = rf"\textbf{{{text}}}" if wide.best[place, column] else text
            cells.append(text if text == "--" else text + _in_brackets(wide, place, column))
        rows.append(cells)
    lines = [rf"\begin{{tabular}}{{l{'r' * len(wide.columns)}}}", r"\toprule"]
    first, *others = [" & ".join(cells) + r" \\" for cells in header]
    lines += [first, *rules, *others, r"\midrule", *(" & ".join(cells) + r" \\" for cells in rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _in_brackets(wide: "Wide", row: int, column: int) -> str:
    """A cluster in brackets, padded to the widest of its column, which keeps values aligned."""
    widest = max((len(str(number)) for number in wide.clusters[:, column] if number), default=0)
    cluster = str(wide.clusters[row, column] or "")
    if not widest:
        return ""
    if not cluster:
        return rf"\phantom{{ ({'0' * widest})}}"
    missing = widest - len(cluster)
    return f" ({cluster})" + (rf"\phantom{{{'0' * missing}}}" if missing else "")


def _spans(groups: tuple[str, ...]) -> list[tuple[str, int, int]]:
    """Each run of equal headings with its first column in the table, from 2, and its length."""
    found: list[tuple[str, int, int]] = []
    for column, name in enumerate(groups, start=2):
        if found and found[-1][0] == name:
            found[-1] = (name, found[-1][1], found[-1][2] + 1)
        else:
            found.append((name, column, 1))
    return found
