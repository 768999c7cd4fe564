"""Error spans that metrics predict against those that people marked: how many are found, how severe, and where not."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from metaeval.answer import Result, or_none, table_notes, table_parts
from metaeval.inputs import Inputs
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.spans import Spans
from metaeval.kernels.spans.precision_recall import rates
from metaeval.measures import Measure
from metaeval.measures.span_agreement import SpanComparison, SpanMeasure
from queries.blocks import HUMAN_SCORER, Block
from queries.reasons import Reason
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.wording import option

By = Literal["domain", "system", "category", "severity"]
View = Literal["agreement", "severities", "outputs"]
SEVERITIES = ("minor", "major", "none")
_OF_AGREEMENT = {
    "metric": pl.String,
    **dict.fromkeys(("precision", "recall", "f", "predicted", "marked"), pl.Float64),
    "n_outputs": pl.Int64,
}


def span_table(
    warehouse: Warehouse, asked: Slice, measure: Measure, view: View = "agreement", *, by: By | None = None, n: int = 10
) -> Result:
    """One view of the spans of a slice.

    agreement: metric, precision, recall, f, spans an output (predicted, marked) and outputs with both; of each group
    where `by` says one. A category has recall alone: predictions have none. severities: pairs of overlapping spans by
    both severities, `none` for spans that overlap nothing; share: of those marked so. outputs: those with the most that
    is not matched, over all metrics.
    Raises QuestionError: a measure of something else; no marked errors; no metric predicts spans.
    """
    if not isinstance(measure, SpanMeasure):
        raise QuestionError(f"{option('measure')} {measure}: expected one of error spans: mpp, mp, em or char_f1")
    block = Inputs(warehouse, asked).block(measure)
    without = {
        choice.name: choice.segment_gap
        for choice in block.metrics
        if choice.segment_gap is not None and choice.segment_gap.reason is Reason.NO_SPANS
    }
    block = block.take(metrics=[choice.name not in without for choice in block.metrics])
    if not block.metrics:
        raise QuestionError(f"no metric of {asked.testset} {asked.lp} predicts error spans")
    if view == "agreement":
        frame = _agreement(block, measure, by)
    else:
        frame = _severities(block, measure) if view == "severities" else _outputs(block, measure, n)
    parts = table_parts(("spans", view), block, ("measure", measure), ("by", by))
    return Result(frame, parts, table_notes(block, without))


def _agreement(block: Block, measure: SpanMeasure, by: By | None) -> pl.DataFrame:
    rows = []
    for group, part in _groups(block, by):
        totals = measure.sums(part).sum(axis=(1, 2))
        p, r, f = rates(totals, measure["average"])
        for at, choice in enumerate(part.metrics):
            compared = measure.compared(part, choice.scorer_id)
            n = len(np.unique(compared.places))
            each = [
                float(compared.shares[spans.output].sum()) / n if n else None
                for spans in (compared.predicted, compared.gold)
            ]
            found = [p[at], r[at], f[at]] if n else [np.nan] * 3
            if by == "category":
                found[0] = found[2] = np.nan
                each[0] = None
            rows.append((group, choice.name, *map(or_none, map(float, found)), *each, n))
    frame = pl.DataFrame(rows, schema={"group": pl.String, **_OF_AGREEMENT}, orient="row")
    if by is None:
        return frame.drop("group").sort("f", descending=True, nulls_last=True, maintain_order=True)
    return frame.rename({"group": by})


def _groups(block: Block, by: By | None) -> Iterator[tuple[str | None, Block]]:
    """Parts of a block by the name of each; everything else counts as unjudged."""
    spans = block.spans
    assert spans is not None
    if by is None:
        yield None, block
    elif by == "severity":
        for severity in SEVERITIES[:2]:
            yield severity, replace(block, spans=spans.only(spans.is_major == (severity == "major")))
    elif by == "category":
        categories = spans.category
        is_gold = spans.scorer[spans.annotation] == HUMAN_SCORER
        names = sorted({str(one) for one in categories[is_gold] if one})
        if not names:
            raise QuestionError("the marked errors have no categories")
        for name in names:
            yield name, replace(block, spans=spans.only(~is_gold | (categories == name)))
    else:
        domain_of = dict(zip(block.selection.segments, block.selection.domains, strict=True))
        of_segments = [domain_of[int(segment)] or "unknown" for segment in block.segments]
        parts = np.array(of_segments if by == "domain" else block.systems, dtype=str)
        for name in dict.fromkeys(parts.tolist()):
            chosen = parts == name
            kept = chosen[np.newaxis] if by == "domain" else chosen[:, np.newaxis]
            yield name, replace(block, human=np.where(kept, block.human, np.nan))


def _overlaps(compared: SpanComparison) -> tuple[Ints, Ints]:
    """Places of gold and of predicted spans that overlap."""
    gold, predicted = compared.gold, compared.predicted
    first, last = (np.searchsorted(predicted.output, gold.output, side=side) for side in ("left", "right"))
    n = last - first
    of_gold = np.repeat(np.arange(len(n)), n)
    of_predicted = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + np.repeat(first, n)
    is_same = gold.side[of_gold] == predicted.side[of_predicted]
    is_same &= predicted.start[of_predicted] < gold.end[of_gold]
    is_same &= gold.start[of_gold] < predicted.end[of_predicted]
    return of_gold[is_same], of_predicted[is_same]


def _severities(block: Block, measure: SpanMeasure) -> pl.DataFrame:
    rows = []
    for choice in block.metrics:
        compared = measure.compared(block, choice.scorer_id)
        of_gold, of_predicted = _overlaps(compared)
        n = np.zeros((3, 3), dtype=np.int64)
        np.add.at(n, (_severity(compared.gold)[of_gold], _severity(compared.predicted)[of_predicted]), 1)
        n[:, 2] += _alone(compared.gold, of_gold)
        n[2] += _alone(compared.predicted, of_predicted)
        for marked, counts in zip(SEVERITIES, n, strict=True):
            for predicted, count in zip(SEVERITIES, counts, strict=True):
                if (marked, predicted) != ("none", "none"):
                    share = float(count / counts.sum()) if counts.sum() else None
                    rows.append((choice.name, marked, predicted, int(count), share))
    schema = {"metric": pl.String, "marked": pl.String, "predicted": pl.String, "n": pl.Int64, "share": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _severity(spans: Spans) -> Ints:
    """Places among `SEVERITIES`."""
    return spans.is_major.astype(np.int64)


def _alone(spans: Spans, overlapping: Ints) -> Ints:
    """(3,) how many spans of each severity are not among these places."""
    is_alone = np.ones(len(spans.start), dtype=np.bool_)
    is_alone[overlapping] = False
    return np.bincount(_severity(spans)[is_alone], minlength=3).astype(np.int64)


def _outputs(block: Block, measure: SpanMeasure, n: int) -> pl.DataFrame:
    rows = []
    for choice in block.metrics:
        compared = measure.compared(block, choice.scorer_id)
        sums = measure.of_outputs(compared)
        p, r, f = rates(sums, "micro")
        apart = sums[:, 1] - sums[:, 0] + sums[:, 3] - sums[:, 2]
        n_predicted, n_marked = (
            np.bincount(spans.output, minlength=len(sums)) for spans in (compared.predicted, compared.gold)
        )
        for at in _greatest(apart, n):
            row, column = divmod(int(compared.places[at]), len(block.segments))
            place = block.systems[row], int(block.segments[column])
            counts = int(n_predicted[at]), int(n_marked[at])
            rows.append((choice.name, *place, float(apart[at]), *counts, float(p[at]), float(r[at]), float(f[at])))
    schema = {
        **dict.fromkeys(("metric", "system"), pl.String),
        "segment": pl.Int64,
        "apart": pl.Float64,
        **dict.fromkeys(("predicted", "marked"), pl.Int64),
        **dict.fromkeys(("precision", "recall", "f"), pl.Float64),
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.sort("apart", descending=True, maintain_order=True).head(n)


def _greatest(values: Floats, n: int) -> Ints:
    """Places of the greatest that are not 0, the first of equal ones first."""
    order = np.argsort(-values, kind="stable")[:n]
    return order[values[order] > 0]
