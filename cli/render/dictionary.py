"""The data dictionary as a page to read."""

import textwrap

import polars as pl

from cli.render.cells import one_line

WIDTH = 100
_INDENT = 2


def dictionary_text(frame: pl.DataFrame) -> str:
    """A paragraph for each view, macro and table, a line or more for each of its columns; none longer than WIDTH.

    frame: as `queries.listing.dictionary` gives it.
    """
    parts: list[str] = []
    columns = frame.filter(frame["column"].is_not_null())
    names = max((len(name) for name in columns["column"]), default=0)
    kinds = max((len(kind) for kind in columns["type"]), default=0)
    for row in frame.iter_rows(named=True):
        row = {name: None if text is None else one_line(text) for name, text in row.items()}
        if row["column"] is None:
            parts += ["" for _ in parts[:1]]
            parts += _wrapped(f"{row['kind']} {row['name']}", " " * _INDENT)
            parts += _wrapped(row["meaning"], " " * _INDENT, first=" " * _INDENT)
        else:
            first = f"{' ' * _INDENT}{row['column']:<{names}}  {row['type']:<{kinds}}  "
            parts += _wrapped(row["meaning"], " " * len(first), first=first)
    return "".join(f"{line}\n" for line in parts)


def _wrapped(text: str, indent: str, *, first: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=indent)
