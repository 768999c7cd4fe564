"""Delimited text as a frame of strings, and strings as numbers; each line that does not fit is a fault."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import Fault

if TYPE_CHECKING:
    import polars as pl

MISSING = ("None", "NaN", "nan", "NA", "null", "")
_MARK = b"\xef\xbb\xbf"
_MOST_FAULTS = 20


def text_of(data: bytes, path: Path) -> tuple[str, list[Fault]]:
    """Text in UTF-8, its lines ended by line feeds alone; a mark before it and Windows line ends are taken away."""
    if not data:
        return "", [Fault(str(path), 0, "the file is empty", "scores")]
    if (position := data.find(b"\0")) >= 0:
        return "", [Fault(str(path), data.count(b"\n", 0, position) + 1, "a NUL byte", "text in UTF-8")]
    try:
        text = data.removeprefix(_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return "", [Fault(str(path), line, f"bytes that are not UTF-8 ({error.reason})", "text in UTF-8")]
    text = text.replace("\r\n", "\n")
    if (position := text.find("\r")) >= 0:
        line = text.count("\n", 0, position) + 1
        return "", [Fault(str(path), line, "a carriage return inside a line", "lines that end in a line feed")]
    return text, []


def table_of(
    text: str, columns: Sequence[str], separator: str, path: Path, *, n_header: int = 0, may_trail: bool = False
) -> "tuple[pl.DataFrame, list[Fault]]":
    """Lines cut at the separator, without quoting: strings under `columns`, and `line`, from 1.

    n_header: lines to pass over at the top. may_trail: one separator may stand at a line's end (taken away).
    Lines with another number of columns, and blank ones, are faults and have no row.
    """
    import polars as pl

    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    frame = pl.DataFrame({"text": lines[n_header:]}, schema={"text": pl.String}).with_row_index("line", n_header + 1)
    if may_trail:
        frame = frame.with_columns(pl.col("text").str.strip_suffix(separator))
    n_found = pl.col("text").str.count_matches(separator, literal=True) + 1
    wrong = frame.filter(n_found != len(columns)).with_columns(n_found.alias("n"))
    expected = f"{len(columns)}: {' '.join(columns)}"
    faults = [
        Fault(str(path), line, "a blank line" if not line_text.strip() else f"{n} columns", expected)
        for line, line_text, n in wrong.head(_MOST_FAULTS).iter_rows()
    ]
    if wrong.height > _MOST_FAULTS:
        faults.append(Fault(str(path), 0, f"{wrong.height - _MOST_FAULTS} more such lines", expected))
    cells = pl.col("text").str.splitn(separator, len(columns)).struct.rename_fields(list(columns))
    table = frame.filter(n_found == len(columns)).select(pl.col("line").cast(pl.Int64), cells).unnest("text")
    return table, faults


def numbers(table: "pl.DataFrame", column: str, path: Path) -> "tuple[pl.DataFrame, list[Fault]]":
    """The table with a column as floats: the words for missing values are null, what is no finite number is a fault.

    table: with `line`. Rows of faults are left out.
    """
    import polars as pl

    is_missing = pl.col(column).is_null() | pl.col(column).is_in(MISSING)
    value = pl.col(column).cast(pl.Float64, strict=False)
    is_odd = pl.col(column).str.contains(r"[^0-9eE.+-]")
    is_wrong = ~is_missing & (value.is_null() | ~value.is_finite() | is_odd)
    wrong = table.filter(is_wrong)
    expected = "a finite number, or None where missing"
    faults = [
        Fault(str(path), line, f"{column} {text!r}", expected)
        for line, text in wrong.select("line", column).head(_MOST_FAULTS).iter_rows()
    ]
    if wrong.height > _MOST_FAULTS:
        faults.append(Fault(str(path), 0, f"{wrong.height - _MOST_FAULTS} more such lines", expected))
    kept = table.filter(~is_wrong).with_columns(pl.when(is_missing).then(None).otherwise(value).alias(column))
    return kept, faults


def whole_numbers(table: "pl.DataFrame", column: str, path: Path) -> "tuple[pl.DataFrame, list[Fault]]":
    """The table with a column as whole numbers; rows with something else are faults and left out."""
    import polars as pl

    value = pl.col(column).cast(pl.Int64, strict=False)
    is_wrong = value.is_null() | ~pl.col(column).str.contains(r"^-?[0-9]+$")
    wrong = table.filter(is_wrong)
    faults = [
        Fault(str(path), line, f"{column} {text!r}", "a whole number")
        for line, text in wrong.select("line", column).head(_MOST_FAULTS).iter_rows()
    ]
    if wrong.height > _MOST_FAULTS:
        faults.append(Fault(str(path), 0, f"{wrong.height - _MOST_FAULTS} more such lines", "a whole number"))
    return table.filter(~is_wrong).with_columns(value), faults
