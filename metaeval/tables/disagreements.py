"""Where a metric and people, or two metrics, disagree most: outputs to read, or groups of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from metaeval.answer import Table, table_notes, table_signature
from metaeval.inputs import Inputs, check_judged, metric_place, no_metric, where
from metaeval.kernels.arrays.checks import Floats, Ints, ratio
from metaeval.kernels.arrays.scales import standardised, standardised_difference
from metaeval.system_scores import NOISE
from queries.annotations import MarkedError, error_schema, human_with_errors, marked_errors
from queries.blocks import Block
from queries.catalog import ask
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.wording import counted, option

By = Literal["segment", "system", "document", "domain", "length"]
N_LENGTHS = 4  # groups of source lengths
FEWEST = 3  # outputs that both score


@dataclass(frozen=True)
class _Sides:
    """Two scorers over a block. a, b: names; value_a, value_b: (N, S), NaN where either has no score."""

    block: Block
    a: str
    b: str
    value_a: Floats
    value_b: Floats

    @property
    def outputs(self) -> tuple[Ints, Ints]:
        """Rows and columns of the outputs that both score."""
        rows, columns = np.nonzero(~np.isnan(self.value_a))
        return rows, columns


@dataclass(frozen=True)
class Output:
    """One output of a list: its texts and the errors that people marked in it."""

    place: int
    source: str | None
    output: str | None
    errors: tuple[MarkedError, ...]


@dataclass(frozen=True)
class Disagreements:
    """table: what is listed, most disagreement first. outputs: texts and errors of its rows; none for groups."""

    table: Table
    outputs: tuple[Output, ...] = ()


def disagreements(
    warehouse: Warehouse,
    asked: Slice,
    metrics: Sequence[str] = (),
    *,
    by: By | None = None,
    n: int = 20,
    round_human: int | None = None,
) -> Disagreements:
    """The outputs, or groups of outputs, on which two scorers disagree most.

    metrics: one, against the human score; two, against each other; none for the mean of the slice's metrics, each
    standardised, against the human score. by: groups instead of outputs. scale: what is standardised, scores or their
    ranks among the outputs. n: rows at most.
    Outputs: scorer_a, scorer_b, system, segment, domain, document, length (characters of the source), value_a, value_b,
    rank_a, rank_b (among n_outputs, 1 = the highest score, equal scores share the best), n_outputs (that both score),
    z_a, z_b (scores or ranks, standardised over the slice), residual (`standardised_difference`, negative: a is
    lower), human_value, source, output, errors (a list: rater, category, severity, weight, start, end, is_in_source;
    null where none were marked for the human score), signature; by size of the residual, then system and segment.
    Groups: scorer_a, scorer_b, by, group, n (outputs), residual (mean), rms (root mean square of residuals), pearson
    (of the two inside the group), z_a, z_b (means), signature; by rms, then group.
    Raises QuestionError: see `select`; more than two metrics, an unknown or excluded one, fewer than 3 outputs with
    both scores, a scorer that gives all the same score, groups of what is not loaded.
    """
    sides = _sides(warehouse, asked, metrics, round_human)
    rows, columns = sides.outputs
    first, second = sides.value_a[rows, columns], sides.value_b[rows, columns]
    z_a, z_b = standardised(first), standardised(second)
    residual = standardised_difference(first, second)
    r = float(np.corrcoef(z_a, z_b)[0, 1])
    found = _Found(sides, rows, columns, first, second, z_a, z_b, residual)
    signature = table_signature(
        ("segments", f"{sides.a},{sides.b}"),
        sides.block,
        ("n_outputs", len(rows)),
        ("residual", "difference_of_z"),
        ("by", by),
        ("round_human", round_human),
    )
    notes = [
        f"residual: z of {sides.a} minus z of {sides.b}, in standard deviations of this difference over "
        f"{len(rows)} outputs; negative: {sides.a} is lower (r = {r:.3f})"
    ]
    outputs: tuple[Output, ...] = ()
    if by is not None:
        frame = _groups(warehouse, found, by)
        notes.append("rms: root mean square of the residuals; the groups with the largest come first")
        if frame.height > n:
            notes.append(f"{n} of {frame.height} groups; -n lists more")
        frame = frame.head(n)
    else:
        frame, outputs, remark = _listed(warehouse, found, n)
        notes += remark
    names = {"scorer_a": pl.lit(sides.a), "scorer_b": pl.lit(sides.b)}
    frame = frame.select(**names, **{name: pl.col(name) for name in frame.columns}, signature=pl.lit(signature))
    return Disagreements(Table(frame, signature, (*notes, *table_notes(sides.block, {}))), outputs)


@dataclass(frozen=True)
class _Found:
    """The outputs that both score: rows and columns of the block, values and standardised values, residuals."""

    sides: _Sides
    rows: Ints
    columns: Ints
    first: Floats
    second: Floats
    z_a: Floats
    z_b: Floats
    residual: Floats


def _sides(warehouse: Warehouse, asked: Slice, metrics: Sequence[str], round_human: int | None) -> _Sides:
    names = list(dict.fromkeys(metrics))
    if len(names) > 2:
        raise QuestionError(f"{counted(len(names), 'metric')} named: one is compared with people, two with each other")
    if names and asked.metrics:
        raise QuestionError(
            f"{option('metrics')} chooses metrics for their mean; it does not go with {option('metric')}"
        )
    named = replace(asked, metrics=tuple(names)) if names else asked
    inputs = Inputs(warehouse, named, round_human, human="optional" if len(names) == 2 else "required")
    block = inputs.of_level("seg")
    if len(names) < 2:
        check_judged(block)
    if names:
        chosen = [_metric(block, name) for name in names]
        ordered = [block.metrics[place].name for place in chosen]
        block = block.take(metrics=[place in chosen for place in range(len(block.metrics))])
        by_name = {choice.name: scores for choice, scores in zip(block.metrics, block.scores, strict=True)}
        if len(names) == 2 and len(set(ordered)) < 2:
            raise QuestionError(f"{names[0]!r} and {names[1]!r} are the same metric")
        values = [np.where(block.judged, by_name[name], np.nan) for name in ordered]
    else:
        excluded, block = block.excluded, block.take(metrics=block.with_segments)
        if not block.metrics:
            raise no_metric(block.selection, excluded)
        ordered, values = [f"mean of {len(block.metrics)} metrics"], [_mean(block)]
    if len(names) < 2:
        ordered, values = [str(block.selection.human), *ordered], [block.human, *values]
    both = ~np.isnan(values[0]) & ~np.isnan(values[1])
    of = where(block.selection)
    if both.sum() < FEWEST:
        judged = f" that {block.selection.human} judged" if len(names) == 2 and block.selection.human else ""
        few = f"{counted(int(both.sum()), 'output')} of {of}{judged}"
        raise QuestionError(f"{ordered[0]} and {ordered[1]} both score {few}, too few to compare")
    for name, scores in zip(ordered, values, strict=True):
        there = scores[both]
        if there.min() == there.max():
            raise QuestionError(f"{name} gives all outputs of {of} the same score: there is no disagreement to measure")
    value_a, value_b = (np.where(both, scores, np.nan) for scores in values)
    return _Sides(block, ordered[0], ordered[1], value_a, value_b)


def _metric(block: Block, name: str) -> int:
    """The place of a metric in a block. Raises QuestionError: there is none of the name with segment scores."""
    place = metric_place(block, name)
    if place is None:
        raise unknown("metric", name, [choice.name for choice in block.selection.metrics], where=where(block.selection))
    chosen = block.metrics[place]
    if chosen.segment_gap is not None:
        raise QuestionError(f"{chosen.name} of {where(block.selection)}: {chosen.segment_gap}")
    return place


def _mean(block: Block) -> Floats:
    """(N, S): mean over metrics of their standardised scores of what is judged; constant metrics do not count, and 0
    where all are constant.
    """
    each = np.array([standardised(np.where(block.judged, scores, np.nan)) for scores in block.scores])
    each = each[~np.isnan(each).all(axis=(1, 2))]
    return np.asarray(each.mean(axis=0)) if len(each) else np.where(block.judged, 0.0, np.nan)


def _lengths(warehouse: Warehouse, block: Block) -> Floats:
    """(S,) characters of each source; NaN where it is not loaded."""
    frame = ask(warehouse, "source_lengths", evalset=block.selection.evalset_id)
    known = dict(frame.iter_rows())
    return np.array([known.get(int(segment), np.nan) for segment in block.segments], dtype=np.float64)


def _listed(warehouse: Warehouse, found: _Found, n: int) -> tuple[pl.DataFrame, tuple[Output, ...], list[str]]:
    """The outputs with the largest residuals, with their texts and errors; and what is to be said of these."""
    block = found.sides.block
    size = np.round(np.abs(found.residual), 9)  # equal ones stay in the order of systems and segments
    order = np.argsort(-size, kind="stable")[:n]
    rows, columns = found.rows[order], found.columns[order]
    segments = block.segments[columns]
    texts = _texts(warehouse, block.selection.evalset_id, segments)
    lengths = _lengths(warehouse, block)[columns]
    systems = [block.systems[row] for row in rows]
    errors, remark = _errors(warehouse, found, segments)
    outputs = tuple(
        Output(
            place,
            texts.get((int(segment), "source", None)),
            texts.get((int(segment), "output", system), texts.get((int(segment), "reference", system))),
            tuple(errors.get((system, int(segment)), ())) if errors is not None else (),
        )
        for place, (system, segment) in enumerate(zip(systems, segments, strict=True), start=1)
    )
    listed = [None if errors is None else [error.as_json() for error in one.errors] for one in outputs]
    selection = block.selection
    frame = pl.DataFrame(
        {
            "system": pl.Series(systems, dtype=pl.String),
            "segment": segments,
            "domain": pl.Series([selection.domains[column] for column in columns], dtype=pl.String),
            "document": pl.Series([selection.documents[column] for column in columns], dtype=pl.String),
            "length": pl.Series([None if np.isnan(one) else int(one) for one in lengths], dtype=pl.Int64),
            "value_a": found.first[order],
            "value_b": found.second[order],
            "rank_a": _ranks(found.first)[order],
            "rank_b": _ranks(found.second)[order],
            "n_outputs": pl.Series([len(found.rows)] * len(order), dtype=pl.Int64),
            "z_a": found.z_a[order],
            "z_b": found.z_b[order],
            "residual": found.residual[order],
            "human_value": pl.Series(block.human[rows, columns]).fill_nan(None),
            "source": pl.Series([one.source for one in outputs], dtype=pl.String),
            "output": pl.Series([one.output for one in outputs], dtype=pl.String),
            "errors": pl.Series(listed, dtype=pl.List(pl.Struct(error_schema()))),
        }
    )
    if not any(one.source or one.output for one in outputs):
        remark.append(f"no texts of {where(selection)} are loaded")
    return frame, outputs, remark


def _ranks(scores: Floats) -> Ints:
    """(n,) competition ranks, 1 = the highest."""
    return np.searchsorted(np.sort(-scores), -scores) + 1


def _texts(warehouse: Warehouse, evalset: int, segments: Ints) -> dict[tuple[int, str, str | None], str]:
    rows = ask(warehouse, "texts_of_segments", evalset=evalset, segments=sorted({int(one) for one in segments}))
    return {(segment, kind, name): text for segment, kind, name, text in rows.iter_rows()}


def _errors(
    warehouse: Warehouse, found: _Found, segments: Ints
) -> tuple[Mapping[tuple[str, int], Sequence[MarkedError]] | None, list[str]]:
    """Errors of the segments' outputs, also those that the compared metrics predicted; None where none were marked for
    the human score or another of its protocol, nor predicted."""
    block = found.sides.block
    human, evalset = block.selection.human, block.selection.evalset_id
    source = None if human is None else human_with_errors(warehouse, evalset, [human])
    named = [name for name in (found.sides.a, found.sides.b) if name != human]
    errors = marked_errors(warehouse, evalset, source, sorted({int(one) for one in segments}), named)
    if source is None:
        return errors or None, [f"no errors were marked for {human or 'a human score'} of {where(block.selection)}"]
    return errors, [] if source == human else [f"errors are those marked for {source}"]


def _groups(warehouse: Warehouse, found: _Found, by: By) -> pl.DataFrame:
    """Residuals by group of outputs, the largest root mean square first."""
    labels = np.array(_labels(warehouse, found, by), dtype=object)
    there = np.array([label is not None for label in labels])
    groups, place = np.unique(labels[there].astype(str), return_inverse=True)
    n = np.bincount(place)

    def mean(values: Floats) -> Floats:
        """(groups,) added up in the order of the outputs: threads of Polars would add in an order of their own."""
        return np.asarray(np.bincount(place, values) / n)

    residual, z_a, z_b = found.residual[there], found.z_a[there], found.z_b[there]
    mean_a, mean_b = mean(z_a), mean(z_b)
    off_a, off_b = z_a - mean_a[place], z_b - mean_b[place]
    square_a, square_b = mean(off_a**2), mean(off_b**2)
    varies = (square_a > NOISE * mean(z_a**2)) & (square_b > NOISE * mean(z_b**2))
    pearson = ratio(mean(off_a * off_b), np.sqrt(square_a * square_b), varies)
    frame = pl.DataFrame(
        {
            "group": groups.tolist(),
            "n": n,
            "residual": mean(residual),
            "rms": np.sqrt(mean(residual**2)),
            "pearson": np.clip(pearson, -1, 1),
            "z_a": mean_a,
            "z_b": mean_b,
        },
        schema_overrides={"group": pl.String, "n": pl.Int64},
    ).with_columns(pl.col("pearson").fill_nan(None))
    return frame.sort(-pl.col("rms").round(9), "group").select(pl.lit(by).alias("by"), pl.all())


def _labels(warehouse: Warehouse, found: _Found, by: By) -> list[str | None]:
    """The group of each output. Raises QuestionError: no output has one."""
    block = found.sides.block
    selection = block.selection
    if by == "system":
        return [block.systems[row] for row in found.rows]
    of_segment: list[str | None]
    if by == "segment":
        of_segment = [str(segment) for segment in block.segments]
    elif by == "length":
        of_segment = _length_labels(_lengths(warehouse, block), found.columns)
    else:
        of_segment = list(selection.domains if by == "domain" else selection.documents)
    labels = [of_segment[column] for column in found.columns]
    if all(label is None for label in labels):
        missing = "source texts" if by == "length" else f"{by}s"
        raise QuestionError(f"{option('by', by)}: no {missing} of {where(selection)} are loaded")
    return labels


def _length_labels(lengths: Floats, columns: Ints) -> list[str | None]:
    """For each segment the range of lengths that it is in: quarters of the listed segments, by characters."""
    used = lengths[np.unique(columns)]
    used = np.sort(used[~np.isnan(used)])
    if not used.size:
        return [None] * len(lengths)
    ends = np.unique(used[[max(0, -(-used.size * part // N_LENGTHS) - 1) for part in range(1, N_LENGTHS + 1)]])
    starts = [used[0], *(used[used > end][0] for end in ends[:-1])]
    names = [f"{int(low)}-{int(high)}" for low, high in zip(starts, ends, strict=True)]
    places = np.searchsorted(ends, lengths)
    return [
        None if np.isnan(length) or place >= len(names) else names[place]
        for length, place in zip(lengths, places, strict=True)
    ]
