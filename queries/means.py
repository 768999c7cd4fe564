"""System means and what is covered, as Polars lazy queries.

Each takes segment scores with the columns scorer_id, system_id, segment, human and metric.
"""

import polars as pl


def means(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Means of each scorer and system.

    Columns: scorer_id, system_id, mean, judged_mean (over the segments that the human score judged), n_segments (scores
    in mean), n_judged (scores in judged_mean), n_missing; sorted by the first two. Scores are added up in the order of
    segments, so that means are the same to the last digit every time.
    """
    there = pl.col("metric").drop_nulls()
    judged = pl.col("metric").filter(pl.col("human").is_not_null()).drop_nulls()
    return (
        scores.sort("scorer_id", "system_id", "segment")
        .group_by("scorer_id", "system_id", maintain_order=True)
        .agg(
            mean=there.mean(),
            judged_mean=judged.mean(),
            n_segments=there.len(),
            n_judged=judged.len(),
            n_missing=pl.col("metric").null_count(),
        )
    )


def n_scored(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Columns scorer_id, n_scored: judged (system, segment) scores that each scorer has; none has no row."""
    return (
        scores.filter(pl.col("human").is_not_null() & pl.col("metric").is_not_null())
        .group_by("scorer_id")
        .agg(n_scored=pl.len())
        .sort("scorer_id")
    )


def n_scorers(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Columns system_id, segment, n_scorers: how many scorers have a score there; sorted by the first two."""
    return (
        scores.filter(pl.col("metric").is_not_null())
        .group_by("system_id", "segment")
        .agg(n_scorers=pl.len())
        .sort("system_id", "segment")
    )
