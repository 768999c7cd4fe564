"""Calibration curves: a measure's value over tie thresholds, with the interval of thresholds that are as good."""

import altair as alt
import polars as pl

from metaeval.charts.parts import ORANGE, tips, titled
from metaeval.results.stars import star

COLUMNS = 6


def calibration_curves(curve: pl.DataFrame, optima: pl.DataFrame, signature: str) -> alt.VConcatChart:
    """One panel per metric, best first. curve, optima: as of `studies.tables.thresholds`, `curve` and `thresholds`.

    The data have a row for each point of a curve, and one for each metric's optimum (is_optimum) with the end of the
    interval that is as good (until: the largest threshold if there is no end) and the value without a threshold.
    """
    measure = str(optima["measure"][0]) if optima.height else ""
    ends = curve.lazy().group_by("metric").agg(until=pl.col("epsilon").max())
    best = (
        optima.lazy()
        .join(ends, on="metric", how="left", maintain_order="left")
        .select(
            "metric",
            "epsilon",
            "value",
            is_optimum=True,
            until=pl.coalesce("epsilon_high", "until"),
            value_at_zero=pl.col("value_at_zero"),
        )
    )
    rows = pl.concat(
        [best, curve.lazy().select("metric", "epsilon", "value", is_optimum=False)], how="diagonal"
    ).collect()
    base = alt.Chart().encode(
        x=alt.X("epsilon:Q").title("ε").scale(type="sqrt", nice=False).axis(tickCount=3, format="~r")
    )
    value = alt.Y("value:Q").title(measure).scale(zero=False)
    optimum = base.transform_filter("datum.is_optimum")
    shown = tips("metric:N", "epsilon:N", "until:N", "value:N", "value_at_zero:N")
    layers = [
        optimum.mark_rect(color=ORANGE, opacity=0.35).encode(x2=alt.X2("until:Q")),
        alt.Chart()
        .transform_filter("datum.is_optimum")
        .mark_rule(strokeDash=[3, 3], opacity=0.6)
        .encode(y=alt.Y("value_at_zero:Q")),
        base.transform_filter("!datum.is_optimum").mark_line(strokeWidth=1.5).encode(y=value),
        optimum.mark_point(color=ORANGE).encode(y=value, tooltip=shown),
    ]
    body = alt.layer(*layers, width=145, height=120, data=alt.NamedData("thresholds"))
    return titled(
        body.facet(
            alt.Facet("metric:N")
            .title(None)
            .sort(optima["metric"].to_list())
            .header(labelFontWeight="bold", labelExpr=star(optima["metric"].to_list())),
            columns=COLUMNS,
        ).resolve_scale(x="independent"),
        f"{measure} over tie thresholds",
        signature,
        {"thresholds": rows.rows(named=True)},
        "point: the smallest best ε; band: all thresholds that are equally good; dashed: the value without a threshold",
        "metrics sorted by best value; ε in units of the metric, on a square-root scale up to the range of its scores",
    )
