"""Pair counts of a slice: concordant, discordant and tied, for each metric and group."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from metaeval import kernels
from metaeval.measures.parameters import shortest
from metaeval.results.answer import Result, table_notes, table_parts
from metaeval.results.evaluation import without_pairs
from metaeval.results.inputs import Inputs
from queries.blocks import Block
from queries.counting import COUNTS, Unit, pairs, scores_of
from queries.slices import Slice
from warehouse import Warehouse

Judged = tuple[Block, tuple[str, ...]]
"""A block whose pairs are counted, and notes on it."""


def judged(warehouse: Warehouse, asked: Slice, round_human: int | None = None) -> Judged:
    """The block of the metrics of a slice that have segment scores. Raises QuestionError: see `judged_segments`."""
    inputs = Inputs(warehouse, asked, round_human)
    block = inputs.judged_segments()
    return block, table_notes(block, inputs.of_level("seg").excluded)


def pair_counts(
    warehouse: Warehouse, asked: Slice, by: Unit = "item", epsilon: float = 0.0, round_human: int | None = None
) -> Result:
    """`counted` for the metrics of a slice that have segment scores. Raises QuestionError: as `judged`."""
    (found,) = counted([judged(warehouse, asked, round_human)], by, epsilon, round_human)
    return found


def counted(
    found: Sequence[Judged], by: Unit = "item", epsilon: float = 0.0, round_human: int | None = None
) -> list[Result]:
    """Pair counts of each block.

    by: item (groups are segments), system, or none (one group, "all"). round_human: as for `judged`.
    Columns: metric, by, group, epsilon and the five counts; one row per metric and group. A group without a pair has no
    row.
    """
    what, rounding = ("counts", f"pairs(by={by}, epsilon={shortest(epsilon)})"), ("round_human", round_human)
    frames = _counted([block for block, _ in found], by, epsilon)
    return [
        Result(
            frame,
            table_parts(what, block, rounding),
            (*_without_pairs(frame, block, by), *notes),
        )
        for (block, notes), frame in zip(found, frames, strict=True)
    ]


def _without_pairs(frame: pl.DataFrame, block: Block, by: Unit) -> list[str]:
    """A line if there is no pair to count."""
    if any(frame[name].sum() for name in COUNTS):
        return []
    return [f"no pairs: {without_pairs(block, by)}"]


def together(frame: pl.DataFrame, by: Sequence[str] | None = None) -> pl.DataFrame:
    """Counts with all groups of each metric together, and the share of concordant pairs; the highest first.

    frame: rows of `counts`, perhaps of several evaluation sets. by: columns whose values are kept apart; None for all
    that are no count or group. Columns: these, concordant (the share, null without a pair), the five counts, n_groups.
    """
    keys = [name for name in frame.columns if name not in (*COUNTS, "group")] if by is None else by
    n_pairs = pl.sum_horizontal(COUNTS)
    return (
        frame.lazy()
        .group_by(keys)
        .agg(pl.col(COUNTS).sum(), n_groups=pl.len())
        .with_columns(concordant=pl.when(n_pairs > 0).then(pl.col("n_concordant") / n_pairs))
        .sort("concordant", *keys, descending=[True, *[False] * len(keys)], nulls_last=True)
        .select(*keys, "concordant", *COUNTS, "n_groups")
        .collect()
    )


def of_metrics(frame: pl.DataFrame) -> list[tuple[str, list[int]]]:
    """Each metric with its counts over all groups, in the order of `together`; frame: of one evaluation set."""
    metrics = frame["metric"]
    starts = (metrics != metrics.shift()).fill_null(True).arg_true().to_numpy()
    counts = np.stack([np.add.reduceat(frame[name].to_numpy(), starts) for name in COUNTS], axis=1).tolist()
    rows = zip(metrics.gather(starts), counts, strict=True)
    return sorted(rows, key=lambda row: (-row[1][0] / (sum(row[1]) or 1), row[0]))


def n_joined(block: Block) -> int:
    """Rows of the join that counts pairs by item."""
    return block.scores.size * len(block.systems)


def _counted(blocks: Sequence[Block], by: Unit, epsilon: float) -> list[pl.DataFrame]:
    """The columns of `counted`: by item from a query, unless its join is large, else from a kernel."""
    if blocks and by == "item" and sum(map(n_joined, blocks)) <= _MOST_JOINED:
        return _by_query(blocks, epsilon)
    return [_of_one(block, by, epsilon) for block in blocks]


def _of_one(block: Block, by: Unit, epsilon: float) -> pl.DataFrame:
    most = _MOST_JOINED // max(1, block.human.size * len(block.systems))  # metrics of one query
    if by == "item" and most:
        parts = np.array_split(np.arange(len(block.metrics)), max(1, -(-len(block.metrics) // most)))
        return pl.concat([_by_query([block.take(metrics=part)], epsilon)[0] for part in parts])
    counts = kernels.pair_counts(block.human, block.scores, kernels.group_labels(by, block.human.shape), epsilon)
    names: Sequence[object] = {"item": block.segments.tolist(), "system": block.systems, "none": ("all",)}[by]
    groups = [str(names[label]) for label in counts.labels]
    named = {
        "metric": [metric.name for metric in block.metrics for _ in groups],
        "group": groups * len(block.metrics),
    }
    frame = pl.DataFrame(named | {name: getattr(counts, name).ravel() for name in COUNTS}, _TYPES)
    return _with_settings(frame, by, epsilon)


_MOST_JOINED = 50_000_000  # rows of one query's join
_TYPES = {"metric": pl.String, "group": pl.String, **dict.fromkeys(COUNTS, pl.Int64)}


def _with_settings(frame: pl.DataFrame, by: Unit, epsilon: float) -> pl.DataFrame:
    return frame.select("metric", pl.lit(by).alias("by"), "group", pl.lit(epsilon).alias("epsilon"), *COUNTS)


def _by_query(blocks: Sequence[Block], epsilon: float) -> list[pl.DataFrame]:
    """Counts by item of each block, from one query."""
    frame = pairs(scores_of(*blocks), "item", epsilon).collect()
    metrics = pl.Series("metric", [metric.name for block in blocks for metric in block.metrics], dtype=pl.String)
    numbers = np.concatenate([block.segments for block in blocks]).astype(str)
    segments = pl.Series("group", numbers, dtype=pl.String)
    named = frame.select(metrics.gather(frame["scorer"]), segments.gather(frame["unit"]), *COUNTS)
    named = _with_settings(named, "item", epsilon)
    ends = np.searchsorted(frame["scorer"], np.cumsum([0, *(len(block.metrics) for block in blocks)]))
    return [named[first:end] for first, end in pairwise(ends.tolist())]
