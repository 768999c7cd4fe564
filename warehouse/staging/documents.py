"""Documents of a file compared with the warehouse's: other spellings of names, and contradicting lines."""

from collections.abc import Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.errors import Fault
from warehouse.readers.contents import Content
from warehouse.wording import option

# The release of WMT23 calls a document news_aj-english.33941:en-de in annotations, and aj-english.33941 elsewhere.
_PREFIX, _SUFFIX = r"^[a-z]+_", r":[a-z]{2,3}-[a-zA-Z_]{2,8}$"


def with_known_names(rows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Rows with the warehouse's document names, which may differ by a language pair at the end or a domain in front.

    known: with document. Documents without exactly one matching name are unchanged.
    """
    if known["document"].null_count() == known.height or rows["document"].null_count() == rows.height:
        return rows
    names = known["document"].drop_nulls().unique()
    text = pl.col("document")
    shorter = [text.str.replace(_SUFFIX, ""), text.str.replace(_SUFFIX, "").str.replace(_PREFIX, "")]
    fitting = [pl.when(one.is_in(names.implode())).then(one) for one in (text, *shorter)]
    return rows.with_columns(document=pl.coalesce(*fitting, text))


def report_contradictions(contents: Sequence[Content], rows: pl.LazyFrame, known: pl.DataFrame, stage: Stage) -> None:
    """Report a fault for each file whose lines cannot belong to this test set, because its documents cross known ones.

    rows: with file_no, line, segment, document. known: with number, document. Documents may have other names, be
    parts of known documents or combine several: this is no contradiction.
    """
    if known.is_empty():
        return
    paths = {content.file_no: content.claim.path for content in contents}
    there = known.select(segment="number", other="document").drop_nulls()
    pairs = rows.select("file_no", "line", "segment", "document").drop_nulls(["segment", "document"])
    pairs = pairs.join(there.lazy(), on="segment", maintain_order="left")
    across = pl.col("other").n_unique().over("file_no", "document") > 1
    shared = pl.col("document").n_unique().over("file_no", "other") > 1
    pairs = pairs.with_columns(across=across, shared=shared).filter(
        pl.col("across").any().over("file_no") & pl.col("shared").any().over("file_no")
    )
    crossing = pairs.filter(pl.col("document") != pl.col("other")).collect(engine="in-memory")
    for of_file in crossing.partition_by("file_no", maintain_order=True):
        file_no, line, segment, document, other = of_file.select(pl.nth(range(5))).row(0)
        found = f"segment {segment} in document {document!r}, which is in {other!r} in the warehouse"
        expected = "lines of the test set: these seem to count the segments of this file"
        way_out = f"load it with {option('numbering', 'document')}"
        stage.fault(file_no, Fault(str(paths[file_no]), line or 0, found, expected, way_out))
