"""Oracles: metrics made from the human-marked errors with other weights, and how measures rank them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Bools, Floats, ratio
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.answer import Result, fixed, table_notes, table_parts
from metaeval.results.inputs import Inputs, check_judged, where
from metaeval.results.notes import because
from metaeval.results.signature import line, option_parts
from metaeval.results.study import ranking_order
from metaeval.studies.robustness.noise import values_of, with_metrics
from queries.annotations import humans_with_errors
from queries.blocks import Block, places_of
from queries.catalog import ask
from queries.longitudinal import human_levels
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.human_protocols import behind

ORACLES = {
    "as marked": "as_marked",
    "no minor errors": "without_minor",
    "minor errors only": "only_minor",
    "flat weights": "n_weighted",
    "any error": "any",
}
ONE = "one annotator"
NEARLY = 0.999  # of two human scores that are the same up to rounding
_COLUMNS = ("kind", "name", "measure", "value", "rank", "n_systems", "n_scores", "reason")


def oracles(warehouse: Warehouse, asked: Slice, measures: Sequence[Measure], options: Options) -> Result:
    """Values and ranks of oracles, and of further rounds of human scores as their ceiling.

    Oracles score a segment by minus the errors that annotators marked in it, added up by annotator and averaged: with
    the weights as marked, without minor errors, minor errors alone, every error 1 ("flat weights"), 1 if there is any
    error, and by one annotator of several, drawn at random for each output. Errors are those of the slice's human
    score, or of another of its protocol that has them. All are on the (system, segment) pairs for which both are there.
    A round is another human score of segments, on the pairs that both scored; it has no rank among oracles.
    Columns: kind (oracle, round), name, measure, value (null with a reason), rank (by value, within the measure),
    n_systems, n_scores, reason, signature.
    Raises QuestionError: see `select`; no human score of segments, or neither errors nor another round.
    Source: DiIanni and Deutsch 2025.
    """
    block = Inputs(warehouse, asked, options.round_human).of_level("seg")
    check_judged(block)
    block = block.take(metrics=[])
    humans = human_levels(warehouse, asked.testset, asked.lp)
    source, penalties = _penalties(warehouse, block, options.seed)
    official = str(block.selection.human)
    rows = _oracle_rows(block, penalties, measures, options) if penalties else []
    notes = [] if source in (None, official) else [f"errors are those marked for {source}"]
    for human in sorted(humans):
        if human != official and humans[human][0]:
            try:
                other = Inputs(warehouse, replace(asked, human=human), options.round_human).of_level("seg")
            except QuestionError as error:
                notes.append(because(f"{human} gives no round: ", error))
                continue
            found = _round_rows(block, other, measures, options)
            if all(row["value"] is not None and row["value"] > NEARLY for row in found):
                notes.append(f"{human} has the same scores as {official}, so it is no separate round")
            rows += found
    if not rows:
        raise QuestionError(
            f"{where(block.selection)} has neither errors with weights nor a further human score of segments"
        )
    what = ",".join(map(str, measures))
    made = {row["name"] for row in rows if row["kind"] == "oracle"}
    drawn = (("seed", options.seed), *option_parts(options))
    parts = table_parts(("oracles", what), block, *drawn, n_metrics=len(made))
    schema: dict[str, Any] = dict.fromkeys(("kind", "name", "measure", "reason"), pl.String)
    schema |= {"value": pl.Float64} | dict.fromkeys(("rank", "n_systems", "n_scores"), pl.Int64)
    frame = pl.DataFrame(rows, schema={name: schema[name] for name in _COLUMNS}, orient="row")
    if source is None:
        notes.append(f"there are no oracles: no errors with weights are loaded for {official}")
    return Result(frame.with_columns(signature=pl.lit(line(parts))), parts, (*notes, *table_notes(block, {})))


def _penalties(warehouse: Warehouse, block: Block, seed: int) -> tuple[str | None, dict[str, Floats]]:
    """The human score behind the block's whose errors have weights, and penalties by oracle.

    The first of `human_protocols.behind`. Penalties are (N, S), NaN where no annotator looked; those of one annotator
    exist if an output has several.
    """
    there = humans_with_errors(warehouse, block.selection.evalset_id)
    for human in behind(str(block.selection.human), there):
        frame = ask(warehouse, "marked_errors", evalset=block.selection.evalset_id, human=human)
        if frame.height and int(frame["n_weighted"].sum()) and not int(frame["n_without_weight"].sum()):
            penalties, one = _placed(frame, block, seed)
            return human, penalties if one is None else {**penalties, ONE: one}
    return None, {}


def _placed(frame: pl.DataFrame, block: Block, seed: int) -> tuple[dict[str, Floats], Floats | None]:
    """Mean penalties over annotators (N, S) by oracle, and those of one annotator drawn, None if all have one."""
    places = places_of(block, frame["system"], frame["segment"])
    there = places >= 0
    outputs = places[there]
    shape = (len(block.systems), len(block.segments))
    size = shape[0] * shape[1]
    n = np.bincount(outputs, minlength=size)
    penalties = {}
    for name, column in ORACLES.items():
        of_each = (frame["n_weighted"] > 0).to_numpy() if column == "any" else frame[column].to_numpy()
        total = np.bincount(outputs, weights=of_each[there].astype(np.float64), minlength=size)
        penalties[name] = ratio(total, n).reshape(shape)
    if n.max(initial=0) < 2:
        return penalties, None
    order = np.random.default_rng(seed).permutation(len(outputs))
    one = np.full(size, np.nan)
    one[outputs[order]] = frame["as_marked"].to_numpy()[there][order]  # the last of each output stays
    return penalties, one.reshape(shape)


def _oracle_rows(
    block: Block, penalties: dict[str, Floats], measures: Sequence[Measure], options: Options
) -> list[dict[str, Any]]:
    looked = ~np.isnan(penalties["as marked"]) & block.judged
    if not looked.any():
        return []
    names = list(penalties)
    # 0.0 - penalty: -penalty would turn no errors into -0.0.
    made = _on(block, looked, {name: 0.0 - penalty for name, penalty in penalties.items()})
    rows = []
    for measure in measures:
        values = values_of(made, measure, options).tolist()
        order = ranking_order(values, names)
        rows += [_row("oracle", names[place], measure, values[place], rank, made) for place, rank in order]
        if ONE not in penalties:
            lone = _row("oracle", ONE, measure, float("nan"), None, made)
            rows.append(lone | {"reason": "no (system, segment) pair has two annotators"})
    return rows


def _round_rows(block: Block, other: Block, measures: Sequence[Measure], options: Options) -> list[dict[str, Any]]:
    """Another human score as a metric, on systems and segments of both."""
    n_systems, n_segments = other.human.shape
    places = places_of(block, np.repeat(other.systems, n_segments), np.tile(other.segments, n_systems))
    there = places >= 0
    flat = np.full(block.human.size, np.nan)
    flat[places[there]] = other.human.ravel()[there]
    scores = flat.reshape(block.human.shape)
    both = block.judged & ~np.isnan(scores)
    human = str(other.selection.human)
    if not both.any():
        nothing = "no (system, segment) pair in common"
        return [_row("round", human, one, float("nan"), None, None) | {"reason": nothing} for one in measures]
    made = _on(block, both, {human: scores})
    return [_row("round", human, one, float(values_of(made, one, options)[0]), None, made) for one in measures]


def _on(block: Block, judged: Bools, scores: dict[str, Floats]) -> Block:
    """The block restricted to some of what is judged, with these scores as metrics; systems without any are gone."""
    kept = np.flatnonzero(judged.any(axis=1))
    part = replace(
        block,
        systems=tuple(block.systems[place] for place in kept),
        human=np.where(judged, block.human, np.nan)[kept],
        human_submitted=np.full(len(kept), np.nan),
    )
    return with_metrics(part, list(scores), np.stack([np.where(judged, one, np.nan)[kept] for one in scores.values()]))


def _row(kind: str, name: str, measure: Measure, value: float, rank: int | None, made: Block | None) -> dict[str, Any]:
    is_undefined = np.isnan(value)
    return {
        "kind": kind,
        "name": name,
        "measure": str(measure),
        "value": None if is_undefined else value,
        "rank": rank,
        "n_systems": 0 if made is None else len(made.systems),
        "n_scores": 0 if made is None else int(made.judged.sum()),
        "reason": "not defined" if is_undefined else None,
    }


def reading(frame: pl.DataFrame) -> pl.DataFrame:
    """A line for each oracle and round, a column for each measure: value, and rank among oracles."""
    rounded = fixed("value", 4)
    cell = pl.when(pl.col("value").is_null()).then(pl.lit("-")).when(pl.col("rank").is_null()).then(rounded)
    shown = frame.with_columns(cell=cell.otherwise(pl.format("{} ({})", rounded, pl.col("rank"))))
    names = frame.select("kind", "name", "n_scores").unique(maintain_order=True)
    wide = shown.pivot(on="measure", index=["kind", "name"], values="cell", maintain_order=True)
    return wide.join(names, on=["kind", "name"], maintain_order="left").select(
        "kind", "name", "n_scores", pl.exclude("kind", "name", "n_scores")
    )
