"""Pair counts and system means of a slice, by any engine: the grid of a block, and answers with names."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from queries import catalog
from queries.blocks import Block, fetch_block
from queries.engines import COUNTS, Counter, Engine, Grid, Unit
from queries.selection import Selection
from warehouse import Warehouse
from warehouse.export.reimport import Source
from warehouse.progress import Progress

_MOST_JOINED = 200_000_000  # rows of a join in one query; what is more is counted some metrics at a time


def grid_of(block: Block) -> Grid:
    """The (system, segment) pairs of a block with their human scores; the scorers are those of its selection."""
    identifier = {choice.name: choice.system_id for choice in block.selection.systems}
    rows, columns = np.indices(block.human.shape).reshape(2, -1)
    systems = np.array([identifier[name] for name in block.systems], dtype=np.int32)
    outputs = pl.DataFrame(
        {
            "system_id": systems[rows],
            "segment": block.segments[columns].astype(np.int32),
            "human": pl.Series(block.human[rows, columns], nan_to_null=True),
        }
    )
    scorers = tuple(choice.scorer_id for choice in block.selection.chosen_metrics)
    return Grid(block.selection.evalset_id, scorers, outputs)


def human_block(warehouse: Warehouse, selection: Selection) -> Block:
    """The block of a selection without arrays of metrics, which its selection still names."""
    block = fetch_block(warehouse, replace(selection, metrics=()))
    return replace(block, selection=replace(block.selection, metrics=selection.metrics))


def named_pairs(
    counter: Counter, selection: Selection, grid: Grid, by: Unit, epsilon: float, progress: Progress | None = None
) -> pl.DataFrame:
    """Pair counts of the grid's scorers.

    Columns: metric, unit (the segment's number, the system's name, or "all") and the five counts (int64), sorted by
    metric and by the selection's order of units; a group without a pair has no row. Metrics are counted some at a time
    where pairs are many.
    """
    parts = []
    for done, scorers in _batches(grid, by):
        if progress is not None:
            progress("counting pairs of metrics", done, len(grid.scorers))
        parts.append(counter.pairs(grid.of(scorers), by, epsilon))
    metrics = {choice.scorer_id: choice.name for choice in selection.metrics}
    units: dict[int, str] = {
        "item": {segment: str(segment) for segment in selection.segments},
        "system": {choice.system_id: choice.name for choice in selection.systems},
        "none": {0: "all"},
    }[by]
    places = {unit: place for place, unit in enumerate(units)}
    return (
        pl.concat(parts)
        .lazy()
        .with_columns(
            metric=pl.col("scorer_id").replace_strict(metrics, default=None, return_dtype=pl.String),
            place=pl.col("unit").replace_strict(places, default=None, return_dtype=pl.Int32),
            unit=pl.col("unit").replace_strict(units, default=None, return_dtype=pl.String),
        )
        .sort("metric", "place")
        .select("metric", "unit", *COUNTS)
        .collect(engine="in-memory")
    )


def _batches(grid: Grid, by: Unit) -> Iterator[tuple[int, Sequence[int]]]:
    """Scorers, as many at a time as one query joins; before each how many were counted."""
    column = {"item": "segment", "system": "system_id", "none": None}[by]
    judged = grid.outputs.drop_nulls("human")
    sizes: npt.NDArray[np.int64] = (
        np.array([judged.height]) if column is None else np.unique(judged[column].to_numpy(), return_counts=True)[1]
    )
    size = max(1, _MOST_JOINED // max(1, int((sizes.astype(np.int64) ** 2).sum())))
    for start in range(0, max(1, len(grid.scorers)), size):
        yield start, grid.scorers[start : start + size]


def named_means(counter: Counter, selection: Selection, grid: Grid, catalogue: Warehouse) -> pl.DataFrame:
    """System scores of the grid's scorers.

    Columns: scorer, system, submitted (null for a part of a test set), mean, judged_mean (null where there is none),
    n_segments (scores in mean), n_judged (scores in judged_mean), n_missing (segments without a score); sorted by
    scorer and system.
    """
    systems = {choice.name: choice.system_id for choice in selection.chosen_systems}
    names = {choice.scorer_id: choice.name for choice in selection.metrics}
    names |= {} if selection.human_id is None else {selection.human_id: str(selection.human)}
    submitted = catalog.ask(
        catalogue,
        "submitted",
        evalset=selection.evalset_id,
        scorers=list(grid.scorers) if selection.slice.is_whole else [],
        systems=list(systems.values()),
    )
    scorers = pl.DataFrame(
        {"scorer_id": grid.scorers, "scorer": [names[scorer] for scorer in grid.scorers]},
        schema={"scorer_id": pl.Int32, "scorer": pl.String},
    )
    keys = ["scorer_id", "system_id"]
    return (
        scorers.lazy()
        .join(
            pl.LazyFrame(
                {"system_id": list(systems.values()), "system": list(systems)},
                schema={"system_id": pl.Int32, "system": pl.String},
            ),
            how="cross",
        )
        .join(counter.means(grid).lazy(), on=keys, how="left")
        .join(submitted.lazy(), on=keys, how="left")
        .select(
            "scorer",
            "system",
            pl.col("value").alias("submitted"),
            "mean",
            "judged_mean",
            pl.col("n_segments", "n_judged", "n_missing").fill_null(0),
        )
        .sort("scorer", "system")
        .collect(engine="in-memory")
    )


def system_means(warehouse: Warehouse, selection: Selection, engine: Engine = "polars") -> pl.DataFrame:
    """System scores of each chosen metric of a selection of a warehouse; see `named_means`."""
    counter = Counter(Source(warehouse), engine)
    return named_means(counter, selection, grid_of(human_block(warehouse, selection)), warehouse)
