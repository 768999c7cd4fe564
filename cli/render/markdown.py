"""Pipe tables of Markdown."""

from collections.abc import Mapping

import polars as pl

from cli.render.cells import Least, text_columns


def markdown_text(frame: pl.DataFrame, digits: int | Mapping[str, int], least: Least | None = None) -> str:
    """A table as GitHub and Pandoc read it, numbers rounded and right-aligned."""
    columns = text_columns(frame, digits, least)
    if not columns:
        return ""
    header = [escaped(column.name) for column in columns]
    rule = ["---:" if column.is_number else "---" for column in columns]
    rows = zip(*(map(escaped, column.cells) for column in columns), strict=True)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, rule, *rows))


def escaped(text: str) -> str:
    """Text with Markdown's special characters escaped.

    >>> print(escaped("a|b_c* <d>"))
    a\\|b\\_c\\* &lt;d>
    """
    for sign in "\\|_*`[]":
        text = text.replace(sign, "\\" + sign)
    return text.replace("<", "&lt;")
