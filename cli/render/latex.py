"""LaTeX tables with the rules of booktabs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cli.render.cells import MISSING, Least, text_columns

if TYPE_CHECKING:
    import polars as pl

SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"}
SIGNS |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
SIGNS |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"}
SIGNS |= {"[": "{[}", "]": "{]}"}  # a row that begins with [ would be an argument of the line before
SIGNS |= {"ε": r"$\varepsilon$", "τ": r"$\tau$", "ρ": r"$\rho$", "≤": r"$\leq$", "≥": r"$\geq$", "±": r"$\pm$"}
"""Replacements for characters that are special in LaTeX or missing from its fonts."""
_ESCAPES = str.maketrans(SIGNS)


def latex_text(frame: "pl.DataFrame", digits: int | Mapping[str, int], least: Least | None = None) -> str:
    """A tabular for a document that loads the package booktabs; numbers rounded and right-aligned."""
    columns = text_columns(frame, digits, least)
    if not columns:
        return ""
    places = "".join("r" if column.is_number else "l" for column in columns)
    header = _row([escaped(column.name) for column in columns])
    texts = ([(_number if column.is_number else _text)(cell) for cell in column.cells] for column in columns)
    rows = [_row(list(cells)) for cells in zip(*texts, strict=True)]
    lines = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", header, r"\midrule", *rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _text(cell: str) -> str:
    return "--" if cell == MISSING else escaped(cell)


def _number(cell: str) -> str:
    """A number with a minus sign and not a hyphen.

    >>> print(_number("-0.5"), _number("1.0e-07"), _number("<0.001"), _number("-"))
    $-0.5$ $1.0\\times 10^{-7}$ $<0.001$ --
    """
    if cell == MISSING:
        return "--"
    head, _, power = cell.partition("e")
    if power:
        return rf"${head}\times 10^{{{int(power)}}}$"
    return f"${cell}$" if cell.startswith(("-", "<")) else cell


def escaped(text: str) -> str:
    """Text with LaTeX's special characters escaped.

    >>> print(escaped("n_systems & 50% {x}"))
    n\\_systems \\& 50\\% \\{x\\}
    """
    return text.translate(_ESCAPES)
