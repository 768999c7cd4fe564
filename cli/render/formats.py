"""Formats of results, and the one that a file's ending stands for."""

from enum import StrEnum
from pathlib import Path

from cli.exit_codes import UsageError


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
