"""Predicted error spans compared with those that annotators marked: precision, recall, severities and differences."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.spans import Spans
from metaeval.kernels.spans.precision_recall import rates
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.measures.span_agreement import SpanComparison, SpanMeasure
from metaeval.results.answer import Result, or_none, table_notes, table_parts
from metaeval.results.inputs import Inputs, where
from metaeval.results.signature import Parts
from metaeval.studies.people.annotators import annotators
from metaeval.studies.people.ceilings import as_metric, common_blocks
from queries.annotations import humans_with_errors
from queries.blocks import HUMAN_SCORER, Block
from queries.evalsets import expand
from queries.reasons import Exclusion, Reason
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT
from warehouse.facts.human_protocols import share_ratings
from warehouse.wording import counted, option

By = Literal["domain", "system", "category", "severity"]
View = Literal["agreement", "severities", "outputs"]
SEVERITIES = ("minor", "major", "none")
_OF_AGREEMENT = {
    "metric": pl.String,
    **dict.fromkeys(("precision", "recall", "f", "predicted", "marked"), pl.Float64),
    "n_outputs": pl.Int64,
}


def span_table(
    warehouse: Warehouse,
    asked: Slice,
    measure: Measure,
    view: View = "agreement",
    *,
    by: By | None = None,
    n: int = 10,
    ceiling: bool = False,
    pool: bool = False,
) -> Result:
    """One view of the spans of a slice.

    agreement: metric, precision, recall, f, spans per output (predicted, marked) and outputs with both; by group if
    `by` is given. Categories have only recall, because predictions have no category. severities: pairs of overlapping
    spans by both severities, `none` for spans that overlap nothing; share: of the spans marked with that severity.
    outputs: those with the most unmatched spans, over all metrics.
    ceiling: adds rows for other human scores with marked errors, evaluated like metrics; a note gives the metrics'
    values on the same outputs. pool: outputs of several evaluation sets count together.
    Raises QuestionError: not a measure of spans; no marked errors; no metric predicts spans.
    """
    if not isinstance(measure, SpanMeasure):
        raise QuestionError(f"{option('measure')} {measure}: expected one of error spans: mpp, mp, em or char_f1")
    if pool:
        return _pooled(warehouse, asked, measure, ceiling)
    block, without = _block(warehouse, asked, measure, needs_metrics=not ceiling)
    people, notes = _people(warehouse, block, measure) if ceiling else ({}, [])
    if view == "agreement":
        rows = [
            row for part in (block, *(as_metric(*pair) for pair in people.values())) for row in _sums(part, measure, by)
        ]
        if not rows:
            raise _without_spans(warehouse, block, notes)
        frame = _agreement(rows, measure, by)
        if by is None:
            notes += _on_the_same_outputs(
                {human: _sums(pair[0], measure, None) for human, pair in people.items()}, frame, measure
            )
    else:
        frame = _severities(block, measure) if view == "severities" else _outputs(block, measure, n)
    parts = table_parts(
        ("spans", view), block, ("measure", measure), ("by", by), ("people", "yes" if ceiling else None)
    )
    return Result(frame, parts, (*table_notes(block, without), *notes), {"n_humans": len(people)})


def _block(
    warehouse: Warehouse, asked: Slice, measure: SpanMeasure, *, needs_metrics: bool = True
) -> tuple[Block, dict[str, Exclusion]]:
    """The block with the metrics that predict spans, and the reasons why the others are excluded."""
    block = Inputs(warehouse, asked).block(measure)
    without = {
        choice.name: choice.segment_gap
        for choice in block.metrics
        if choice.segment_gap is not None and choice.segment_gap.reason is Reason.NO_SPANS
    }
    block = block.take(metrics=[choice.name not in without for choice in block.metrics])
    if not block.metrics and needs_metrics:
        raise _without_spans(warehouse, block)
    return block, without


def _without_spans(warehouse: Warehouse, block: Block, notes: Sequence[str] = ()) -> QuestionError:
    """The error if no metric predicts spans. notes: why annotators have no rows either, if these are selected."""
    reason, hint = f"no metric of {IT} predicts error spans", ""
    if notes:
        reason += f", and {'; '.join(notes)}"
        asked, human = block.selection.slice, str(block.selection.human)
        with suppress(QuestionError):
            annotators(warehouse, asked.testset, asked.lp, human, "pairs")
            named = f" {option('human', human)}" if asked.human else ""
            pairs = f"`scorehouse annotators {where(block.selection)}{named} {option('view', 'pairs')}`"
            hint = f"{pairs} compares annotators of {human} who judged the same outputs"
    elif _others(warehouse, block)[0]:
        hint = f"{option('ceiling', True)} has the other human scores with marked errors"
    return QuestionError(reason, where=where(block.selection), hint=hint)


def _others(warehouse: Warehouse, block: Block) -> tuple[list[str], list[str]]:
    """Other human scores with marked errors of their own, and those of them that are made of the same ratings."""
    official = str(block.selection.human)
    others = sorted({*humans_with_errors(warehouse, block.selection.evalset_id)} - {official})
    same = [name for name in others if share_ratings(name, official)]
    return [name for name in others if name not in same], same


def _people(
    warehouse: Warehouse, block: Block, measure: SpanMeasure
) -> tuple[dict[str, tuple[Block, Block]], list[str]]:
    """Blocks of both human scores on their common outputs, by other human score, and why others have none."""
    found: dict[str, tuple[Block, Block]] = {}
    official, asked = str(block.selection.human), block.selection.slice
    others, same = _others(warehouse, block)
    notes = [f"{name} has no row: {official} is made of the same ratings, so it is not independent" for name in same]
    for human in others:
        try:
            one, other = common_blocks(warehouse, asked, official, human, measure, Options())
        except QuestionError as error:
            notes.append(f"{human} has no row: {error.text}")
        else:
            found[human] = one.take(metrics=[choice.segment_gap is None for choice in one.metrics]), other
    return found, notes if others else [*notes, "no other human score has marked errors"]


def _on_the_same_outputs(
    rows: Mapping[str, Sequence["_SpanSums"]], frame: pl.DataFrame, measure: SpanMeasure
) -> list[str]:
    """For each other annotator the best metric on the outputs that the annotator judged.

    rows: sums of metrics on these outputs. frame: agreement of metrics and of the annotators.
    """
    notes = []
    for human, f, n in frame.filter(pl.col("metric").is_in([*rows])).select("metric", "f", "n_outputs").rows():
        others = _agreement(rows[human], measure, None).drop_nulls("f").head(1)
        notes += [
            f"on the {counted(n, 'output')} that {human} judged: {metric} F {value:.3f}, {human} F {f:.3f}"
            for metric, value in others.select("metric", "f").rows()
            if f is not None
        ]
    return notes


def _pooled(warehouse: Warehouse, asked: Slice, measure: SpanMeasure, ceiling: bool) -> Result:
    """Agreement over all outputs of several evaluation sets; each metric on those where it predicts spans."""
    rows: list[_SpanSums] = []
    common: dict[str, list[_SpanSums]] = {}
    parts: list[Parts] = []
    notes: list[str] = []
    for testset, lp in expand(warehouse, asked.testset, asked.lp, asked.human).chosen:
        one = replace(asked, testset=testset, lp=lp)
        try:
            block, _ = _block(warehouse, one, measure, needs_metrics=not ceiling)
            people, more = _people(warehouse, block, measure) if ceiling else ({}, [])
        except QuestionError as error:
            notes.append(f"{testset} {lp} is skipped: {error.text}")
            continue
        for part in (block, *(as_metric(*pair) for pair in people.values())):
            rows += _sums(part, measure, None)
        for human, (judged, _) in people.items():
            common.setdefault(human, []).extend(_sums(judged, measure, None))
        notes += [f"{testset} {lp}: {note}" for note in more]
        parts.append(
            table_parts(("spans", "pooled"), block, ("measure", measure), ("people", "yes" if ceiling else None))
        )
    if not rows:
        raise QuestionError("; ".join(notes))
    frame = _agreement(_together(rows), measure, None)
    notes += _on_the_same_outputs({human: _together(of) for human, of in common.items()}, frame, measure)
    return Result(frame, parts, tuple(notes), {"n_humans": len(common)})


def _together(rows: Sequence["_SpanSums"]) -> list["_SpanSums"]:
    """One row for each scorer."""
    found: dict[str, _SpanSums] = {}
    for row in rows:
        before = found.get(row.name)
        found[row.name] = row if before is None else row.plus(before)
    return list(found.values())


@dataclass(frozen=True)
class _SpanSums:
    """Sums behind the agreement of one scorer: (4,) sums of the measure, predicted and marked spans, outputs."""

    group: str | None
    name: str
    sums: Floats
    n_predicted: float
    n_marked: float
    n_outputs: int

    def plus(self, other: "_SpanSums") -> "_SpanSums":
        counts = (self.n_predicted + other.n_predicted, self.n_marked + other.n_marked)
        return _SpanSums(self.group, self.name, self.sums + other.sums, *counts, self.n_outputs + other.n_outputs)


def _sums(block: Block, measure: SpanMeasure, by: By | None) -> list[_SpanSums]:
    rows = []
    for group, part in _groups(block, by):
        totals = measure.sums(part).sum(axis=(1, 2))
        for at, choice in enumerate(part.metrics):
            compared = measure.compared(part, choice.scorer_id)
            predicted, marked = (
                float(compared.shares[spans.output].sum()) for spans in (compared.predicted, compared.gold)
            )
            rows.append(_SpanSums(group, choice.name, totals[at], predicted, marked, len(np.unique(compared.places))))
    return rows


def _agreement(rows: Sequence[_SpanSums], measure: SpanMeasure, by: By | None) -> pl.DataFrame:
    sums = np.array([row.sums for row in rows]).reshape(len(rows), 4)
    values = np.array(rates(sums, measure["average"])).T
    found = []
    for row, value in zip(rows, values, strict=True):
        each = [count / row.n_outputs if row.n_outputs else None for count in (row.n_predicted, row.n_marked)]
        p, r, f = value if row.n_outputs else [np.nan] * 3
        if by == "category":
            p, f, each[0] = np.nan, np.nan, None
        found.append((row.group, row.name, *map(or_none, map(float, (p, r, f))), *each, row.n_outputs))
    frame = pl.DataFrame(found, schema={"group": pl.String, **_OF_AGREEMENT}, orient="row")
    if by is None:
        return frame.drop("group").sort("f", descending=True, nulls_last=True, maintain_order=True)
    return frame.rename({"group": by})


def _groups(block: Block, by: By | None) -> Iterator[tuple[str | None, Block]]:
    """Parts of a block by name; in each, all other outputs count as unjudged."""
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
    """Places of the largest non-zero values; ties in their original order."""
    order = np.argsort(-values, kind="stable")[:n]
    return order[values[order] > 0]
