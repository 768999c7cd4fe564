"""Calibration curves: a measure's value over tie thresholds, with the interval of thresholds that are as good."""

import polars as pl

from cli.charts.specification import BLUE, ORANGE, Spec, chart, field, named, rows_of, tooltip

COLUMNS = 4
_OPTIMUM = {"filter": "datum.is_optimum"}


def calibration_curves(curve: pl.DataFrame, optima: pl.DataFrame, signature: str) -> Spec:
    """One panel a metric, best first. curve, optima: as of `metaeval.tables.thresholds`, `curve` and `thresholds`.

    The data have a row for each point of a curve, and one for each metric's optimum (is_optimum) with the end of the
    interval that is as good (until: the largest threshold where there is no end) and the value without a threshold.
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
    x = field("epsilon", "Q", "ε", scale={"type": "sqrt", "nice": False})
    x["axis"] = {"tickCount": 4, "format": "~r", "labelOverlap": "greedy"}
    y = field("value", "Q", measure, scale={"zero": False})
    return chart(
        f"{measure} over tie thresholds",
        [signature],
        {"thresholds": rows_of(rows)},
        "point: the smallest best ε; band: all thresholds that are as good; dashed: the value without a threshold",
        "metrics by their best value; ε in units of the metric, on a square-root scale up to the range of its scores",
        data=named("thresholds"),
        facet=field(
            "metric", "N", sort=optima["metric"].to_list(), header={"labelFontWeight": "bold", "labelFontSize": 11}
        ),
        columns=COLUMNS,
        resolve={"scale": {"x": "independent"}},
        spec={
            "width": 170,
            "height": 110,
            "layer": [
                {
                    "transform": [_OPTIMUM],
                    "mark": {"type": "rect", "color": ORANGE, "opacity": 0.35},
                    "encoding": {"x": x, "x2": {"field": "until"}},
                },
                {
                    "transform": [_OPTIMUM],
                    "mark": {"type": "rule", "strokeDash": [3, 3], "opacity": 0.6},
                    "encoding": {"y": {**y, "field": "value_at_zero"}},
                },
                {
                    "transform": [{"filter": "!datum.is_optimum"}],
                    "mark": {"type": "line", "color": BLUE, "strokeWidth": 1.5},
                    "encoding": {"x": x, "y": y},
                },
                {
                    "transform": [_OPTIMUM],
                    "mark": {"type": "point", "filled": True, "color": ORANGE, "size": 45, "opacity": 1},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "tooltip": tooltip("metric", "epsilon", "until", "value", "value_at_zero"),
                    },
                },
            ],
        },
    )
