"""Pair counts and system means: lazy queries over segment scores, and answers with names."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from queries import catalog
from queries.blocks import Block, Columns, by_evalset, fetch_block
from queries.evalsets import together
from queries.selection import Selection
from warehouse import Warehouse

Unit = Literal["item", "system", "none"]
COUNTS = ("n_concordant", "n_discordant", "n_tied_human", "n_tied_metric", "n_tied_both")


def human_block(warehouse: Warehouse, selection: Selection) -> Block:
    """The block of a selection without metric arrays; its selection still lists the metrics."""
    block = fetch_block(warehouse, replace(selection, metrics=()))
    return replace(block, selection=replace(block.selection, metrics=selection.metrics))


def pairs(scores: pl.LazyFrame, by: Unit, epsilon: float) -> pl.LazyFrame:
    """Pair counts of each scorer and group.

    scores: columns scorer, system, segment, human, metric. Columns: scorer, unit (the segment, the system, or 0) and
    the five counts (int64), sorted by both; a group without a pair has no row. A pair is tied by the metric if its
    scores differ by at most epsilon; a missing human or metric score forms no pair.
    """
    unit = {"item": pl.col("segment"), "system": pl.col("system"), "none": pl.lit(0)}[by]
    there = scores.filter(pl.col("metric").is_not_null() & pl.col("human").is_not_null()).with_columns(unit=unit)
    is_first = (pl.col("system") < pl.col("system_right")) | (
        (pl.col("system") == pl.col("system_right")) & (pl.col("segment") < pl.col("segment_right"))
    )
    human_tied = pl.col("human") == pl.col("human_right")
    metric_tied = (pl.col("metric") - pl.col("metric_right")).abs() <= epsilon
    agree = (pl.col("human") > pl.col("human_right")) == (pl.col("metric") > pl.col("metric_right"))
    counts = (
        ~human_tied & ~metric_tied & agree,
        ~human_tied & ~metric_tied & ~agree,
        human_tied & ~metric_tied,
        ~human_tied & metric_tied,
        human_tied & metric_tied,
    )
    return (
        there.join(there, on=["scorer", "unit"])
        .filter(is_first)
        .group_by("scorer", "unit")
        .agg(is_counted.sum().cast(pl.Int64).alias(name) for name, is_counted in zip(COUNTS, counts, strict=True))
        .sort("scorer", "unit")
    )


def scores_of(*blocks: Block) -> pl.LazyFrame:
    """The scores of blocks as input of `pairs`, with indices of systems, and of scorers and segments counted through
    all blocks.
    """
    parts, n_scorers, n_segments = [], 0, 0
    for block in blocks:
        shape = block.scores.shape
        scorer, system, segment = np.indices(shape, dtype=np.int32).reshape(3, -1)
        human = np.broadcast_to(block.human, shape).ravel()
        parts.append((scorer + n_scorers, system, segment + n_segments, human, block.scores.ravel()))
        n_scorers, n_segments = n_scorers + shape[0], n_segments + shape[2]
    names = ("scorer", "system", "segment", "human", "metric")
    values = (np.concatenate(of_blocks) for of_blocks in zip(*parts, strict=True))
    return pl.LazyFrame({name: pl.Series(value, nan_to_null=True) for name, value in zip(names, values, strict=True)})


def means(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Means of each scorer and system.

    scores: columns scorer_id, system_id, segment, human, metric. Columns: scorer_id, system_id, mean, judged_mean (over
    the segments that the human score judged), n_segments (scores in mean), n_judged (scores in judged_mean), n_missing;
    sorted by the first two. Scores are summed in the order of segments, so means are reproducible to the last digit.
    """
    there = pl.col("metric").drop_nulls()
    judged = pl.col("metric").filter(pl.col("human").is_not_null()).drop_nulls()
    # Polars leaves a sort out of a plan in which the order of the result does not show
    ordered = scores.sort("scorer_id", "system_id", "segment").collect(engine="in-memory")
    return (
        ordered.lazy()
        .group_by("scorer_id", "system_id", maintain_order=True)
        .agg(
            mean=there.mean(),
            judged_mean=judged.mean(),
            n_segments=there.len().cast(pl.Int64),
            n_judged=judged.len().cast(pl.Int64),
            n_missing=pl.col("metric").null_count().cast(pl.Int64),
        )
    )


def _scores(warehouse: Warehouse, block: Block, scorers: Sequence[int]) -> pl.LazyFrame:
    """Segment scores of some scorers for the (system, segment) pairs of a block, with the human score."""
    selection = block.selection
    identifier = {choice.name: choice.system_id for choice in selection.systems}
    rows, columns = np.indices(block.human.shape).reshape(2, -1)
    systems = np.array([identifier[name] for name in block.systems], dtype=np.int32)
    outputs = pl.LazyFrame(
        {
            "system_id": systems[rows],
            "segment": block.segments[columns].astype(np.int32),
            "human": pl.Series(block.human[rows, columns], nan_to_null=True),
        }
    )
    evalsets = together(warehouse, selection.evalset_id)
    if len(evalsets) > 1:
        found = _frame(by_evalset(warehouse, "scores", evalsets)[selection.evalset_id]).rename({"value": "metric"})
    else:
        chosen = {"evalset": selection.evalset_id, "scorers": list(scorers)}
        found = catalog.ask(warehouse, "scores_of_scorers", **chosen).lazy()
    return found.join(outputs, on=["system_id", "segment"])


def _frame(found: Columns) -> pl.LazyFrame:
    return pl.LazyFrame({name: pl.Series(column, nan_to_null=True) for name, column in found.items()})


def named_means(warehouse: Warehouse, block: Block, scorers: Sequence[int]) -> pl.DataFrame:
    """System scores of some scorers of a block's selection.

    Columns: scorer, system, submitted (null for a part of a test set), mean, judged_mean (null if there is none),
    n_segments (scores in mean), n_judged (scores in judged_mean), n_missing (segments without a score); sorted by
    scorer and system.
    """
    selection = block.selection
    systems = {choice.name: choice.system_id for choice in selection.chosen_systems}
    names = {choice.scorer_id: choice.name for choice in selection.metrics}
    names |= {} if selection.human_id is None else {selection.human_id: str(selection.human)}
    found = by_evalset(warehouse, "submitted", together(warehouse, selection.evalset_id))
    submitted = _frame(found[selection.evalset_id])
    submitted = submitted if selection.slice.is_whole else submitted.clear()
    named = pl.LazyFrame(
        {"scorer_id": scorers, "scorer": [names[scorer] for scorer in scorers]},
        schema={"scorer_id": pl.Int32, "scorer": pl.String},
    )
    keys = ["scorer_id", "system_id"]
    return (
        named.join(
            pl.LazyFrame(
                {"system_id": list(systems.values()), "system": list(systems)},
                schema={"system_id": pl.Int32, "system": pl.String},
            ),
            how="cross",
        )
        .join(means(_scores(warehouse, block, scorers)), on=keys, how="left")
        .join(submitted, on=keys, how="left")
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


def system_means(warehouse: Warehouse, selection: Selection) -> pl.DataFrame:
    """System scores of each selected metric; see `named_means`."""
    block = human_block(warehouse, selection)
    return named_means(warehouse, block, [choice.scorer_id for choice in selection.chosen_metrics])
