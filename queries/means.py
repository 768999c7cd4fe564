"""System scores: as submitted, as mean of all segments, as mean of the judged ones; and what is covered."""

from typing import TYPE_CHECKING

from queries import catalog
from queries.cells import human_cells, metric_cells, named
from queries.selection import Selection
from warehouse import Warehouse

if TYPE_CHECKING:
    import polars as pl


def system_means(warehouse: Warehouse, selection: Selection) -> "pl.DataFrame":
    """System scores of each chosen metric.

    Columns: metric, system, submitted, mean, judged_mean (null where there is none), n_segments (scores in mean),
    n_judged (scores in judged_mean), n_missing (segments without a score); sorted by metric and system.
    Scores are added up in the order of segments, so that means are the same to the last digit every time.
    """
    import polars as pl

    human = human_cells(warehouse, selection)
    metrics = metric_cells(warehouse, selection)
    submitted = catalog.ask(
        warehouse,
        "submitted",
        evalset=selection.evalset_id,
        scorers=[choice.scorer_id for choice in selection.chosen_metrics],
        systems=[choice.system_id for choice in selection.chosen_systems],
    ).lazy()
    systems = pl.LazyFrame(
        {
            "system_id": [choice.system_id for choice in selection.chosen_systems],
            "system": [choice.name for choice in selection.chosen_systems],
        },
        schema={"system_id": pl.Int32, "system": pl.String},
    )
    judged = pl.col("human").is_not_null()
    means = (
        metrics.join(human, on=["system_id", "segment"], how="left")
        .sort("scorer_id", "system_id", "segment")
        .group_by("scorer_id", "system_id", maintain_order=True)
        .agg(
            mean=pl.col("metric").mean(),
            judged_mean=pl.col("metric").filter(judged).mean(),
            n_segments=pl.col("metric").count(),
            n_judged=pl.col("metric").filter(judged).count(),
            n_missing=pl.col("metric").null_count(),
        )
    )
    return (
        named(selection)
        .join(systems, how="cross")
        .join(means, on=["scorer_id", "system_id"], how="left")
        .join(submitted, on=["scorer_id", "system_id"], how="left")
        .select(
            pl.col("metric_name").alias("metric"),
            "system",
            pl.col("value").alias("submitted"),
            "mean",
            "judged_mean",
            pl.col("n_segments").fill_null(0).cast(pl.Int64),
            pl.col("n_judged").fill_null(0).cast(pl.Int64),
            pl.col("n_missing").fill_null(0).cast(pl.Int64),
        )
        .sort("metric", "system")
        .collect(engine="in-memory")
    )
