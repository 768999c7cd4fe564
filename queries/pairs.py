"""Concordant, discordant and tied pairs of (system, segment) scores, as a Polars lazy query and as SQL."""

from typing import TYPE_CHECKING, Literal

from queries import catalog
from queries.cells import human_cells, metric_cells, named
from queries.selection import Selection
from warehouse import Warehouse

if TYPE_CHECKING:
    import polars as pl

Unit = Literal["item", "system", "none"]
COUNTS = ("n_concordant", "n_discordant", "n_tied_human", "n_tied_metric", "n_tied_both")


def pair_counts(warehouse: Warehouse, selection: Selection, by: Unit, epsilon: float = 0.0) -> "pl.DataFrame":
    """Pair counts of each chosen metric and group, by Polars' streaming engine.

    Columns: metric, unit (the segment's number, the system's name, or "all") and the five counts (int64), sorted by
    metric and unit; a group without a pair has no row. A pair is tied on the metric when its scores differ by at
    most epsilon; where the human or the metric score is missing there is no pair.
    """
    import polars as pl

    group = {"item": pl.col("segment"), "system": pl.col("system_id"), "none": pl.lit(0, dtype=pl.Int32)}[by]
    cells = (
        metric_cells(warehouse, selection)
        .join(human_cells(warehouse, selection), on=["system_id", "segment"])
        .filter(pl.col("metric").is_not_null() & pl.col("human").is_not_null())
        .select("scorer_id", "system_id", "segment", "human", "metric", unit=group)
    )
    is_first = (pl.col("system_id") < pl.col("system_id_right")) | (
        (pl.col("system_id") == pl.col("system_id_right")) & (pl.col("segment") < pl.col("segment_right"))
    )
    counted = (
        cells.join(cells, on=["scorer_id", "unit"])
        .filter(is_first)
        .group_by("scorer_id", "unit")
        .agg(**outcomes(epsilon))
    )
    systems = {choice.system_id: choice.name for choice in selection.chosen_systems}
    name = {
        "item": pl.col("unit").cast(pl.String),
        "system": pl.col("unit").replace_strict(systems, default=None, return_dtype=pl.String),
        "none": pl.lit("all"),
    }[by]
    order = pl.col("unit") if by == "item" else name
    return (
        counted.join(named(selection), on="scorer_id")
        .sort("metric_name", order)
        .select(pl.col("metric_name").alias("metric"), name.alias("unit"), pl.col(*COUNTS).cast(pl.Int64))
        .collect(engine="streaming")
    )


def outcomes(epsilon: float) -> "dict[str, pl.Expr]":
    """The five counts over joined pairs, with columns human, metric, human_right and metric_right.

    A pair is tied on the metric when its scores differ by at most epsilon, on the human side when they are equal.
    """
    import polars as pl

    human_tied = pl.col("human") == pl.col("human_right")
    metric_tied = (pl.col("metric") - pl.col("metric_right")).abs() <= epsilon
    agree = (pl.col("human") > pl.col("human_right")) == (pl.col("metric") > pl.col("metric_right"))
    return {
        "n_concordant": (~human_tied & ~metric_tied & agree).sum(),
        "n_discordant": (~human_tied & ~metric_tied & ~agree).sum(),
        "n_tied_human": (human_tied & ~metric_tied).sum(),
        "n_tied_metric": (~human_tied & metric_tied).sum(),
        "n_tied_both": (human_tied & metric_tied).sum(),
    }


def pair_counts_sql(warehouse: Warehouse, selection: Selection, by: Unit, epsilon: float = 0.0) -> "pl.DataFrame":
    """The same as `pair_counts`, by DuckDB; sorted by metric and by the group's identifier."""
    return catalog.ask(
        warehouse,
        "pair_counts",
        evalset=selection.evalset_id,
        human=selection.human_id,
        metrics=[choice.scorer_id for choice in selection.chosen_metrics],
        systems=[choice.system_id for choice in selection.chosen_systems],
        segments=list(selection.segments),
        by=by,
        epsilon=epsilon,
    )
