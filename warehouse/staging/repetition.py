"""Scores that stand in a file twice, or are missing in one that must have all of them."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.readers.contents import Content
from warehouse.staging.naming import systems_before
from warehouse.staging.portions import scorer_name
from warehouse.staging.row_faults import RowFaults, report_rows
from warehouse.staging.vectors import VECTOR_KEY
from warehouse.wording import counted


class Distinct:
    """Each score of a file once: equal rows are taken once, with a note; rows that differ are faults."""

    def __init__(self, contents: Sequence[Content], stage: Stage) -> None:
        self._contents = contents
        self._stage = stage
        self._wrong = RowFaults("one score each")
        self._n_again: Counter[int] = Counter()

    def of(self, scores: pl.DataFrame) -> pl.DataFrame:
        """The rows of whole vectors, each score once."""
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
        self._wrong.add(groups.filter("differs").with_columns(found=found))
        again = groups.filter((pl.col("n") > 1) & ~pl.col("differs")).group_by("file_no").agg((pl.col("n") - 1).sum())
        self._n_again.update(dict(again.iter_rows()))
        return scores.unique(cell, keep="first", maintain_order=True)

    def report(self) -> None:
        """Report what was met."""
        self._wrong.report(self._contents, self._stage)
        paths = {content.file_no: content.claim.path for content in self._contents}
        for file_no, n in sorted(self._n_again.items()):
            self._stage.notes.append(f"{paths[file_no]}: {counted(n, 'repeated row')}, loaded once")


class Complete:
    """Files whose lines count the segments must have all of them for every system, and lists all of their document; of
    own metrics gaps are noted."""

    def __init__(self, contents: Sequence[Content], stage: Stage) -> None:
        self._contents = contents
        self._stage = stage
        self._files = [c.file_no for c in contents if c.claim.is_own or c.claim.is_table or c.claim.is_positional]
        self._listing = [content.file_no for content in contents if content.claim.is_listing]
        self._met: list[pl.DataFrame] = []
        self._lists: list[pl.DataFrame] = []

    def meet(self, scores: pl.DataFrame) -> None:
        """Count the segment scores of some whole vectors."""
        if self._listing:
            listed = scores.filter(pl.col("file_no").is_in(self._listing) & (pl.col("level") == "seg"))
            lists = listed.group_by("file_no", "document").agg(pl.col("index").max(), pl.col("line").min())
            self._lists.append(lists)
        if self._files:
            is_counted = (pl.col("level") == "seg") & (pl.col("kind") == "metric")
            counted = scores.filter(pl.col("file_no").is_in(self._files) & is_counted)
            keys = ("file_no", "scorer", "system")
            counts = (
                pl.len().alias("n"),
                pl.col("value").count().alias("n_values"),
                pl.col("line").min(),
                pl.col("reference").first(),
            )
            self._met.append(counted.group_by(keys, maintain_order=True).agg(*counts))

    def report(self) -> None:
        """Report what was met."""
        if self._listing:
            self._report_short_lists()
        if not self._files:
            return
        met = pl.concat(self._met)
        n_segments = self._stage.n_segments
        for content in self._contents:
            if content.claim.is_own or content.claim.is_table:
                self._report_gaps(met.filter(file_no=content.file_no), n_segments)
        positional = [content.file_no for content in self._contents if content.claim.is_positional]
        if not positional or not n_segments:
            return
        blocks = met.filter(pl.col("file_no").is_in(positional)).group_by("file_no", "system")
        short = blocks.agg(pl.col("n").sum(), pl.col("line").min()).filter(pl.col("n") != n_segments)
        lines = pl.when(pl.col("n") == 1).then(pl.lit("line")).otherwise(pl.lit("lines"))
        short = short.with_columns(found=pl.format("{} {} of '{}'", "n", lines, "system"))
        where = f"{n_segments}, one per segment of {self._stage.evalset.testset} {self._stage.evalset.lp}"
        report_rows(self._contents, self._stage, short, where)

    def _report_short_lists(self) -> None:
        """Faults of documents of which other files have more segments: nobody can tell which ones the list lacks."""
        known = [rows.select("document", index="index_in_document") for rows in self._stage.segments]
        held = [(document, index) for _, _, document, index, _ in self._stage.evalset.segments]
        known.append(pl.DataFrame(held, schema={"document": pl.String, "index": pl.Int64}, orient="row"))
        whole = pl.concat(known, how="vertical_relaxed").group_by("document").agg(n=pl.col("index").max())
        short = pl.concat(self._lists).join(whole, on="document").filter(pl.col("index") < pl.col("n"))
        found = pl.format("{} of {} segments of document '{}'", "index", "n", "document")
        report_rows(self._contents, self._stage, short.with_columns(found=found), "all of them, null where missing")

    def _report_gaps(self, met: pl.DataFrame, n_segments: int) -> None:
        """Notes on users' metrics that lack systems or segments: they stand in no ranking of whole evaluation sets.

        The reference that a metric compared with is none of its systems.
        """
        there, notes = systems_before(self._stage), self._stage.notes
        for (scorer,), systems in met.sort("line").group_by("scorer", maintain_order=True):
            n_scores = systems.height * n_segments
            n_missing = n_scores - systems["n_values"].sum()
            if n_missing > 0:
                notes.append(
                    f"{scorer}: {n_missing} of {n_scores} segment scores are missing; rankings exclude it "
                    "(`scorehouse rank --intersection` does not)"
                )
            expected = there - {systems["reference"][0]}
            n_scored = systems["system"].is_in(list(expected)).sum()
            if n_scored < len(expected):
                notes.append(f"{scorer}: scores of {n_scored} of the {len(expected)} systems")
