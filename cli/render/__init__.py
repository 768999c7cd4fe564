"""Results as text or files: data go to stdout or to the file of `-o`, everything else to stderr.

Tables, Markdown and LaTeX are for reading: numbers are rounded. CSV, TSV, JSON, JSON lines and Parquet are for
programs: full precision, NaN is missing (null in JSON, nothing in CSV).
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from cli.exit_codes import UsageError
from cli.hints import in_flags
from cli.render import output
from cli.render.brief import brief
from cli.render.cells import DIGITS, one_line
from cli.render.output import Format, format_for, is_for_reading

if TYPE_CHECKING:
    import polars as pl
    from rich.text import Text

__all__ = ["DIGITS", "Format", "format_for", "is_for_reading", "note", "note_rows", "render"]


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
    short: str | None = None,
    verbose: bool = False,
    every_row: bool = False,
    lead: Sequence[str] = (),
    below: Sequence[str] = (),
    first: Sequence[str] = (),
    summary: str = "",
    important: Sequence[str] = (),
    is_paged: bool = False,
) -> None:
    """Write a frame to stdout, or to the file `out`, whole or not at all.

    title, signature, notes: lines for stderr, the title before the data, the others after; `quiet` drops them.
    digits: decimals of rounded floats, for all columns or by column.
    least: by column, the limit below which each row's 0 lies, for rounded numbers: `<0.001` instead of 0.0000.
    json_shape: nested lists and mappings to write for json and jsonl instead of the frame's rows.
    page: text to write instead of an aligned table, or instead of the frame in each of these formats. safe_cells: csv
        and tsv contain no formulas. dressed: by column, its cells with styles for a terminal.
    short: the signature for a terminal, which has few short lines unless `verbose`. every_row: a terminal shows all
    rows.
    summary: the answer in a sentence, written before tables for reading.
    important: columns that a narrow terminal drops last.
    is_paged: output for reading that is longer than the terminal goes through a pager.
    first: notes written before the data: above the table on a terminal, else to stderr.
    lead: the notes that are the answer: on a terminal they are written above its table. below: lines of a legend, on a
        terminal only.
    Raises UsageError: unknown format, a missing folder for `out`, Parquet to a terminal. OSError: the file can't
        be written.
    """
    from warehouse.database.frames import spelt_frame

    kind = format_for(format, out)
    summary = "" if quiet else summary
    frame = spelt_frame(frame, in_flags)
    if title is not None:
        note(title, quiet=quiet)
    above_table = kind is Format.TABLE and output.terminal_width(out) is not None
    above_table = above_table and not (page and kind in ({Format.TABLE: page} if isinstance(page, str) else page))
    notes = [one for one in notes if one not in first]
    for line in () if above_table else first:
        note(line, quiet=quiet)
    lead = (*first, *lead) if above_table else lead
    if json_shape is not None and kind in (Format.JSON, Format.JSONL):
        output.write(in_flags(_json_text(json_shape, kind)), out)
    elif kind in (pages := {Format.TABLE: page} if isinstance(page, str) else page or {}):
        text = in_flags(_opening(summary, kind, output.terminal_width(out)) + pages[kind])
        output.write_paged(text, out, is_paged=is_paged)
    else:
        width = output.terminal_width(out) if kind is Format.TABLE else None
        opening = _opening(summary, kind, width)
        above, legend = (_wrapped(lines, width) if width is not None else [] for lines in (lead, below))
        n_beside = len(above) + len(legend) + opening.count("\n")
        content = _content(frame, kind, digits, least, out, safe_cells, dressed, every_row, n_beside, important)
        if isinstance(content, str):
            content = "".join([opening, *(f"{line}\n" for line in above), content, *(f"{line}\n" for line in legend)])
        if isinstance(content, str) and content:
            output.write_paged(content, out, is_paged=is_paged and is_for_reading(kind))
        elif content:
            output.write(content, out)
    if lead and output.terminal_width(out) is not None and kind is Format.TABLE:
        notes = [one for one in notes if one not in lead]
    lines = [signature] if isinstance(signature, str) else list(signature)
    if (width := output.notes_width()) is None or verbose:
        lines += notes
    else:
        short = short if short is not None else next(iter(lines), "")
        lines = brief(notes, short, width, (title is not None) + output.is_file(out))
    for line in lines:
        note(line, quiet=quiet)
    note_rows(frame.height, out, quiet=quiet)


def note_rows(n_rows: int, out: Path | None, *, quiet: bool = False) -> None:
    """Say how many rows are in the file, if they went to one."""
    if output.is_file(out):
        note(f"wrote {n_rows} {'row' if n_rows == 1 else 'rows'} to {out}", quiet=quiet)


def note(line: str, *, quiet: bool = False) -> None:
    """Write a one-line note to stderr."""
    if not quiet:
        output.write_note(in_flags(line))


def _opening(summary: str, kind: Format, width: int | None) -> str:
    """The summary as the first lines of a table, a paragraph of Markdown, or a comment of LaTeX."""
    if not summary or not is_for_reading(kind):
        return ""
    match kind:
        case Format.MARKDOWN:
            from cli.render.markdown import escaped

            return f"{escaped(one_line(in_flags(summary)))}\n\n"
        case Format.LATEX:
            return f"% {one_line(in_flags(summary))}\n"
    lines = [one_line(in_flags(summary))] if width is None else _wrapped([summary], width)
    return "".join(f"{line}\n" for line in lines)


def _wrapped(lines: Sequence[str], width: int) -> list[str]:
    return [part for line in lines for part in wrap(in_flags(line), width)]


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
    every_row: bool,
    n_beside: int,
    important: Sequence[str],
) -> str | bytes:
    from cli.render import delimited, latex, markdown, table

    match kind:
        case Format.TABLE:
            width = output.terminal_width(out)
            if width is None:
                return table.table_text(frame, digits, least)
            how: dict[str, Any] = {"every_row": every_row, "n_beside": n_beside, "important": important}
            return table.fitted_text(frame, digits, width, least=least, dressed=dressed, **how)
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
            return _parquet_bytes(frame)


def _parquet_bytes(frame: "pl.DataFrame") -> bytes:
    """The frame as a Parquet file; NaN is written as missing, as in the other formats for programs."""
    import polars as pl

    columns = [series.fill_nan(None) if series.dtype.is_float() else series for series in frame.iter_columns()]
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
