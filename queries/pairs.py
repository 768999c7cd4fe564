"""Concordant, discordant and tied pairs of (system, segment) scores, as a Polars lazy query."""

from typing import Literal

import polars as pl

Unit = Literal["item", "system", "none"]
COUNTS = ("n_concordant", "n_discordant", "n_tied_human", "n_tied_metric", "n_tied_both")


def pairs(scores: pl.LazyFrame, by: Unit, epsilon: float) -> pl.LazyFrame:
    """Pair counts of each scorer and group.

    scores: columns scorer_id, system_id, segment, human, metric. Columns: scorer_id, unit (the segment's number, the
    system's identifier, or 0) and the five counts, sorted by both; a group without a pair has no row. A pair is tied on
    the metric when its scores differ by at most epsilon; where the human or the metric score is missing there is none.
    """
    group = {"item": pl.col("segment"), "system": pl.col("system_id"), "none": pl.lit(0, dtype=pl.Int32)}[by]
    counted = scores.filter(pl.col("metric").is_not_null() & pl.col("human").is_not_null()).with_columns(unit=group)
    is_first = (pl.col("system_id") < pl.col("system_id_right")) | (
        (pl.col("system_id") == pl.col("system_id_right")) & (pl.col("segment") < pl.col("segment_right"))
    )
    return (
        counted.join(counted, on=["scorer_id", "unit"])
        .filter(is_first)
        .group_by("scorer_id", "unit")
        .agg(**outcomes(epsilon))
        .sort("scorer_id", "unit")
    )


def outcomes(epsilon: float) -> dict[str, pl.Expr]:
    """The five counts over joined pairs, with columns human, metric, human_right and metric_right.

    A pair is tied on the metric when its scores differ by at most epsilon, on the human side when they are equal.
    """
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
