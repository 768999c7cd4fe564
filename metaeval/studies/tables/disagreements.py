"""Where a metric and human scores, or two metrics, disagree most: outputs to read, or groups of them."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from metaeval.kernels.agreement.correlation import average_ranks
from metaeval.kernels.arrays.checks import Floats, Ints, ratio
from metaeval.kernels.arrays.scales import standardised, standardised_difference
from metaeval.measures.system_scores import NOISE
from metaeval.results.answer import Result, table_notes, table_parts
from metaeval.results.inputs import Inputs, check_judged, metric_place, no_metric, where
from metaeval.results.signature import line
from queries.annotations import Errors, error_schema, human_with_errors, marked_errors
from queries.blocks import Block
from queries.catalog import ask
from queries.reasons import Exclusion
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.wording import counted, option

Scale = Literal["ranks", "scores"]
By = Literal["segment", "system", "document", "domain", "length"]
N_LENGTHS = 4  # groups of source lengths
FEWEST = 3  # outputs that both score


def disagreements(
    warehouse: Warehouse,
    asked: Slice,
    metrics: Sequence[str] = (),
    *,
    scale: Scale = "ranks",
    by: By | None = None,
    n: int = 20,
    round_human: int | None = None,
) -> Result:
    """The outputs, or groups of outputs, on which two scorers disagree most.

    metrics: one, against the human score; two, against each other; none for the mean of the slice's metrics, each
    standardised, against the human score. by: groups instead of outputs. scale: what is standardised, scores or their
    ranks among the outputs, where equal scores share their mean rank. n: rows at most.
    Outputs: scorer_a, scorer_b, system, segment, domain, document, length (characters of the source), value_a, value_b,
    rank_a, rank_b (among n_outputs, 1 = the highest score, equal scores share the best), n_outputs (that both score),
    z_a, z_b (scores or ranks from the lowest score on, standardised over the slice), residual
    (`standardised_difference`, negative: a is lower), human_value, source, output, errors (a list: rater, category,
    severity, weight, start, end, is_in_source; null where none were marked for the human score), signature; by size of
    the residual, then system and segment.
    Groups: scorer_a, scorer_b, by, group, n (outputs), residual (mean), rms (root mean square of residuals), pearson
    (of the two inside the group), z_a, z_b (means), signature; by rms, then group; ranges of length in their order.
    Facts of outputs: n_first (outputs with the residual of the first row), n_equal (of each scorer: outputs with the
    score of the first row), errors_of (the human score that the errors were marked for, if it is another one).
    Raises QuestionError: see `select`; more than two metrics, an unknown or excluded one, fewer than 3 outputs with
    both scores, a scorer that gives all the same score, groups of what is not loaded.
    """
    block, (a, b), values, excluded = _compared(warehouse, asked, metrics, round_human)
    outputs = _outputs(warehouse, block, values, scale)
    r = float(np.corrcoef(outputs["z_a"].to_numpy(), outputs["z_b"].to_numpy())[0, 1])
    parts = table_parts(
        ("segments", f"{a},{b}"),
        block,
        ("n_outputs", outputs.height),
        ("residual", "difference_of_z"),
        ("scale", scale),
        ("by", by),
        ("round_human", round_human),
    )
    r_or_rho = "rho" if scale == "ranks" else "r"
    notes = [
        f"residual: z of the {scale} of {a} minus those of {b}, in standard deviations of this difference over "
        f"{outputs.height} outputs; negative: {a} is lower ({r_or_rho} = {r:.3f})",
        "rank 1: the highest score; equal scores share the best rank",
    ]
    if by is not None:
        frame = _groups(outputs, by, where(block.selection))
        order = "in order of length, in characters of the source" if by == "length" else "the largest first"
        notes.append(f"rms: root mean square of the residuals of a group; groups are listed {order}")
        if frame.height > n:
            notes.append(f"{n} of {frame.height} groups; -n lists more")
        frame = frame.head(n)
        if by == "length":
            frame = frame.sort(pl.col("group").str.extract(r"^(\d+)").cast(pl.Int64))
    else:
        # rounded, so that equal ones stay in the order of systems and segments
        size = np.round(np.abs(outputs["residual"].to_numpy()), 9)
        human = block.selection.human
        source = None if human is None else human_with_errors(warehouse, block.selection.evalset_id, [human])
        chosen = outputs[np.argsort(-size, kind="stable")[:n]]
        frame, remarks = _with_texts(warehouse, block, chosen, (a, b), source)
        notes += remarks
    names = {"scorer_a": pl.lit(a), "scorer_b": pl.lit(b)}
    frame = frame.select(**names, **{name: pl.col(name) for name in frame.columns}, signature=pl.lit(line(parts)))
    facts: dict[str, Any] = {}
    if by is None:
        n_equal = [] if frame.is_empty() else [_n_equal(outputs, frame, side) for side in ("a", "b")]
        residuals = outputs["residual"].round(9)
        n_first = residuals.eq(residuals[int(size.argmax())]).sum() if size.size else 0
        facts = {"n_first": n_first, "n_equal": n_equal, "errors_of": None if source == human else source}
    return Result(frame, parts, (*notes, *table_notes(block, excluded)), facts)


def _n_equal(outputs: pl.DataFrame, listed: pl.DataFrame, side: str) -> int:
    """How many outputs have the score of the first listed one."""
    return int((outputs[f"value_{side}"] == listed[f"value_{side}"][0]).sum())


def _compared(
    warehouse: Warehouse, asked: Slice, metrics: Sequence[str], round_human: int | None
) -> tuple[Block, list[str], list[Floats], dict[str, Exclusion]]:
    """The block, the names of the two scorers, and the values of each, (N, S), NaN where either has no score.

    Also metrics that a mean of them leaves out, with the reason.
    """
    names = list(dict.fromkeys(metrics))
    if len(names) > 2:
        raise QuestionError(
            f"{counted(len(names), 'metric')} named: one is compared with human scores, two with each other"
        )
    if names and asked.metrics:
        raise QuestionError(
            f"{option('metrics')} selects metrics for their mean; it cannot be combined with {option('metric')}"
        )
    named = replace(asked, metrics=tuple(names)) if names else asked
    inputs = Inputs(warehouse, named, round_human, human="optional" if len(names) == 2 else "required")
    block = inputs.of_level("seg")
    excluded: dict[str, Exclusion] = {}
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
        excluded, block = dict(block.excluded), block.take(metrics=block.with_segments)
        if not block.metrics:
            raise no_metric(block.selection, excluded)
        ordered, values = [f"mean of {counted(len(block.metrics), 'metric')}"], [_mean(block)]
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
    return block, ordered, [np.where(both, scores, np.nan) for scores in values], excluded


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


def _outputs(warehouse: Warehouse, block: Block, values: Sequence[Floats], scale: Scale) -> pl.DataFrame:
    """The outputs that both score, by system and segment: the columns of a list but for names, texts and errors."""
    rows, columns = np.nonzero(~np.isnan(values[0]))
    a, b = (side[rows, columns] for side in values)
    # On the scale of scores the long tail of MQM alone makes residuals, also where the metric ranks an output alike.
    on_scale = (average_ranks(a), average_ranks(b)) if scale == "ranks" else (a, b)
    selection = block.selection
    lengths = dict(ask(warehouse, "source_lengths", evalset=selection.evalset_id).iter_rows())
    of_segments = pl.DataFrame(
        {
            "segment": block.segments,
            "domain": pl.Series(selection.domains, dtype=pl.String),
            "document": pl.Series(selection.documents, dtype=pl.String),
            "length": pl.Series([lengths.get(int(segment)) for segment in block.segments], dtype=pl.Int64),
        }
    )
    return of_segments[columns].select(
        pl.Series("system", [block.systems[row] for row in rows], dtype=pl.String),
        pl.all(),
        value_a=pl.Series(a),
        value_b=pl.Series(b),
        rank_a=pl.Series(_ranks(a)),
        rank_b=pl.Series(_ranks(b)),
        n_outputs=pl.lit(len(rows), dtype=pl.Int64),
        z_a=pl.Series(standardised(on_scale[0])),
        z_b=pl.Series(standardised(on_scale[1])),
        residual=pl.Series(standardised_difference(*on_scale)),
        human_value=pl.Series(block.human[rows, columns]).fill_nan(None),
    )


def _with_texts(
    warehouse: Warehouse, block: Block, outputs: pl.DataFrame, scorers: Sequence[str], source: str | None
) -> tuple[pl.DataFrame, list[str]]:
    """Outputs with their texts and the errors of a human score, and what is to be said of these."""
    segments = sorted(set(outputs["segment"].to_list()))
    found = ask(warehouse, "texts_of_segments", evalset=block.selection.evalset_id, segments=segments)
    texts = {(segment, kind, name): text for segment, kind, name, text in found.iter_rows()}
    errors, remarks = _errors(warehouse, block, scorers, segments, source)
    sources, translations, marked = [], [], []
    for system, segment in outputs.select("system", "segment").iter_rows():
        sources.append(texts.get((segment, "source", None)))
        translations.append(texts.get((segment, "output", system), texts.get((segment, "reference", system))))
        marked.append(None if errors is None else list(map(asdict, errors.get((system, segment), ()))))
    if not any([*sources, *translations]):
        remarks.append(f"no texts of {where(block.selection)} are loaded")
    columns = {
        "source": pl.Series(sources, dtype=pl.String),
        "output": pl.Series(translations, dtype=pl.String),
        "errors": pl.Series(marked, dtype=pl.List(pl.Struct(error_schema()))),
    }
    return outputs.with_columns(**columns), remarks


def _ranks(scores: Floats) -> Ints:
    """(n,) competition ranks, 1 = the highest."""
    return np.searchsorted(np.sort(-scores), -scores) + 1


def _errors(
    warehouse: Warehouse, block: Block, scorers: Sequence[str], segments: Sequence[int], source: str | None
) -> tuple[Errors | None, list[str]]:
    """Errors of the segments' outputs, also those that the compared metrics predicted; None where none were marked for
    the human score or another of its protocol, nor predicted. source: the human score that they were marked for."""
    human, evalset = block.selection.human, block.selection.evalset_id
    errors = marked_errors(warehouse, evalset, source, segments, [name for name in scorers if name != human])
    if source is None:
        return errors or None, [f"no errors were marked for {human or 'a human score'} of {where(block.selection)}"]
    return errors, [] if source == human else [f"errors are those marked for {source}"]


def _groups(outputs: pl.DataFrame, by: By, of: str) -> pl.DataFrame:
    """Residuals by group of outputs, the largest root mean square first.

    Raises QuestionError: no output has a group.
    """
    labels = _length_ranges(outputs) if by == "length" else outputs[by].cast(pl.String)
    outputs = outputs.select("residual", "z_a", "z_b", label=labels).drop_nulls("label")
    if outputs.is_empty():
        missing = "source texts" if by == "length" else f"{by}s"
        raise QuestionError(f"{option('by', by)}: no {missing} of {of} are loaded")
    groups, place = np.unique(outputs["label"].to_numpy().astype(str), return_inverse=True)
    n = np.bincount(place)

    def mean(values: Floats) -> Floats:
        """(groups,) added up in the order of the outputs: threads of Polars would add in an order of their own."""
        return np.asarray(np.bincount(place, values) / n)

    residual, z_a, z_b = (outputs[name].to_numpy() for name in ("residual", "z_a", "z_b"))
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


def _length_ranges(outputs: pl.DataFrame) -> pl.Series:
    """The range of lengths that each output is in: quarters of the segments, by characters; null if not known."""
    used = outputs.unique("segment")["length"].drop_nulls().sort().to_numpy()
    if not used.size:
        return pl.Series([None] * outputs.height, dtype=pl.String)
    ends = np.unique(used[[max(0, -(-used.size * part // N_LENGTHS) - 1) for part in range(1, N_LENGTHS + 1)]])
    starts = [used[0], *(used[used > end][0] for end in ends[:-1])]
    names = [f"{low}-{high}" for low, high in zip(starts, ends, strict=True)]
    return outputs["length"].map_elements(lambda one: names[np.searchsorted(ends, one)], return_dtype=pl.String)
