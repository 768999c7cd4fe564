"""Results as text or files: data on stdout or in the file of `-o`, everything else on stderr.

Tables, Markdown and LaTeX are for reading: numbers are rounded. CSV, TSV, JSON, JSON lines and Parquet are for
programs: full precision, NaN is missing (null in JSON, nothing in CSV).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from cli.exit_codes import UsageError
from cli.render import output

if TYPE_CHECKING:
    import polars as pl
    from rich.text import Text

__all__ = ["DIGITS", "Format", "format_for", "is_for_reading", "note", "render"]

DIGITS = 4
"""Decimals of a number in a table unless the caller says otherwise."""


class Format(StrEnum):
    """How a result is written; the values are those of `--format`."""

    TABLE = "table"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    LATEX = "latex"
    PARQUET = "parquet"


_FORMAT_OF_ENDING = {
    ".txt": Format.TABLE,
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".tex": Format.LATEX,
    ".parquet": Format.PARQUET,
}


def is_for_reading(chosen: Format) -> bool:
    """Whether people read the format, so that numbers are rounded and a wide table may stand for a long one."""
    return chosen in (Format.TABLE, Format.MARKDOWN, Format.LATEX)


def format_for(chosen: str | None, out: Path | None) -> Format:
    """The selected format; where there is none, the one of the file's ending; a table where it has none.

    Raises UsageError: a format or an ending that there is not.
    >>> format_for(None, Path("ranking.TEX")), format_for("csv", Path("ranking.tex")), format_for(None, None)
    (<Format.LATEX: 'latex'>, <Format.CSV: 'csv'>, <Format.TABLE: 'table'>)
    """
    if chosen is None:
        ending = out.suffix.lower() if out is not None else ""
        if ending and ending not in _FORMAT_OF_ENDING:
            known = ", ".join(_FORMAT_OF_ENDING)
            raise UsageError(f"{str(out)!r}: no format ends in {ending}, expected one of {known}; or choose a --format")
        return _FORMAT_OF_ENDING.get(ending, Format.TABLE)
    try:
        return Format(chosen)
    except ValueError:
        raise UsageError(f"unknown format {chosen!r}, expected one of {', '.join(Format)}") from None


def render(
    frame: "pl.DataFrame",
    format: str | None = None,
    *,
    out: Path | None = None,
    title: str | None = None,
    signature: str | Sequence[str] = (),
    notes: Sequence[str] = (),
    digits: int | Mapping[str, int] = DIGITS,
    least: Mapping[str, Sequence[float]] | None = None,
    json_shape: object = None,
    page: str | Mapping[Format, str] | None = None,
    quiet: bool = False,
    safe_cells: bool = False,
    dressed: "Mapping[str, Sequence[Text]] | None" = None,
) -> None:
    """Write a frame to stdout, or to the file `out`, whole or not at all.

    title, signature, notes: lines for stderr, the title before the data, the others after; `quiet` drops them.
    digits: decimals of floats where numbers are rounded, for all columns or by column.
    least: by column, what a 0 of each row stands for where numbers are rounded: `<0.001` instead of 0.0000.
    json_shape: nested lists and mappings to write for json and jsonl instead of the frame's rows.
    page: text to write instead of an aligned table, or instead of the frame in each of these formats. safe_cells: csv
        and tsv hold nothing that is a formula. dressed: by column, its cells with styles for a terminal.
    Raises UsageError: unknown format, a missing folder for `out`, Parquet to a terminal. OSError: the file can't
        be written.
    """
    kind = format_for(format, out)
    if title is not None:
        note(title, quiet=quiet)
    if json_shape is not None and kind in (Format.JSON, Format.JSONL):
        output.write(_json_text(json_shape, kind), out)
    elif kind in (pages := {Format.TABLE: page} if isinstance(page, str) else page or {}):
        output.write(pages[kind], out)
    else:
        output.write(_content(frame, kind, digits, least, out, safe_cells, dressed), out)
    for line in [signature] if isinstance(signature, str) else signature:
        note(line, quiet=quiet)
    for line in notes:
        note(line, quiet=quiet)
    if output.is_file(out):
        note(f"wrote {frame.height} {'row' if frame.height == 1 else 'rows'} to {out}", quiet=quiet)


def note(line: str, *, quiet: bool = False) -> None:
    """One line for people, on stderr."""
    if not quiet:
        output.write_note(line)


def _json_text(value: object, kind: Format) -> str:
    from cli.render import json

    return json.json_text(value) if kind is Format.JSON else json.json_lines(value)


def _content(
    frame: "pl.DataFrame",
    kind: Format,
    digits: int | Mapping[str, int],
    least: Mapping[str, Sequence[float]] | None,
    out: Path | None,
    safe_cells: bool,
    dressed: "Mapping[str, Sequence[Text]] | None",
) -> str | bytes:
    from cli.render import delimited, latex, markdown, parquet, table

    match kind:
        case Format.TABLE:
            return table.table_text(frame, digits, width=output.terminal_width(out), least=least, dressed=dressed)
        case Format.CSV | Format.TSV:
            frame = delimited.without_formulas(frame) if safe_cells else frame
            frame = frame if output.terminal_width(out) is None else delimited.for_terminals(frame)
            return delimited.delimited_text(frame, "," if kind is Format.CSV else "\t")
        case Format.JSON | Format.JSONL:
            return _json_text(frame.rows(named=True), kind)
        case Format.MARKDOWN:
            return markdown.markdown_text(frame, digits, least)
        case Format.LATEX:
            return latex.latex_text(frame, digits, least)
        case Format.PARQUET:
            if output.terminal_width(out) is not None:
                raise UsageError("parquet is binary: give a file with -o, or pipe it")
            return parquet.parquet_bytes(frame)
