"""Comma- and tab-separated text, full precision."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from cli.render.cells import one_line

if TYPE_CHECKING:
    import polars as pl


FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last ones wide


def delimited_text(frame: "pl.DataFrame", separator: str) -> str:
    """A header line and one line per row; missing values and NaN are empty, an empty text is `""`.

    A float is the shortest text that reads back as the same double. Lists and structures are JSON.
    """
    import polars as pl

    columns = []
    for series in frame.iter_columns():
        if series.dtype.is_float():
            columns.append(series.fill_nan(None))
        elif _is_json(series):
            columns.append(_json_column(series))
        else:
            columns.append(series)
    # A row of one missing value would be a blank line, which readers leave out.
    return pl.DataFrame(columns).write_csv(separator=separator, null_value='""' if len(columns) == 1 else "")


def for_terminals(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The frame with texts that hold nothing a terminal would obey; line breaks are written out as `\\n`, too."""
    return _with_texts(frame, one_line)


def without_formulas(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The frame with ' before texts that a spreadsheet would take for formulas; numbers stay as they are."""
    return _with_texts(frame, without_formula)


def without_formula(text: str) -> str:
    """The text, with ' before it if a spreadsheet would take it for a formula.

    >>> without_formula("=1+1"), without_formula("BLEU")
    ("'=1+1", 'BLEU')
    """
    return f"'{text}" if text.startswith(FORMULAS) else text


def _with_texts(frame: "pl.DataFrame", changed: Callable[[str], str]) -> "pl.DataFrame":
    """The frame with column names and texts changed, including texts in lists and structures."""
    import polars as pl

    columns = {}
    for series in frame.iter_columns():
        texts = _json_column(series) if _is_json(series) else series
        if texts.dtype in (pl.String, pl.Categorical, pl.Enum):
            cells = [None if text is None else changed(text) for text in texts.cast(pl.String).to_list()]
            texts = pl.Series(series.name, cells, dtype=pl.String)
        columns[changed(series.name)] = texts
    return pl.DataFrame(columns)


def _is_json(series: "pl.Series") -> bool:
    import polars as pl

    return series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Duration, pl.Object)


def _json_column(series: "pl.Series") -> "pl.Series":
    import polars as pl

    from cli.render.json import compact, plain

    words = []
    for value in series.to_list():
        simple = plain(value)
        words.append(simple if simple is None or isinstance(simple, str) else compact(simple))
    return pl.Series(series.name, words, dtype=pl.String)
