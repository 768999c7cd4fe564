"""System means of a slice: as submitted, over all segments, over annotated segments; and what is covered."""

from pathlib import Path
from typing import Any

import polars as pl

from metaeval.answer import Table, table_signature
from metaeval.grids import gridded
from metaeval.inputs import no_metric
from metaeval.remarks import slice_remarks
from queries.counting import named_means
from queries.engines import Engine, Source, opened
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress


def system_means(
    data: Warehouse | Source | str | Path,
    asked: Slice,
    engine: Engine = "polars",
    *,
    session: Any = None,
    progress: Progress | None = None,
) -> Table:
    """System scores of the human score and of every metric of a slice, complete or not.

    data: a warehouse, the folder of an export, or a source that is open already.
    Columns: kind (human or metric), scorer, system, submitted (null for a part of a test set), mean (over all
    segments), judged_mean (over annotated segments; null where there is none), n_segments (scores in mean), n_judged
    (scores in judged_mean), n_missing (segments listed without a score). Rows: the human score first, then metrics,
    each by system. Spark adds up in no fixed order, so that last digits vary.
    Raises QuestionError, SourceError: see `gridded`, `opened`; a human score standardised by annotator.
    """
    with opened(data, asked.testset, asked.lp) as source:
        found = gridded(source, asked, engine, session, human="optional")
        selection = found.selection
        metrics = selection.chosen_metrics
        if selection.is_by_annotator:
            reason = f"means shows scores as they are stored, not {selection.human}; systems has its means"
            raise QuestionError(reason)
        human = () if selection.human_id is None else (selection.human_id,)
        if progress is not None:
            progress("computing means", 0, 0)
        frame = named_means(found.counter, selection, found.grid.of((*human, *found.grid.scorers)), source.catalogue)
    signature = table_signature(("table", "means"), found.block, n_metrics=len(metrics))
    notes = slice_remarks(selection, metrics)
    if not metrics:
        notes = [str(no_metric(selection, {})), *notes]
    return Table(_with_kind(frame, selection.human), signature, tuple(notes))


def _with_kind(frame: pl.DataFrame, human: str | None) -> pl.DataFrame:
    is_human = pl.col("scorer") == human if human is not None else pl.lit(False)
    kind = pl.when(is_human).then(pl.lit("human")).otherwise(pl.lit("metric")).alias("kind")
    return frame.select(kind, pl.all()).sort("kind", "scorer", "system")
