"""Data sets of other sizes, drawn from the scores of an evaluation set: its segments, systems or single judgements."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from metaeval.inputs import where
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.people.bridges import judged_by
from queries.blocks import Block, places_of
from queries.longitudinal import human_levels, judgements
from warehouse import QuestionError, Warehouse

Unit = Literal["segments", "systems", "judgements"]


@dataclass(frozen=True)
class Simulation:
    """block: what there is; there: units in it; draw: a block of so many units, by a generator."""

    block: Block
    there: int
    draw: Callable[[int, np.random.Generator], Block]
    assumes: str


def simulation_of_units(block: Block, unit: Unit) -> Simulation:
    """Data sets of segments (those with a human score) or systems, drawn with replacement."""
    units = np.arange(len(block.systems)) if unit == "systems" else np.flatnonzero(block.judged.any(axis=0))
    other = "segments" if unit == "systems" else "systems"
    return Simulation(
        block,
        len(units),
        lambda size, rng: drawn_block(block, unit, rng.choice(units, size)),
        f"new {unit} are like the loaded ones, and the {other} stay the same",
    )


def drawn_block(block: Block, unit: Unit, picks: Ints) -> Block:
    """The block of some of its segments or systems, which may be there several times."""
    if unit == "systems":
        return replace(
            block,
            systems=tuple(block.systems[place] for place in picks),
            human=block.human[picks],
            scores=block.scores[:, picks],
            human_submitted=block.human_submitted[picks],
            submitted=block.submitted[:, picks],
            marked_errors=None if block.marked_errors is None else block.marked_errors[picks],
        )
    selection = block.selection
    return replace(
        block,
        selection=replace(
            selection,
            segments=tuple(selection.segments[place] for place in picks),
            domains=tuple(selection.domains[place] for place in picks),
            documents=tuple(selection.documents[place] for place in picks),
        ),
        segments=block.segments[picks],
        human=block.human[:, picks],
        scores=block.scores[:, :, picks],
        human_submitted=np.full(block.human_submitted.shape, np.nan),
        submitted=np.full(block.submitted.shape, np.nan),
        marked_errors=None if block.marked_errors is None else block.marked_errors[:, picks],
    )


def simulation_of_judgements(warehouse: Warehouse, block: Block) -> Simulation:
    """Data sets of single judgements, drawn with replacement; an output's human score is the mean of those drawn.

    Outputs without a drawn judgement have no human score. What there is has all judgements.
    Raises QuestionError: see `single_judgements`; none is of the block's systems and segments.
    """
    frame = single_judgements(warehouse, block)
    places = places_of(block, frame["system"], frame["segment"])
    kept = places >= 0
    if not kept.any():
        raise QuestionError(f"no single judgement is of the chosen systems and segments of {where(block.selection)}")
    outputs = places[kept]
    values = frame["value"].to_numpy().astype(np.float64)[kept]
    whole = judged_block(block, outputs, values)
    n = len(outputs)

    def draw(size: int, rng: np.random.Generator) -> Block:
        picks = rng.choice(n, size)
        return judged_block(block, outputs[picks], values[picks])

    assumes = "new judgements are like the loaded ones, of the same outputs; systems and segments stay the same"
    return Simulation(whole, n, draw, assumes)


def judged_block(block: Block, outputs: Ints, values: Floats) -> Block:
    """The block with means of judgements as its human score. outputs: of each judgement, row · S + column."""
    n_systems, n_segments = block.human.shape
    n = np.bincount(outputs, minlength=block.human.size)
    total = np.bincount(outputs, weights=values, minlength=block.human.size)
    human = np.divide(total, n, out=np.full(block.human.size, np.nan), where=n > 0)
    return replace(
        block,
        human=human.reshape(n_systems, n_segments),
        human_submitted=np.full(n_systems, np.nan),
    )


def single_judgements(warehouse: Warehouse, block: Block) -> pl.DataFrame:
    """Single judgements behind the block's human score, or behind another score of its protocol.

    Raises QuestionError: none are loaded.
    """
    asked, official = block.selection.slice, str(block.selection.human)
    name = judged_by(human_levels(warehouse, asked.testset, asked.lp), official)
    if name is None:
        raise QuestionError(
            f"no single judgements of {official} are loaded for {where(block.selection)}; take segments"
        )
    return judgements(warehouse, block.selection.evalset_id, name)
