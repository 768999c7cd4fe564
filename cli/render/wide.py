"""Wide rankings for reading: the best of each column bold, clusters as superscripts."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cli.render.cells import MISSING, number_text, one_line
from cli.render.formats import Format
from cli.render.latex import escaped as in_latex
from cli.render.markdown import escaped as in_markdown
from cli.render.table import BOLD, GAP, PLAIN, cell_width

if TYPE_CHECKING:
    from metaeval.wide import Wide

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def wide_texts(found: "Wide", digits: int, *, is_terminal: bool) -> Mapping[Format, str]:
    """The table in each format for reading.

    is_terminal: escapes may make the best of each column bold; elsewhere it has a star before it.
    """
    return {
        Format.TABLE: _table(found, digits, has_bold=is_terminal and "NO_COLOR" not in os.environ),
        Format.MARKDOWN: _markdown(found, digits),
        Format.LATEX: _latex(found, digits),
    }


def _number(found: "Wide", row: int, column: int, digits: int) -> str:
    return number_text(float(found.values[row, column]), digits)


def _table(found: "Wide", digits: int, *, has_bold: bool) -> str:
    rows = [["metric", *map(one_line, found.names)]]
    for place, name in enumerate(found.metrics):
        cells = [one_line(name)]
        for column in range(len(found.columns)):
            cluster = int(found.clusters[place, column])
            mark = str(cluster).translate(_SUPERSCRIPTS) if cluster else ""
            star = "*" if found.best[place, column] and not has_bold else ""
            widest = max(map(len, (str(number) for number in found.clusters[:, column] if number)), default=0)
            cells.append(f"{star}{_number(found, place, column, digits)}{mark}{' ' * (widest - len(mark))}")
        rows.append(cells)
    widths = [max(cell_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        shown = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_width(cell))
            text = cell + space if column == 0 else space + cell
            is_bold = has_bold and (number == 0 or (column > 0 and bool(found.best[number - 1, column - 1])))
            shown.append(f"{BOLD}{text}{PLAIN}" if is_bold else text)
        lines.append(GAP.join(shown).rstrip())
        if number == 0:
            lines.append(GAP.join("─" * width for width in widths))
    return "".join(f"{line}\n" for line in lines)


def _markdown(found: "Wide", digits: int) -> str:
    lines = [["metric", *map(in_markdown, map(one_line, found.names))], ["---", *["---:"] * len(found.columns)]]
    for place, name in enumerate(found.metrics):
        cells = [in_markdown(one_line(name))]
        for column in range(len(found.columns)):
            text = _number(found, place, column, digits)
            text = f"**{text}**" if found.best[place, column] else text
            cluster = int(found.clusters[place, column])
            cells.append(f"{text}<sup>{cluster}</sup>" if cluster else text)
        lines.append(cells)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _latex(found: "Wide", digits: int) -> str:
    header = [["metric", *map(in_latex, map(one_line, found.columns))]]
    rules = []
    if any(found.groups):
        spans = _spans(found.groups)
        header.insert(0, ["", *(rf"\multicolumn{{{n}}}{{c}}{{{in_latex(one_line(name))}}}" for name, _, n in spans)])
        rules = ["".join(rf"\cmidrule(lr){{{first}-{first + n - 1}}}" for _, first, n in spans)]
    rows = []
    for place, name in enumerate(found.metrics):
        cells = [in_latex(one_line(name))]
        for column in range(len(found.columns)):
            text = _number(found, place, column, digits)
            text = "--" if text == MISSING else f"$-${text[1:]}" if text.startswith("-") else text
            text = rf"\textbf{{{text}}}" if found.best[place, column] else text
            cells.append(text if text == "--" else text + _raised(found, place, column))
        rows.append(cells)
    lines = [rf"\begin{{tabular}}{{l{'r' * len(found.columns)}}}", r"\toprule"]
    first, *others = [" & ".join(cells) + r" \\" for cells in header]
    lines += [first, *rules, *others, r"\midrule", *(" & ".join(cells) + r" \\" for cells in rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _raised(found: "Wide", row: int, column: int) -> str:
    """The number of a cluster as an exponent, as wide as the widest of its column, which keeps values in line."""
    widest = max((len(str(number)) for number in found.clusters[:, column] if number), default=0)
    cluster = str(found.clusters[row, column] or "")
    missing = widest - len(cluster)
    space = rf"\phantom{{{'0' * missing}}}" if missing else ""
    return f"$^{{{cluster}{space}}}$" if widest else ""


def _spans(groups: tuple[str, ...]) -> list[tuple[str, int, int]]:
    """Each run of equal headings with its first column in the table, from 2, and its length."""
    found: list[tuple[str, int, int]] = []
    for column, name in enumerate(groups, start=2):
        if found and found[-1][0] == name:
            found[-1] = (name, found[-1][1], found[-1][2] + 1)
        else:
            found.append((name, column, 1))
    return found
