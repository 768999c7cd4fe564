"""Items of challenge sets in one form for all formats, and their staging."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import polars as pl

from warehouse.database.stage import Stage
from warehouse.errors import Fault
from warehouse.names import GRADE, MetricVariant
from warehouse.readers.contents import Content
from warehouse.wording import counted

Row = TypeVar("Row")
REFERENCE = "ref"
COLUMNS = ("item", "phenomenon", "class", "domain", "document", "hypothesis", "grade", "source", "reference", "text")


@dataclass(frozen=True)
class Items:
    """Hypotheses of items, one per row.

    frame: item (unique within the file), phenomenon, class, domain, document, hypothesis, grade (higher is better;
    null: not known), source, reference, text; null if missing. metrics: columns of further scores, named like
    metric variants. n_excluded: items that did not pass a check of the set's authors. notes: on the file.
    """

    frame: pl.DataFrame
    metrics: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    n_excluded: int = 0
    notes: tuple[str, ...] = ()


def without_repeats(rows: Sequence[Row], identity: Callable[[Row], object]) -> tuple[list[Row], list[str]]:
    """The rows without exact repeats of earlier rows, and a note on the repeats. identity: a row's hashable key."""
    first = {identity(row): row for row in reversed(rows)}
    kept = list(reversed(first.values()))
    n_repeated = len(rows) - len(kept)
    return kept, [f"{counted(n_repeated, 'repeated row')}, loaded once"] if n_repeated else []


def lay_out(read: Sequence[tuple[Content, Items]], stage: Stage) -> None:
    """Stage segments, texts, grades and scores of one evaluation set, whose files are numbered consecutively.

    A score that several files have for the same hypotheses becomes one vector, of the first file.
    """
    frames = []
    n_before = 0
    for content, items in read:
        frame = items.frame.with_columns(file_no=pl.lit(content.file_no, dtype=pl.Int32))
        frame = frame.with_columns(segment=pl.col("item").rank("dense").cast(pl.Int32) + n_before)
        n_before += frame["item"].n_unique()
        frames.append(frame)
        stage.n_rows[content.file_no] = frame.height
        stage.notes += [f"{content.claim.path}: {note}" for note in items.notes]
        stage.add_systems(content.file_no, dict.fromkeys(frame["hypothesis"].unique(maintain_order=True), "mt"))
    if n_excluded := sum(items.n_excluded for _, items in read):
        stage.notes.append(
            f"{stage.evalset.testset} {stage.evalset.lp}: {counted(n_excluded, 'item')} excluded, the check failed"
        )
    rows = pl.concat(frames, how="diagonal_relaxed")
    _note_shared(rows, {content.file_no: content.claim.path for content, _ in read}, stage)
    _lay_out_segments(rows, stage)
    for kind, column, named in (
        ("source", "source", pl.lit(None, dtype=pl.String)),
        ("reference", "reference", pl.lit(REFERENCE)),
        ("output", "text", pl.col("hypothesis")),
    ):
        texts = rows.select("file_no", "segment", kind=pl.lit(kind), name=named, text=pl.col(column))
        stage.add("text", texts.drop_nulls("text").unique(["segment", "name"], keep="first", maintain_order=True))
    for name in (GRADE, *dict.fromkeys(name for _, items in read for name in items.metrics)):
        _lay_out_scores(rows, name, stage)


def _note_shared(rows: pl.DataFrame, paths: Mapping[int, Path], stage: Stage) -> None:
    """Note files with items that an earlier file also has."""
    known = rows.filter(pl.col("text").is_not_null() & pl.col("source").is_not_null())
    first = pl.col("file_no").min().over("phenomenon", "source", "hypothesis", "text")
    again = known.with_columns(first=first).filter(pl.col("first") < pl.col("file_no"))
    for file_no, other, n in (
        again.group_by("file_no", "first").agg(pl.col("segment").n_unique()).sort("file_no").rows()
    ):
        what = counted(n, "item has", "items have")
        stage.notes.append(
            f"{paths[file_no]}: {what} the same texts as items of {paths[other]}; they count as further items"
        )


def _lay_out_segments(rows: pl.DataFrame, stage: Stage) -> None:
    segments = rows.unique("segment", keep="first", maintain_order=True)
    stage.add(
        "segment",
        segments.select(
            "file_no",
            "segment",
            "phenomenon",
            "domain",
            "document",
            position=pl.col("segment"),
            phenomenon_class=pl.col("class"),
            index_in_document=pl.when(pl.col("document").is_not_null()).then(
                pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("document")
            ),
        ),
    )


def _lay_out_scores(rows: pl.DataFrame, name: str, stage: Stage) -> None:
    """Stage one vector for each hypothesis with a score of this scorer."""
    scored = rows.select("file_no", "hypothesis", "segment", value=pl.col(name).cast(pl.Float64))
    scored = scored.filter(pl.col("value").is_not_null().any().over("hypothesis"))
    if scored.is_empty():
        return
    variant = None if name == GRADE else MetricVariant.parse(name)
    systems = scored.group_by("hypothesis", maintain_order=True).agg(
        pl.col("file_no").first(),
        n_values=pl.col("value").count().cast(pl.Int32),
        n_missing=pl.col("value").null_count().cast(pl.Int32),
    )
    numbers = pl.Series("vector_no", list(stage.batch.new_vectors(systems.height)), dtype=pl.Int32)
    vectors = systems.with_columns(numbers)
    stage.add(
        "vector",
        vectors.select(
            "vector_no",
            "file_no",
            "n_values",
            "n_missing",
            system=pl.col("hypothesis"),
            kind=pl.lit("human" if variant is None else "metric"),
            scorer=pl.lit(name),
            base_name=pl.lit(name if variant is None else variant.base_name),
            reference=pl.lit(None if variant is None else variant.reference, dtype=pl.String),
            is_reference_free=pl.lit(variant is not None and variant.reference is None),
            level=pl.lit("seg"),
            is_negated=pl.lit(False),
        ),
    )
    stage.add(
        "score",
        scored.join(vectors.select("vector_no", "hypothesis"), on="hypothesis").select("vector_no", "segment", "value"),
    )
