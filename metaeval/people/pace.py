"""How fast annotators judge, and whether they grow faster: from the times of their judgements."""

import numpy as np
import polars as pl

from metaeval.answer import Table, or_none
from metaeval.kernels.arrays.checks import Floats
from metaeval.signature import line, program_version
from queries.annotations import annotations, judged_scores
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT

BREAK = 600.0
"""Seconds between two judgements that count as a break."""


def pace(warehouse: Warehouse, testset: str, lp: str, human: str | None = None) -> Table:
    """Seconds between an annotator's consecutive judgements, breaks of more than ten minutes excluded.

    Columns human, annotator, n_judgements, n_gaps, n_breaks, seconds (median), change: mean of the later half of the
    gaps over that of the earlier half, below 1 where the annotator grew faster (null with fewer than 10 gaps).
    Judgements saved in one moment (gap 0) count as gaps. Slowest first. Scores without times for all judgements are
    excluded.
    Raises QuestionError: no judgements, or none with times.
    """
    rows: list[tuple[object, ...]] = []
    scores = judged_scores(warehouse, testset, lp, human)
    for score in scores:
        frame = annotations(warehouse, score).filter(pl.col("counts") & pl.col("rater").is_not_null())
        if not frame.height or frame["time"].null_count():
            continue
        for (rater,), own in frame.sort("time", maintain_order=True).group_by("rater", maintain_order=True):
            seconds = own["time"].dt.epoch("ms").to_numpy() / 1000
            gaps: Floats = np.diff(seconds)
            kept = gaps[gaps <= BREAK]
            half = len(kept) // 2
            before = float(kept[:half].mean()) if len(kept) >= 10 else np.nan
            change = float(kept[half:].mean()) / before if before > 0 else np.nan
            median = float(np.median(kept)) if kept.size else np.nan
            counts = (own.height, len(kept), len(gaps) - len(kept))
            rows.append((score.human, rater, *counts, or_none(median), or_none(change)))
    if not rows:
        raise QuestionError(f"{IT} has no judgements with times", where=f"{testset} {lp}")
    names = ("human", "annotator", "n_judgements", "n_gaps", "n_breaks", "seconds", "change")
    schema = dict.fromkeys(names[:2], pl.String()) | dict.fromkeys(names[2:5], pl.Int64())
    schema |= dict.fromkeys(names[5:], pl.Float64())  # type: ignore[arg-type]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.sort("human", "seconds", "annotator", descending=[False, True, False], nulls_last=True)
    parts = [("pace", human or "all"), ("testset", testset), ("lp", lp), ("break", f"{BREAK:.0f}s")]
    return Table(frame, line([*parts, ("scorehouse", program_version())]))
