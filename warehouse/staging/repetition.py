"""Scores that stand in a file twice, or are missing in one that must have all of them."""

from collections.abc import Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.names import REFERENCE_FREE
from warehouse.readers.contents import Content
from warehouse.staging.naming import systems_before
from warehouse.staging.row_faults import report_rows
from warehouse.staging.vectors import VECTOR_KEY
from warehouse.wording import counted, option


def scorer_name() -> pl.Expr:
    """A metric with the reference that it compared with, as in `BLEU-refA`; a human score by its name."""
    metric = pl.format("{}-{}", "scorer", pl.col("reference").fill_null(REFERENCE_FREE))
    return pl.when(pl.col("kind") == "metric").then(metric).otherwise("scorer")


def distinct(contents: Sequence[Content], scores: pl.DataFrame, stage: Stage) -> pl.DataFrame:
    """Each score of a file once: equal rows are taken once, with a note; rows that differ are faults."""
    scores = scores.with_columns(
        unit=pl.when(pl.col("level") == "doc").then("document").when(pl.col("level") == "domain").then("domain"),
        base_name=pl.col("scorer"),
        scorer=scorer_name(),
        number=pl.when(pl.col("level") == "seg").then("number"),
    )
    cell = ["file_no", *VECTOR_KEY, "unit", "number"]
    if not scores.select(cell).is_duplicated().any():
        return scores
    groups = scores.group_by(cell, maintain_order=True).agg(
        pl.len().alias("n"), (pl.col("value").n_unique() > 1).alias("differs"), pl.col("line").max()
    )
    found = pl.format("another score of {}, system '{}'", "scorer", "system")
    report_rows(contents, stage, groups.filter("differs").with_columns(found=found), "one score each")
    again = groups.filter((pl.col("n") > 1) & ~pl.col("differs")).group_by("file_no").agg((pl.col("n") - 1).sum())
    paths = {content.file_no: content.claim.path for content in contents}
    for file_no, n in again.sort("file_no").iter_rows():
        stage.notes.append(f"{paths[file_no]}: {counted(n, 'repeated row')}, loaded once")
    return scores.unique(cell, keep="first", maintain_order=True)


def report_incomplete(contents: Sequence[Content], scores: pl.DataFrame, stage: Stage) -> None:
    """Files whose lines count the segments must have all of them for every system, and lists all of their document; of
    own metrics gaps are noted."""
    segments = scores.filter(pl.col("level") == "seg")
    if listing := [content.file_no for content in contents if content.claim.is_listing]:
        _report_short_lists(contents, segments.filter(pl.col("file_no").is_in(listing)), stage)
    met = (
        segments.filter(pl.col("kind") == "metric")
        .group_by("file_no", "scorer", "system", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            pl.col("value").count().alias("n_values"),
            pl.col("line").min(),
            pl.col("reference").first(),
        )
    )
    n_segments = stage.n_segments
    for content in contents:
        if content.claim.is_own or content.claim.is_table:
            _report_gaps(met.filter(file_no=content.file_no), n_segments, stage)
    positional = [content.file_no for content in contents if content.claim.is_positional]
    if not positional or not n_segments:
        return
    blocks = met.filter(pl.col("file_no").is_in(positional)).group_by("file_no", "system")
    short = blocks.agg(pl.col("n").sum(), pl.col("line").min()).filter(pl.col("n") != n_segments)
    lines = pl.when(pl.col("n") == 1).then(pl.lit("line")).otherwise(pl.lit("lines"))
    short = short.with_columns(found=pl.format("{} {} of '{}'", "n", lines, "system"))
    where = f"{n_segments}, one per segment of {stage.evalset.testset} {stage.evalset.lp}"
    report_rows(contents, stage, short, where)


def _report_short_lists(contents: Sequence[Content], listed: pl.DataFrame, stage: Stage) -> None:
    """Faults of documents of which other files have more segments: nobody can tell which ones the list lacks."""
    known = [rows.select("document", index="index_in_document") for rows in stage.segments]
    held = [(document, index) for _, _, document, index, _ in stage.evalset.segments]
    known.append(pl.DataFrame(held, schema={"document": pl.String, "index": pl.Int64}, orient="row"))
    whole = pl.concat(known, how="vertical_relaxed").group_by("document").agg(n=pl.col("index").max())
    lists = listed.group_by("file_no", "document").agg(pl.col("index").max(), pl.col("line").min())
    short = lists.join(whole, on="document").filter(pl.col("index") < pl.col("n"))
    found = pl.format("{} of {} segments of document '{}'", "index", "n", "document")
    report_rows(contents, stage, short.with_columns(found=found), "all of them, null where missing")


def _report_gaps(met: pl.DataFrame, n_segments: int, stage: Stage) -> None:
    """Notes on users' metrics that lack systems or segments: they stand in no ranking of whole evaluation sets.

    The reference that a metric compared with is none of its systems.
    """
    there, notes = systems_before(stage), stage.notes
    for (scorer,), systems in met.sort("line").group_by("scorer", maintain_order=True):
        n_scores = systems.height * n_segments
        n_missing = n_scores - systems["n_values"].sum()
        if n_missing > 0:
            notes.append(
                f"{scorer}: {n_missing} of {n_scores} segment scores are missing; rankings exclude it "
                f"(`scorehouse {option('rank.intersection', True)}` does not)"
            )
        expected = there - {systems["reference"][0]}
        n_scored = systems["system"].is_in(list(expected)).sum()
        if n_scored < len(expected):
            notes.append(f"{scorer}: scores of {n_scored} of the {len(expected)} systems")
