"""Cells of a slice as a Polars lazy frame: judged (system, segment) cells with the human and the metric score."""

from typing import TYPE_CHECKING

from queries import catalog
from queries.selection import Selection
from warehouse import Warehouse

if TYPE_CHECKING:
    import polars as pl


def _frame(warehouse: Warehouse, selection: Selection, scorers: list[int]) -> "pl.DataFrame":
    return catalog.ask(
        warehouse,
        "cells",
        evalset=selection.evalset_id,
        scorers=scorers,
        systems=[choice.system_id for choice in selection.chosen_systems],
        segments=list(selection.segments),
    )


def human_cells(warehouse: Warehouse, selection: Selection) -> "pl.LazyFrame":
    """Columns system_id, segment, human; one row per cell of the slice, human is null where not judged."""
    import polars as pl

    return (
        _frame(warehouse, selection, [] if selection.human_id is None else [selection.human_id])
        .lazy()
        .select("system_id", "segment", human=pl.col("value"))
    )


def metric_cells(warehouse: Warehouse, selection: Selection) -> "pl.LazyFrame":
    """Columns scorer_id, system_id, segment, metric; one row per chosen metric, system and segment."""
    import polars as pl

    scorers = [choice.scorer_id for choice in selection.chosen_metrics]
    return (
        _frame(warehouse, selection, scorers)
        .lazy()
        .rename({"value": "metric"})
        .with_columns(pl.col("metric").cast(pl.Float64))
    )


def named(selection: Selection) -> "pl.LazyFrame":
    """Columns scorer_id, metric_name: the chosen metrics."""
    import polars as pl

    return pl.LazyFrame(
        {
            "scorer_id": [choice.scorer_id for choice in selection.chosen_metrics],
            "metric_name": [choice.name for choice in selection.chosen_metrics],
        },
        schema={"scorer_id": pl.Int32, "metric_name": pl.String},
    )
