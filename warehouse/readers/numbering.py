"""What the numbers of segments count within: the document or the test set.

A reader states it: rows have `index` (within the document) or `segment` (within the test set). What contradicts it is
refused, and the user says which it is; numbers of two segments are never taken for one.
"""

from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.claims import Numbering
from warehouse.wording import option

_EVALSET = ("testset", "lp")
_BY_DOCUMENT = f"load it with {option('numbering', 'document')} if they count within the document"
_EITHER = (
    f"load it with {option('numbering', 'testset')}, or with {option('numbering', 'document')} if they do count within "
    "the document"
)


def numbered(rows: pl.DataFrame, numbering: Numbering | None) -> pl.DataFrame:
    """Rows whose segments are numbered as the user says, instead of as the reader took them."""
    if numbering is None or rows.is_empty():
        return rows
    is_by_document = pl.col("document").is_not_null() & (pl.col("index").is_null() != pl.col("segment").is_null())
    number = pl.coalesce("index", "segment")
    is_changed = is_by_document & pl.col("index" if numbering == "testset" else "segment").is_not_null()
    empty = pl.lit(None, pl.Int64)
    places = {"index": number, "segment": empty} if numbering == "document" else {"index": empty, "segment": number}
    return rows.with_columns(
        pl.when(is_changed).then(place).otherwise(pl.col(name)).alias(name) for name, place in places.items()
    )


def numbering_faults(rows: pl.DataFrame, path: Path, numbering: Numbering | None) -> list[Fault]:
    """Where numbers contradict what they are taken to count within. numbering: what the user says it is."""
    rows = rows.filter(pl.col("document").is_not_null())
    if "status" in rows.columns:
        rows = rows.filter(pl.col("status") == "valid")
    rows = rows.select("line", *_EVALSET, "document", "segment", "index")
    return _several_documents(rows, path) or (_without_restart(rows, path) if numbering is None else [])


def _several_documents(rows: pl.DataFrame, path: Path) -> list[Fault]:
    """One number of the test set in two documents of a file."""
    segments = rows.filter(pl.col("segment").is_not_null())
    several = segments.group_by(*_EVALSET, "segment").agg(
        pl.col("line").min(), pl.col("document").unique().sort(), n=pl.col("document").n_unique()
    )
    several = several.filter(pl.col("n") > 1).sort("line")
    if several.is_empty():
        return []
    first = several.row(0, named=True)
    found = f"segment {first['segment']} of document {first['document'][0]!r} and of {first['document'][1]!r}"
    more = "" if several.height == 1 else f", and {several.height - 1} more such segments"
    return [Fault(str(path), first["line"] or 0, found + more, "numbers that count within the test set", _BY_DOCUMENT)]


def _without_restart(rows: pl.DataFrame, path: Path) -> list[Fault]:
    """Numbers within three documents or more that no two of them share and that one of them alone begins with 1."""
    places = rows.filter(pl.col("index").is_not_null() & pl.col("segment").is_null())
    documents = places.group_by(*_EVALSET, "document").agg(
        pl.col("line").min(), least=pl.col("index").min(), n=pl.col("index").n_unique()
    )
    of_evalsets = places.group_by(_EVALSET).agg(n_numbers=pl.col("index").n_unique())
    per_evalset = documents.group_by(_EVALSET).agg(
        pl.len(),
        pl.col("n").sum(),
        pl.col("least").max(),
        pl.col("line", "document").sort_by("least").last(),
        n_begun=(pl.col("least") == 1).sum(),
    )
    wrong = per_evalset.join(of_evalsets, on=_EVALSET).filter(
        (pl.col("len") > 2) & (pl.col("n") == pl.col("n_numbers")) & (pl.col("n_begun") < 2)
    )
    expected = "numbers that begin anew in each document"
    return [
        Fault(str(path), line or 0, f"document {document!r} begins with segment {least}", expected, _EITHER)
        for line, document, least in wrong.sort("line").select("line", "document", "least").iter_rows()
    ]
