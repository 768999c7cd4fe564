"""Means of human scores with a metric's help, where people judged a random sample of the segments and metrics all."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from metaeval.answer import Result, table_parts
from metaeval.inputs import Inputs, check_judged, metric_place
from metaeval.kernels.resampling.assisted_means import assisted_mean
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.wording import counted

_FEWEST = 5  # judged segments


def assisted_means(warehouse: Warehouse, asked: Slice, metrics: Sequence[str], seed: int) -> Result:
    """Each system's mean human score over all segments that metrics scored, estimated from those that people judged.

    Columns: system, judged_mean, assisted (the estimate), low, high (its 95% interval), saved (share of judgements that
    the metrics save; below 0 where they add noise), n_judged, n_segments (scored by the metrics); best first.
    seed: of the order in which judged segments are dealt to folds.
    Raises QuestionError: an unknown metric, nothing is judged, or no system with 5 judged segments.
    """
    block = Inputs(warehouse, asked, None).of_level("seg")
    check_judged(block)
    places = []
    for name in metrics:
        if (place := metric_place(block, name)) is None:
            raise unknown("metric", name, [one.name for one in block.metrics], where=f"{asked.testset} {asked.lp}")
        places.append(place)
    order = np.random.default_rng(seed).permutation(len(block.segments))
    rows, left = [], []
    for system, human, scores in zip(block.systems, block.human, block.scores[places].swapaxes(0, 1), strict=True):
        is_scored = ~np.isnan(scores).any(axis=0)
        sample = order[(is_scored & ~np.isnan(human))[order]]
        if len(sample) < _FEWEST:
            left.append(system)
            continue
        found = assisted_mean(human[sample], scores[:, sample], scores[:, is_scored])
        counts = (len(sample), int(is_scored.sum()))
        rows.append((system, float(human[sample].mean()), found.estimate, found.low, found.high, found.saved, *counts))
    if not rows:
        raise QuestionError(
            f"no system has {counted(_FEWEST, 'segment')} that people judged and {', '.join(metrics)} scored"
        )
    names = ("judged_mean", "assisted", "low", "high", "saved")
    schema = {"system": pl.String, **dict.fromkeys(names, pl.Float64), "n_judged": pl.Int64, "n_segments": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(names).fill_nan(None))
    chosen = "+".join(block.metrics[place].name for place in places)
    notes = [
        f"saved: share of the judgements that {chosen} replaces; a metric that does not help saves about 0",
        "the interval holds where the judged segments are a random sample of all, not where they were chosen",
    ]
    if (frame["n_judged"] == frame["n_segments"]).all():
        notes.append("people judged every segment: there is nothing to estimate")
    if left:
        are = counted(len(left), "system")
        notes.append(f"{are} with fewer than {_FEWEST} judged segments excluded: {', '.join(left)}")
    parts = table_parts(("means", "assisted"), block, ("by", chosen), ("interval", "t_95"), ("seed", seed))
    return Result(frame.sort("assisted", descending=True), parts, (*notes, *block.selection.notes))
