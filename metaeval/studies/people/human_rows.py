"""Human scores as rows of a ranking: the value that another human score, or half of the judgements, reaches."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from metaeval.kernels.agreement.reliability import spearman_brown
from metaeval.kernels.arrays.checks import EQUAL
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.answer import Result
from metaeval.results.notes import because
from metaeval.results.sentences import named
from metaeval.results.signature import Part, Parts, line, option_parts, slice_parts, stamped
from metaeval.results.study import Study
from metaeval.studies.people.ceilings import (
    Humans,
    common_blocks,
    judged_by,
    one_annotator,
    second_human,
    second_humans,
    split_half,
)
from queries.blocks import Block
from queries.longitudinal import human_levels, judgements, metric_names
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.human_protocols import judgements_of, protocol_of, share_ratings
from warehouse.wording import are, counted, ends

SAME = 0.999  # correlation of two human scores that are made of the same judgements


_TEXTS = dict.fromkeys(("testset", "lp", "human", "metric", "measure", "signature", "kind"), pl.String)
_SCHEMA = {**_TEXTS, "value": pl.Float64, "n_systems": pl.Int64, "n_segments": pl.Int64, "is_bound": pl.Boolean}


def human_rows(warehouse: Warehouse, asked: Slice, study: Study, options: Options) -> Result:
    """Values of human scores by the measures of a ranking, as rows of it, and notes on how each was computed.

    Other human scores (one of each other protocol, and further rounds of the same, but not the ratings that the slice's
    human score is made of) are evaluated like metrics on the outputs that both they and this score cover. One random
    half of the judgements behind the human score is evaluated against the other half: Pearson's r with the
    Spearman-Brown correction, every other measure uncorrected, which makes it a lower bound (is_bound) for all
    judgements. These rows have no rank; n_systems and n_segments are null if they vary.
    """
    humans = human_levels(warehouse, asked.testset, asked.lp)
    narrow = _with_one_metric(warehouse, asked)
    results, notes = [_no_row()], []
    for result in study.results:
        block, measure = result.block, result.evaluation.measure
        official = str(block.selection.human)
        others = _compared_humans(humans, official, measure) if narrow is not None else []
        dependent = [name for name in others if share_ratings(name, official)]
        others = [name for name in others if name not in dependent]
        of_measure = [_second(warehouse, asked, narrow or asked, official, name, measure, options) for name in others]
        of_measure = of_measure or [_no_row("there is no other human score that it can be computed on")]
        if dependent:
            why = f"{official} is made of the same ratings, so it is not independent"
            of_measure.append(_no_row(f"{', '.join(dependent)} {are(len(dependent), have=True)} no row: {why}"))
        of_measure.append(_half(warehouse, asked, block, humans, measure, options))
        of_measure.append(_one_annotator_row(warehouse, asked, block, humans, measure, options))
        results += of_measure
        notes += [f"{measure}: {note}" for one in of_measure for note in one.notes]
    parts = [line for one in results for line in one.lines]
    against = {key: value for one in results for key, value in one.facts.get("against_others", {}).items()}
    return Result(pl.concat([one.frame for one in results]), parts, tuple(notes), {"against_others": against})


def _no_row(*why: str) -> Result:
    return Result(pl.DataFrame(schema=_SCHEMA), (), why)


def _row(asked: Slice, human: str, measure: Measure, name: str, note: str, parts: Parts, **cells: object) -> Result:
    row = {"testset": asked.testset, "lp": asked.lp, "human": human, "metric": name, "measure": str(measure)}
    row |= {"signature": line(parts), "kind": "human"}
    return Result(pl.DataFrame([row | cells], schema=_SCHEMA), parts, (f"{name}, {note}",))


def _with_one_metric(warehouse: Warehouse, asked: Slice) -> Slice | None:
    """The slice with one metric, to read as few scores as possible; None if no metric is loaded."""
    names = [name for name, _ in metric_names(warehouse, asked.testset, asked.lp)]
    return replace(asked, metrics=(names[0],), user_metrics=True, status="all", kind=None) if names else None


def _compared_humans(humans: Humans, official: str, measure: Measure) -> list[str]:
    """Human scores to compare with the official one: one of each other protocol, and all of its own."""
    protocol = protocol_of(official)
    alike = [
        name
        for name, (has_segments, has_systems, _) in sorted(humans.items())
        if judgements_of(name) != judgements_of(official)
        and protocol_of(name) == protocol
        and (has_segments or (has_systems and not measure.definition.needs_segments))
    ]
    return [*alike, *second_humans(humans, official, measure)]


def _second(
    warehouse: Warehouse, asked: Slice, narrow: Slice, official: str, name: str, measure: Measure, options: Options
) -> Result:
    """Another human score evaluated like a metric, or the reason why it is not. narrow: the slice with one metric."""
    try:
        one, other = common_blocks(warehouse, narrow, official, name, measure, options)
    except QuestionError as error:
        return _no_row(because(f"{name} has no row: ", error))
    if protocol_of(name) == protocol_of(official) and _is_same(one, other):
        return _no_row(f"{name} has no row: its scores equal those of {official}")
    ceiling = second_human(one, other, measure, options)
    if np.isnan(ceiling.value):
        return _no_row(f"{name} has no row: its value is not defined")
    n_systems, n_segments = len(one.systems), int((one.judged & other.judged).any(axis=0).sum())
    counts = {"n_systems": n_systems, "n_segments": n_segments}
    parts = _parts(asked, one, measure, options, ("human_row", name), *counts.items())
    note = (
        f"treated as a metric, on the systems ({n_systems}) and segments ({n_segments}) that it and {official} both "
        "judged"
    )
    return _row(asked, official, measure, f"human: {name}", note, parts, value=ceiling.value, is_bound=False, **counts)


def _is_same(one: Block, other: Block) -> bool:
    """Whether two human scores are equal up to rounding: by outputs, or by systems if they have no segment scores."""
    for first, second in ((one.human, other.human), (one.human_submitted, other.human_submitted)):
        both = ~np.isnan(first) & ~np.isnan(second)
        a, b = first[both], second[both]
        if len(a) > 2 and a.min() < a.max() and b.min() < b.max():
            return bool(np.corrcoef(a, b)[0, 1] > SAME)
    return False


def _half(
    warehouse: Warehouse, asked: Slice, block: Block, humans: Humans, measure: Measure, options: Options
) -> Result:
    """One half of the judgements against the other, or the reason why this is impossible."""
    if measure.definition.needs_spans:
        return _no_row("there is no split-half agreement: errors come from one annotator at a time")
    official = str(block.selection.human)
    name = judged_by(humans, official)
    if name is None:
        return _no_row(f"there is no split-half agreement: no single judgements behind {official} are loaded")
    single = judgements(warehouse, block.selection.evalset_id, name)
    ceiling = split_half(block.take(metrics=[]), single, name, measure, options)
    if ceiling is None:
        return _no_row(f"{name} has no split-half agreement: the halves have no output in common, or too few systems")
    label, corrected, between = f"split-half of {name}", "no", ""
    is_pearson = str(measure) in _PEARSON
    if is_pearson:
        low, value, high = map(float, spearman_brown([ceiling.low, ceiling.value, ceiling.high]))
        if np.isnan(value):
            return _no_row(f"{name} has no split-half agreement: the halves correlate negatively")
        between = f", {ceiling.value:.3f} between halves"
        ceiling = replace(ceiling, value=value, low=0.0 if np.isnan(low) else low, high=high)
        corrected = "yes"
    what = "as many judgements again" if is_pearson else "half of the judgements"
    note = (
        f"{ceiling.halves}, {counted(ceiling.n_splits or 0, 'split')}{between}: what {what} would reach on "
        f"{_outputs(single, measure)}: 2.5-97.5% range {ends(f'{ceiling.low:.3f}', f'{ceiling.high:.3f}')}"
    )
    if is_pearson:
        note += f"; even a perfect metric reaches only about √{ceiling.value:.3f} = {ceiling.value**0.5:.3f}"
    if name != official:
        note += f"; metrics are compared with {official}, which is not the score that was halved"
    shown = f"human: {label} ({'Spearman-Brown' if is_pearson else 'lower bound'})"
    how = (("human_row", label), ("halves", ceiling.halves), ("splits", ceiling.n_splits), ("seed", options.seed))
    parts = _parts(asked, block, measure, options, *how, ("spearman_brown", corrected))
    return _row(asked, official, measure, shown, note, parts, value=ceiling.value, is_bound=not is_pearson)


def _one_annotator_row(
    warehouse: Warehouse, asked: Slice, block: Block, humans: Humans, measure: Measure, options: Options
) -> Result:
    """One annotator against the mean of the others, and metrics against the same means; no row if this is undefined."""
    name = judged_by(humans, str(block.selection.human))
    if name is None or measure.definition.needs_spans:
        return _no_row()
    single = judgements(warehouse, block.selection.evalset_id, name)
    found = one_annotator(block, single, measure, options)
    if found is None:
        return _no_row()
    shown = f"human: one annotator of {name}"
    interval = "" if np.isnan(found.low) else f" [{found.low:.3f}, {found.high:.3f}] over resampled annotators"
    best = ""
    if not np.isnan(found.metrics).all():
        highest = np.nanmax(found.metrics)
        places = np.flatnonzero(found.metrics >= highest - EQUAL)
        names = named([block.metrics[place].name for place in places])
        which, has = ("metric", "has") if places.size == 1 else ("metrics", "have")
        best = f"; against the same means the best {which}, {names}, {has} {highest:.3f}"
    note = (
        f"{found.value:.3f}{interval}: an annotator of each segment, drawn {found.n_draws} times from "
        f"{counted(found.n_annotators, 'annotator')}, against the mean of the others ({found.n_others:.1f} on "
        f"average) on {counted(found.n_segments, 'segment')} with several{best} (column against_others)"
    )
    how = (("human_row", f"one annotator of {name}"), ("n_annotators", found.n_annotators), ("seed", options.seed))
    parts = _parts(asked, block, measure, options, *how, ("n_draws", found.n_draws))
    against = {
        (asked.testset, asked.lp, str(measure), choice.name): float(value)
        for choice, value in zip(block.metrics, found.metrics, strict=True)
        if not np.isnan(value)
    }
    against[asked.testset, asked.lp, str(measure), shown] = found.value
    official = str(block.selection.human)
    counts = {"n_systems": len(block.systems), "n_segments": found.n_segments}
    row = _row(asked, official, measure, shown, note, parts, value=found.value, is_bound=True, **counts)
    return replace(row, facts={"against_others": against})


_PEARSON = ("pearson", "pearson(by=none)")  # whose length Spearman and Brown's formula corrects


def _outputs(single: pl.DataFrame, measure: Measure) -> str:
    """Whether the halves score the same outputs: outputs with several judgements are in both, the others in one."""
    n = single.group_by("system", "segment").len()["len"]
    share = float((n > 1).mean() or 0.0)  # type: ignore[arg-type]
    if measure.definition.needs_segments or share == 1:
        return "the same outputs"
    return "new outputs" if share == 0 else f"outputs of which the halves share {share:.0%}"


def _parts(asked: Slice, block: Block, measure: Measure, options: Options, *how: Part) -> Parts:
    return stamped(
        ("measure", measure),
        *slice_parts(replace(block.selection, slice=asked)),
        *how,
        ("system_score", options.system_score),
        *option_parts(options),
    )


def with_people(frame: pl.DataFrame, found: Sequence[Result]) -> pl.DataFrame:
    """A ranking with the rows of human scores sorted in by value, lower bounds last, without rank and cluster.

    Adds two columns to the ranking: kind ("metric" or "human") after base_metric and, if outputs have several
    annotators, against_others after value: the value against the mean of all annotators but one.
    """
    columns = list(frame.columns)
    place = columns.index("base_metric") + 1
    metrics = frame.with_columns(kind=pl.lit("metric")).with_row_index("order")
    groups = ["testset", "lp", "measure"]
    first = metrics.group_by(groups, maintain_order=True).agg(group=pl.col("order").min())
    both = pl.concat([metrics, *(one.frame for one in found)], how="diagonal").join(
        first, on=groups, how="left", maintain_order="left"
    )
    place_of = ["group", pl.col("is_bound").fill_null(False), "value"]
    ordered = both.sort(place_of, descending=[False, False, True], nulls_last=True, maintain_order=True)
    ordered = ordered.select(*columns[:place], "kind", *columns[place:])
    against = {key: value for one in found for key, value in one.facts.get("against_others", {}).items()}
    if not against:
        return ordered
    keys = ("testset", "lp", "measure", "metric")
    values = [against.get(row) for row in ordered.select(keys).rows()]
    after = ordered.columns.index("value") + 1
    return ordered.insert_column(after, pl.Series("against_others", values, dtype=pl.Float64))
