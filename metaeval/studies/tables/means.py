"""Means of systems by human scores and metrics: over a slice, and by domain."""

import numpy as np
import polars as pl

from metaeval.results.answer import Result, table_parts
from metaeval.results.inputs import Inputs, check_judged, no_metric
from metaeval.results.remarks import slice_remarks
from queries.counting import human_block, named_means
from queries.evalsets import stored_human
from queries.selection import select
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress


def system_means(warehouse: Warehouse, asked: Slice, *, progress: Progress | None = None) -> Result:
    """System scores of the human score and of every metric of a slice, complete or not.

    Columns: kind (human or metric), scorer, system, submitted (null for a part of a test set), mean (over all
    segments), judged_mean (over annotated segments; null if there is none), n_segments (scores in mean), n_judged
    (scores in judged_mean), n_missing (segments listed without a score). Rows: the human score first, then metrics,
    each by system.
    Raises QuestionError: see `select`; a human score standardised by annotator.
    """
    block = human_block(warehouse, select(warehouse, asked, "seg", human="optional"))
    selection = block.selection
    metrics = selection.chosen_metrics
    if selection.human is not None and stored_human(selection.human) != selection.human:
        reason = f"means shows scores as they are stored, not {selection.human}; systems has its means"
        raise QuestionError(reason)
    human = () if selection.human_id is None else (selection.human_id,)
    if progress is not None:
        progress("computing means", 0, 0)
    frame = named_means(warehouse, block, [*human, *(choice.scorer_id for choice in metrics)])
    parts = table_parts(("table", "means"), block, n_metrics=len(metrics))
    notes = slice_remarks(selection, metrics)
    if not metrics:
        notes = [str(no_metric(selection, {}, needs_segments=False)), *notes]
    is_human = pl.lit(False) if selection.human is None else pl.col("scorer") == selection.human
    kind = pl.when(is_human).then(pl.lit("human")).otherwise(pl.lit("metric")).alias("kind")
    return Result(frame.select(kind, pl.all()).sort("kind", "scorer", "system"), parts, tuple(notes))


def domain_means(warehouse: Warehouse, asked: Slice, round_human: int | None = None) -> Result:
    """Each system's mean human score in each domain, over what was judged of it there.

    Columns domain, system, mean, n (segments judged), n_domain (segments of the domain), by domain, best first; domain
    is null where it is not known. Raises QuestionError: see `Inputs`; no segment scores.
    """
    block = Inputs(warehouse, asked, round_human).of_level("seg")
    check_judged(block)
    domains = np.array([name or "" for name in block.selection.domains])
    rows = []
    for domain in dict.fromkeys(domains.tolist()):
        inside = domains == domain
        for system, scores in zip(block.systems, block.human[:, inside], strict=True):
            there = scores[~np.isnan(scores)]
            if there.size:
                rows.append((domain or None, system, float(there.mean()), len(there), int(inside.sum())))
    schema = {"domain": pl.String, "system": pl.String, "mean": pl.Float64, "n": pl.Int64, "n_domain": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.sort("domain", "mean", "system", descending=[False, True, False])
    parts = table_parts(("table", "domain_means"), block, ("round_human", round_human))
    return Result(frame, parts, block.selection.notes)
