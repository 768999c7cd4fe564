"""The heat map of how metrics correlate with each other, alike ones side by side."""

from collections.abc import Sequence

import altair as alt
import polars as pl

from metaeval.charts.heat_map import heat_map


def correlation_matrix(frame: pl.DataFrame, order: Sequence[str], measure: str, signature: str) -> alt.VConcatChart:
    """frame: as of `metaeval.studies.tables.agreement`; order: of the metrics, similar ones side by side."""
    values = {row["metric"]: row for row in frame.rows(named=True)}
    cells = [
        {"metric": row, "other": column, "value": values[row][column]}
        for row in order
        for column in order
        if row != column
    ]
    return heat_map(
        cells,
        rows=("metric", order),
        columns=("other", order),
        value=measure,
        title=f"How much do metrics agree with each other? ({measure})",
        signature=signature,
        lines=["ordered by average-linkage clustering of 1 − the correlation"],
    )
