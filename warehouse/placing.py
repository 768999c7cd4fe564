"""Segments of an evaluation set on the stage: which there are, and the number of each that rows name.

Files name segments by their line in the test set, by document and place in it, or by both. Where a file declares the
segments, its lines are the numbers. Else lines that scores name keep their numbers, and segments that are known by
document alone are numbered above all lines, in the order of documents and places: provisionally, until a file tells
their lines. So the numbers do not depend on the order in which files come; those that the warehouse has may change.
"""

from typing import TYPE_CHECKING

from warehouse.stage import Stage

if TYPE_CHECKING:
    import polars as pl

PLACE = ("segment", "document", "index")  # how rows name a segment: its line, its document, its place there


def place(asked: "pl.DataFrame", stage: Stage) -> "pl.DataFrame":
    """The number of each segment that rows name; null where there is none such. New segments go to the stage.

    asked: distinct PLACE, with `domain` and the first `file_no`. Returns PLACE and `number`.
    """
    import polars as pl

    held = held_segments(stage)
    if stage.evalset.is_declared or stage.segments:
        known = _staged(stage) if stage.segments else held
        if not stage.evalset.is_declared:
            _renumber(held, known, stage)
        stage.n_segments = known.height
        _tell_documents(known, asked, stage)
        found = _numbered(asked, pl.concat([known.select("document", "index", "number"), _taught(asked)]))
        is_there = pl.col("number").is_in(known["number"].implode())
        return found.select(*PLACE, number=pl.when(is_there).then(pl.col("number")))
    _tell_documents(held, asked, stage)
    table, places = _together(held, asked)
    stage.n_segments = table.height
    _renumber(held, places, stage)
    _stage_named(table, held, stage)
    return _numbered(asked, places).select(*PLACE, "number")


def held_segments(stage: Stage) -> "pl.DataFrame":
    """Segments that the warehouse has; `segment` is null where the number is provisional."""
    import polars as pl

    numbers = {"number": pl.Int64, "segment": pl.Int64}
    schema = {**numbers, "document": pl.String, "index": pl.Int64, "domain": pl.String}
    return pl.DataFrame(list(stage.evalset.segments), schema=schema, orient="row")


def _staged(stage: Stage) -> "pl.DataFrame":
    """Segments that files of this load declare."""
    import polars as pl

    staged = pl.concat(stage.segments, how="diagonal_relaxed").sort("segment")
    counted = pl.int_range(1, pl.len() + 1).over("document", "domain")
    index = pl.coalesce("index_in_document", pl.when(pl.col("document").is_not_null()).then(counted))
    return staged.select(
        pl.col("segment").cast(pl.Int64).alias("number"), "document", index.cast(pl.Int64).alias("index")
    )


def _taught(rows: "pl.DataFrame") -> "pl.DataFrame":
    """document, index, number: of rows that name a segment by both."""
    import polars as pl

    return rows.filter(pl.col("segment").is_not_null()).select("document", "index", number="segment").drop_nulls()


def _tell_documents(known: "pl.DataFrame", asked: "pl.DataFrame", stage: Stage) -> None:
    """Note lines that rows place in several documents: there the line decides."""
    import polars as pl

    named = [known.select("number", "document"), asked.select("document", number="segment")]
    several = pl.concat(named, how="diagonal").drop_nulls().unique(maintain_order=True)
    several = several.group_by("number", maintain_order=True).agg("document").filter(pl.col("document").list.len() > 1)
    if not several.is_empty():
        number, documents = several.row(0)
        where = f"{stage.evalset.testset} {stage.evalset.lp}"
        some = "1 segment is" if several.height == 1 else f"{several.height} segments are"
        first = " and ".join(documents[:2])
        stage.notes.append(f"{where}: {some} told to be of several documents, such as segment {number} of {first}")


def _numbered(rows: "pl.DataFrame", named: "pl.DataFrame") -> "pl.DataFrame":
    """The rows with `number`: the line, or what document and index are the names of."""
    import polars as pl

    by_document = named.select("document", "index", by_document="number").drop_nulls()
    by_document = by_document.unique(["document", "index"], keep="first", maintain_order=True)
    found = rows.join(by_document, on=["document", "index"], how="left", maintain_order="left")
    return found.with_columns(number=pl.coalesce("segment", "by_document")).drop("by_document")


def _together(held: "pl.DataFrame", asked: "pl.DataFrame") -> "tuple[pl.DataFrame, pl.DataFrame]":
    """All segments that nothing declares: those of the warehouse and those that rows name; one row each.

    With them document, index and number of every place; a line may have several, where files name documents their way.
    """
    import polars as pl

    rows = pl.concat([held.drop("number"), asked], how="diagonal")
    taught = _taught(rows).unique(["document", "index"], keep="first", maintain_order=True)
    loose = rows.filter(pl.col("segment").is_null()).select("document", "index").drop_nulls().unique()
    loose = loose.join(taught, on=["document", "index"], how="anti").sort("document", "index")
    last = rows["segment"].max() or 0
    loose = loose.with_columns(number=pl.int_range(1, pl.len() + 1, dtype=pl.Int64) + last)
    places = pl.concat([taught, loose])
    rows = _numbered(rows, places).drop_nulls("number")
    table = rows.group_by("number").agg(
        pl.col("segment").max(),
        *(pl.col(name).drop_nulls().first() for name in ("document", "index", "domain")),
        pl.col("file_no").min(),
    )
    numbers = table.select("number").sort("number")
    return table.sort("number"), pl.concat([places, numbers], how="diagonal")


def _renumber(held: "pl.DataFrame", known: "pl.DataFrame", stage: Stage) -> None:
    """Lay out which segments of the warehouse have other numbers now; null where there is none such any more."""
    import polars as pl

    numbers = known.select(new="number")
    renamed = _numbered(held.rename({"number": "old"}), known).rename({"number": "new"})
    changed = renamed.with_columns(new=pl.when(pl.col("new").is_in(numbers["new"].implode())).then(pl.col("new")))
    changed = changed.filter(pl.col("new").ne_missing(pl.col("old")))
    stage.batch.add(
        "renumbering",
        changed.select(
            pl.lit(stage.evalset_no, dtype=pl.Int32).alias("evalset_no"),
            pl.col("old", "new").cast(pl.Int32),
        ),
    )


def _stage_named(table: "pl.DataFrame", held: "pl.DataFrame", stage: Stage) -> None:
    """Segments that the warehouse lacks; all of them where those that it has are not as they were."""
    import polars as pl

    there = held.join(table, on=held.columns, how="semi", nulls_equal=True)
    stage.replaces_segments = there.height < held.height
    if not stage.replaces_segments:
        table = table.filter(~pl.col("number").is_in(held["number"].implode()))
    first = min(stage.file_numbers, default=0)
    rows = table.select(
        pl.col("file_no").fill_null(first).cast(pl.Int32),
        pl.col("number").cast(pl.Int32).alias("segment"),
        pl.col("segment").cast(pl.Int32).alias("position"),
        "domain",
        "document",
        pl.col("index").cast(pl.Int32).alias("index_in_document"),
        pl.lit(False).alias("is_declared"),
    )
    stage.add("segment", rows)
