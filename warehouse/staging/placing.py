"""Segments of an evaluation set on the stage, and the segment number of each row.

Files name segments by their line in the test set, by document and place in it, or by both. Where a file declares the
segments, its lines are the numbers. Otherwise lines named by scores keep their numbers, and segments known by
document only are numbered above all lines, in the order of documents and places: provisionally, until a file states
their lines. So the numbers do not depend on the order of files; numbers in the warehouse may change.
"""

from collections.abc import Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.readers.contents import Content
from warehouse.readers.records import TUTORIAL
from warehouse.readers.text.tables import line_faults
from warehouse.staging.documents import report_contradictions, with_known_names
from warehouse.wording import counted


def report_rows(contents: Sequence[Content], stage: Stage, wrong: pl.DataFrame, expected: str) -> None:
    """Report a fault for each of a file's first rows, and the number of further rows.

    wrong: frame with file_no, line, found. expected: what the rows should hold.
    """
    if wrong.is_empty():
        return
    paths = {content.file_no: content.claim.path for content in contents}
    wrong = wrong.sort("file_no", "line", maintain_order=True)
    for rows in wrong.partition_by("file_no", maintain_order=True):
        file_no = rows["file_no"][0]
        found = rows.select(pl.col("line").fill_null(0), "found")
        for fault in line_faults(found, str, expected, paths[file_no], "a row"):
            stage.fault(file_no, fault)


_PLACE = ("segment", "document", "index")  # how rows name a segment: its line, its document, its place there
_OF_ROWS = ("file_no", "level", "kind", "domain")  # what else rows of one place have in common


def stage_declared(declared: pl.DataFrame, stage: Stage) -> None:
    """Stage the segments that files declare."""
    if not declared.is_empty():
        rows = declared.sort("segment").with_columns(number=pl.col("segment"))
        stage.add("segment", _segment_rows(rows, pl.col("file_no"), is_declared=True))


def placed(
    contents: Sequence[Content], places: pl.DataFrame, judgements: pl.DataFrame, stage: Stage
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Places of scores, and judgements, with segment numbers; judgements of nonexistent segments become faults.

    places: those of all files' records, with file_no. Returned with `number`, with `is_lost` if the segment does not
    exist, and with the file's own segment, document and index in columns `written_`; see `with_numbers`.
    Tutorial texts are not segments of the evaluation set: their judgements keep the file's numbers.
    """
    written = [places[name].alias(f"written_{name}") for name in _PLACE]
    is_lost = pl.Series("is_lost", [False]).new_from_index(0, places.height)
    places = _as_shown(contents, places.hstack([*written, is_lost]), stage)
    taught = judgements.hstack([judgements["segment"].alias("number")])
    if judgements.height:
        is_taught = (pl.col("status") == TUTORIAL) & pl.col("segment").is_not_null()
        taught, judgements = taught.filter(is_taught), judgements.filter(~is_taught.fill_null(False))
    is_seg = pl.col("level") == "seg"
    known = _staged(stage) if stage.segments else _held(stage)
    places, judgements = (with_known_names(rows, known) for rows in (places, judgements))
    scored = places.lazy().filter(is_seg & ~pl.col("is_lost"))
    report_contradictions(contents, scored, known, stage)
    report_contradictions(contents, judgements.lazy(), known, stage)
    named = [rows.select(*_PLACE, "domain", "file_no") for rows in (scored, judgements.lazy())]
    named = named if judgements.height else named[:1]
    asked = pl.concat(named).group_by(*_PLACE, maintain_order=True).agg(pl.col("domain", "file_no").min())
    keys = place(asked.collect(engine="in-memory"), stage).lazy()
    numbered, judged = (
        rows.lazy().join(keys, on=list(_PLACE), how="left", nulls_equal=True, maintain_order="left")
        for rows in (places, judgements)
    )
    has_number = pl.col("number").is_not_null()
    places = numbered.with_columns(pl.col("is_lost") | (is_seg & ~has_number)).collect(engine="in-memory")
    if judgements.is_empty() and taught.is_empty():
        return places, taught
    judgements = judged.collect(engine="in-memory")
    report_lost(contents, judgements.filter(~has_number), stage)
    return places, pl.concat([judgements.filter(has_number), taught]).sort("file_no", "line", maintain_order=True)


def with_numbers(scores: pl.LazyFrame, places: pl.DataFrame) -> pl.DataFrame:
    """Scores with segment numbers, and with `is_lost` if the segment does not exist. places: result of `placed`."""
    written = {f"written_{name}": name for name in _PLACE}
    keys = [*_OF_ROWS, *written]
    telling = [name for name in keys if places[name].n_unique() > 1]  # the others are the same in all rows
    found = places.lazy().select(*(telling or keys[:1]), *_PLACE, "number", "is_lost")
    rows = scores.rename({name: column for column, name in written.items()})
    rows = rows.join(found, on=telling or keys[:1], how="left", nulls_equal=True, maintain_order="left")
    return rows.select(*scores.collect_schema(), "number", "is_lost").collect(engine="in-memory")


def _as_shown(contents: Sequence[Content], places: pl.DataFrame, stage: Stage) -> pl.DataFrame:
    """The places with segments named as in other files. A user's own files name them by the numbers that the warehouse
    shows, and may name no others: these places are lost.
    """
    strict = [content.file_no for content in contents if content.claim.is_own]
    held = _held(stage)
    if not strict or held.is_empty() or stage.evalset.is_declared or stage.segments:
        return places
    is_theirs = pl.col("file_no").is_in(strict) & (pl.col("level") == "seg")
    shown = held.filter(pl.col("segment").is_null())
    shown = shown.select(segment="number", shown_document="document", shown_index="index", is_shown=pl.lit(True))
    rows = places.join(shown, on="segment", how="left", maintain_order="left")
    is_shown = is_theirs & pl.col("is_shown").fill_null(False)
    rows = rows.with_columns(
        segment=pl.when(~is_shown).then(pl.col("segment")),
        document=pl.when(is_shown).then("shown_document").otherwise("document"),
        index=pl.when(is_shown).then("shown_index").otherwise("index"),
    ).select(places.columns)
    lines = held.filter(pl.col("segment").is_not_null())["segment"].implode()
    named = held.select("document", "index", is_there=pl.lit(True)).drop_nulls().unique()
    rows = rows.join(named, on=["document", "index"], how="left", maintain_order="left")
    is_there = pl.col("segment").is_in(lines) | (pl.col("segment").is_null() & pl.col("is_there").fill_null(False))
    return rows.with_columns(is_lost=is_theirs & ~is_there.fill_null(False)).select(places.columns)


def _where(stage: Stage) -> str:
    return f"one of the segments of {stage.evalset.testset} {stage.evalset.lp}"


def report_lost(contents: Sequence[Content], lost: pl.DataFrame, stage: Stage) -> None:
    """Report faults of rows with nonexistent segments: frame with file_no, line, segment, document, index."""
    if not lost.is_empty():
        report_rows(contents, stage, lost.with_columns(found=_segment_in_words()), _where(stage))


def note_beyond(contents: Sequence[Content], places: pl.DataFrame, judgements: pl.DataFrame, stage: Stage) -> None:
    """Note segments beyond the end of their document, which is known from the layout, or else from other metric files
    or, for judgements, the warehouse. Annotators judge parts of documents; metrics score whole documents.
    """
    if all(rows["document"].null_count() == rows.height for rows in (places, judgements)):
        return
    declaring = declaring_segments(stage)
    is_metric = (pl.col("level") == "seg") & (pl.col("kind") == "metric")
    last = pl.col("index").max()
    judged, metrics = (
        rows.drop_nulls(["document", "index"]).group_by("file_no", "document").agg(last)
        for rows in (judgements.filter(pl.col("status") == "valid"), places.filter(is_metric & ~pl.col("is_lost")))
    )
    known = (_staged(stage) if declaring else _held(stage)).group_by("document").agg(n=last)
    others = known.with_columns(other=pl.lit(-1, pl.Int64))
    if not declaring and not stage.evalset.is_declared:
        of_metrics = metrics.select("document", n="index", other="file_no")
        beyond = metrics.join(of_metrics, on="document")
        others = pl.concat([others, of_metrics])
    else:
        beyond = metrics.join(others, on="document")
    beyond = pl.concat([beyond, judged.join(others, on="document")]).filter(pl.col("file_no") != pl.col("other"))
    beyond = (
        beyond.group_by("file_no", "document").agg(pl.col("index", "n").max()).filter(pl.col("index") > pl.col("n"))
    )
    paths = {content.file_no: content.claim.path for content in contents}
    for rows in beyond.sort("file_no", "document").partition_by("file_no", maintain_order=True):
        file_no, document, index, n = rows.row(0)
        some = counted(rows.height, "document has segments", "documents have segments")
        stage.notes.append(
            f"{paths[file_no]}: {some} beyond the end, such as {index} of {document!r}, with {n} elsewhere"
        )


def known_segments(stage: Stage) -> list[int]:
    """Numbers of the segments declared by files of this load, or else of those in the warehouse."""
    declared = {number for rows in declaring_segments(stage) for number in rows["segment"].to_list()}
    return sorted(declared) or _held(stage)["number"].to_list()


def declaring_segments(stage: Stage) -> list[pl.DataFrame]:
    """The staged segments that files declare, without those only named by scores."""
    return [rows for rows in stage.segments if "is_declared" not in rows.columns or rows["is_declared"].any()]


def _segment_in_words() -> pl.Expr:
    words: pl.Expr = (
        pl.when(pl.col("segment").is_not_null())
        .then(pl.format("segment {}", "segment"))
        .otherwise(pl.format("segment {} of document '{}'", "index", "document"))
    )
    return words


def settle_segments(stage: Stage) -> None:
    """Assign lines to the warehouse's segments when a file declares or counts them."""
    if stage.n_lines or (stage.evalset.segments and not stage.evalset.is_declared and stage.segments):
        asked = {"segment": pl.Int64, "document": pl.String, "index": pl.Int64, "domain": pl.String}
        place(pl.DataFrame(schema={**asked, "file_no": pl.Int64}), stage)


def place(asked: pl.DataFrame, stage: Stage) -> pl.DataFrame:
    """The number of each segment named in rows; null if it does not exist. If no file declares the segments, all go to
    the stage.

    asked: distinct _PLACE, with `domain` and the first `file_no`. Returns _PLACE and `number`.
    """
    held = _held(stage)
    if stage.evalset.is_declared or stage.segments:
        known = _staged(stage) if stage.segments else held
        if not stage.evalset.is_declared:
            _renumber(held, known, stage)
        stage.n_segments = known.height
        _report_documents(_every_staged(stage) if stage.segments else held, asked, stage)
        found = _numbered(asked, pl.concat([known.select("document", "index", "number"), _taught(asked)]))
        is_there = pl.col("number").is_in(known["number"].implode())
        return found.select(*_PLACE, number=pl.when(is_there).then(pl.col("number")))
    _report_documents(held, asked, stage)
    first = min(stage.file_numbers, default=0)
    lines = pl.Series("segment", range(1, stage.n_lines + 1), pl.Int64).to_frame()
    table, places = _together(
        held, asked, lines.hstack([pl.Series("file_no", [first]).new_from_index(0, stage.n_lines)])
    )
    stage.n_segments = table.height
    _renumber(held, places, stage)
    stage.add("segment", _segment_rows(table, pl.col("file_no").fill_null(first), is_declared=False))
    return _numbered(asked, places).select(*_PLACE, "number")


def _held(stage: Stage) -> pl.DataFrame:
    """Segments of the warehouse; `segment` is null if the number is provisional."""
    numbers = {"number": pl.Int64, "segment": pl.Int64}
    schema = {**numbers, "document": pl.String, "index": pl.Int64, "domain": pl.String}
    return pl.DataFrame(list(stage.evalset.segments), schema=schema, orient="row")


def _staged(stage: Stage) -> pl.DataFrame:
    """Segments declared by files of this load, one row each; files complete each other's gaps."""
    said = (pl.col(name).drop_nulls().first() for name in ("document", "domain", "index_in_document"))
    staged = _every_staged(stage).group_by("number", maintain_order=True).agg(*said)
    counted = pl.int_range(1, pl.len() + 1).over("document", "domain")
    index = pl.coalesce("index_in_document", pl.when(pl.col("document").is_not_null()).then(counted))
    return staged.select("number", "document", index.cast(pl.Int64).alias("index"))


def _every_staged(stage: Stage) -> pl.DataFrame:
    """Declared segments, with one row per file and segment."""
    rows = pl.concat(stage.segments, how="diagonal_relaxed").sort("segment", "file_no")
    return rows.with_columns(number=pl.col("segment").cast(pl.Int64))


def _taught(rows: pl.DataFrame) -> pl.DataFrame:
    """document, index, number: from rows that name a segment by both line and document."""
    return rows.filter(pl.col("segment").is_not_null()).select("document", "index", number="segment").drop_nulls()


def _report_documents(known: pl.DataFrame, asked: pl.DataFrame, stage: Stage) -> None:
    """Note lines that rows place in several documents; the line takes precedence."""
    if all(rows["document"].null_count() == rows.height for rows in (known, asked)):
        return
    named = [known.select("number", "document"), asked.select("document", number="segment")]
    several = pl.concat(named, how="diagonal").drop_nulls().unique(maintain_order=True)
    several = several.group_by("number", maintain_order=True).agg("document").filter(pl.col("document").list.len() > 1)
    if not several.is_empty():
        number, documents = several.row(0)
        where = f"{stage.evalset.testset} {stage.evalset.lp}"
        some = counted(several.height, "segment is", "segments are")
        first = " and ".join(documents[:2])
        stage.notes.append(f"{where}: {some} assigned to several documents, such as segment {number} of {first}")


def _numbered(rows: pl.DataFrame, named: pl.DataFrame) -> pl.DataFrame:
    """The rows with `number`: the line, or the number of document and index."""
    if named["document"].null_count() == named.height:
        return rows.with_columns(number="segment")
    by_document = named.select("document", "index", by_document="number").drop_nulls()
    by_document = by_document.unique(["document", "index"], keep="first", maintain_order=True)
    found = rows.join(by_document, on=["document", "index"], how="left", maintain_order="left")
    return found.with_columns(number=pl.coalesce("segment", "by_document")).drop("by_document")


def _together(*named: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All undeclared segments, from the warehouse and from rows; one row each. If files differ on a segment, the first
    name in alphabetical order counts, whichever file was loaded first.

    Also document, index and number of every place; a line may have several if files name documents differently.
    """
    rows = pl.concat(named, how="diagonal").sort(*_PLACE, "domain", nulls_last=True)
    places = _places_in_documents(rows)
    table = (
        _numbered(rows, places)
        .lazy()
        .drop_nulls("number")
        .group_by("number")
        .agg(
            pl.col("segment").max(),
            *(pl.col(name).drop_nulls().first() for name in ("document", "index", "domain")),
            pl.col("file_no").min(),
        )
        .sort("number")
        .collect(engine="in-memory")
    )
    return table, pl.concat([places, table.select("number")], how="diagonal")


def _places_in_documents(rows: pl.DataFrame) -> pl.DataFrame:
    """document, index, number: of every place in a document; numbers of places without a line begin after all lines."""
    if rows["document"].null_count() == rows.height:
        return rows.clear().select("document", "index", number="segment")
    taught = _taught(rows).unique(["document", "index"], keep="first", maintain_order=True)
    loose = rows.filter(pl.col("segment").is_null()).select("document", "index").drop_nulls().unique()
    loose = loose.join(taught, on=["document", "index"], how="anti").sort("document", "index")
    last = rows["segment"].max() or 0
    loose = loose.with_columns(number=pl.int_range(1, pl.len() + 1, dtype=pl.Int64) + last)
    return pl.concat([taught, loose])


def _renumber(held: pl.DataFrame, known: pl.DataFrame, stage: Stage) -> None:
    """Stage the changed numbers of the warehouse's segments; null if a segment no longer exists."""
    if held.is_empty():
        return
    numbers = known.select(new="number")
    renamed = _numbered(held.rename({"number": "old"}), known).rename({"number": "new"})
    changed = renamed.with_columns(new=pl.when(pl.col("new").is_in(numbers["new"].implode())).then(pl.col("new")))
    changed = changed.filter(pl.col("new").ne_missing(pl.col("old")))
    stage.batch.add(
        "renumbering",
        changed.select(
            pl.lit(stage.evalset_no, dtype=pl.Int32).alias("evalset_no"), pl.col("old", "new").cast(pl.Int32)
        ),
    )


def _segment_rows(table: pl.DataFrame, file_no: pl.Expr, *, is_declared: bool) -> pl.DataFrame:
    """Rows of temp.staged_segment. table: with number, segment (its line), document, index, domain."""
    return table.select(
        file_no.cast(pl.Int32).alias("file_no"),
        pl.col("number").cast(pl.Int32).alias("segment"),
        pl.col("segment").cast(pl.Int32).alias("position"),
        "domain",
        "document",
        pl.col("index").cast(pl.Int32).alias("index_in_document"),
        pl.lit(is_declared).alias("is_declared"),
    )
