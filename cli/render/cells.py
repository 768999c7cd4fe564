"""Values as text for reading: rounded numbers, a sign for missing values, no control characters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

DIGITS = 4
"""Decimals of a number in a table unless the caller says otherwise."""
MISSING = "-"
LONGEST = 4000
"""Characters of a cell; other formats have all of them."""
Least = Mapping[str, Sequence[float]]
_ESCAPES = {number: f"\\x{number:02x}" for number in (*range(32), *range(127, 160))}
_ESCAPES |= {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
_ESCAPES |= {number: f"\\u{number:04x}" for number in (0x2028, 0x2029)}  # line and paragraph separator
_ESCAPES |= {number: f"\\u{number:04x}" for number in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}  # turn order


@dataclass(frozen=True)
class TextColumn:
    """A column of a table: its name, one text per row, and whether it holds numbers."""

    name: str
    cells: list[str]
    is_number: bool


def text_columns(
    frame: "pl.DataFrame", digits: int | Mapping[str, int], least: "Least | None" = None
) -> list[TextColumn]:
    """The columns of a frame as text.

    digits: decimals of floats, for all columns or by name. least: by name, the limit below which each row's 0 lies.
    """
    columns = []
    for series in frame.iter_columns():
        n_digits = digits_of(series.name, digits)
        values = series.to_list()
        if series.dtype.is_nested():
            cells = [value_text(value, n_digits) for value in values]
        else:  # long tables repeat their values
            texts = {value: value_text(value, n_digits) for value in dict.fromkeys(values)}
            cells = [texts[value] for value in values]
        for row, bound in enumerate((least or {}).get(series.name, ())):
            if values[row] == 0:
                cells[row] = f"<{bound:.2g}"
        columns.append(TextColumn(one_line(series.name), cells, series.dtype.is_numeric()))
    return columns


def digits_of(column: str, digits: int | Mapping[str, int]) -> int:
    """The decimals of a column. digits: for all columns or by name."""
    return digits if isinstance(digits, int) else digits.get(column, DIGITS)


def value_text(value: object, digits: int) -> str:
    """One value for reading.

    >>> [value_text(value, 3) for value in (0.12349, 3, True, None, "a\\nb", [1, None])]
    ['0.123', '3', 'yes', '-', 'a\\\\nb', '[1, null]']
    >>> value_text("x" * 5000, 3)[LONGEST - 2 :]
    'xx… (1,000 more characters)'
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number_text(value, digits)
    if isinstance(value, list | dict | bytes):
        from cli.render.json import compact

        return one_line(_cut(compact(value)))
    return one_line(_cut(str(value)))


def _cut(text: str) -> str:
    """A text cut to a readable length, as all cells of a column are as wide as the widest."""
    more = len(text) - LONGEST
    return text if more <= 0 else f"{text[:LONGEST]}… ({more:,} more characters)"


_TINY = 1e-5


def number_text(value: float, digits: int) -> str:
    """A number with this many decimals; with more if they would hide it; in powers of ten if it is tiny or huge.

    >>> [number_text(value, 3) for value in (2 / 3, -0.0, -0.00038, 1e-7, -25.2, 3e20, math.nan, math.inf)]
    ['0.667', '0.000', '-0.0004', '1.0e-07', '-25.200', '3.000e+20', '-', 'inf']
    """
    if math.isnan(value):
        return MISSING
    if value == 0:
        return f"{0:.{digits}f}"
    if abs(value) < 0.5 * 10.0**-digits:
        return f"{value:.1e}" if abs(value) < _TINY else f"{value:.{-math.floor(math.log10(abs(value)))}f}"
    if abs(value) >= 1e15:
        return f"{value:.{digits}e}"
    return f"{value:.{digits}f}"


def one_line(text: str) -> str:
    """Text without line breaks or control characters that a terminal would obey."""
    return text.translate(_ESCAPES)
