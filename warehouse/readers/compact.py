"""Frames in little room: texts as codes of a list of what occurs, whole numbers as small as they may be.

Rows of score files repeat their names again and again: as texts a row takes about 190 bytes, so some 30.
"""

from collections.abc import Mapping, Sequence

import polars as pl

_SIZES = ("Int8", "Int16", "Int32", "Int64")  # what whole numbers shrink to


def compact(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with codes instead of texts; columns without any value have no type. `plain` gives it back."""
    return frame.select(_small(column) if column.null_count() < frame.height else _none(column) for column in frame)


def plain(frame: pl.DataFrame, types: Mapping[str, pl.DataType | type[pl.DataType]]) -> pl.DataFrame:
    """The frame as it was before; types: those of its columns then."""
    return frame.select(_plain(column, types[column.name]) for column in frame)


def joined(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Compact frames of the same columns, one below the other; their rows are not moved in the memory."""
    first, *others = frames
    if not others:
        return first
    types = {name: _common([frame[name].dtype for frame in frames]) for name in first.columns}
    alike = [frame.select(pl.col(name).cast(kind) for name, kind in types.items()) for frame in frames]
    return pl.concat(alike, rechunk=False)


def _common(types: Sequence[pl.DataType]) -> pl.DataType:
    """The type that holds what some columns hold."""
    there = [kind for kind in types if kind != pl.Null]
    if not there:
        return pl.Null()
    if all(isinstance(kind, pl.Enum) for kind in there):
        lists = [kind.categories.to_list() for kind in there if isinstance(kind, pl.Enum)]
        return pl.Enum(list(dict.fromkeys(name for names in lists for name in names)))
    return max(there, key=lambda kind: _SIZES.index(str(kind))) if there[0].is_integer() else there[0]


def _small(column: pl.Series) -> pl.Series:
    if column.dtype == pl.String:
        if not column.null_count() and (column == column[0]).all():  # the most frequent case, and much faster
            return column.head(1).cast(pl.Enum([column[0]])).new_from_index(0, len(column))
        return column.cast(pl.Enum(column.unique(maintain_order=True).drop_nulls()))
    return column.shrink_dtype() if column.dtype.is_integer() else column


def _none(column: pl.Series) -> pl.Series:
    return pl.Series(column.name, [None], dtype=pl.Null).new_from_index(0, len(column))


def _plain(column: pl.Series, kind: pl.DataType | type[pl.DataType]) -> pl.Series:
    dtype = column.dtype
    if isinstance(dtype, pl.Enum) and len(dtype.categories) == 1 and not column.null_count() and len(column):
        return column.head(1).cast(kind).new_from_index(0, len(column))
    return column.cast(kind)
