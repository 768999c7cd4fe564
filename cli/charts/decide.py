"""Charts of decisions: curves over thresholds, costs, reliability, and thresholds carried elsewhere."""

from typing import TYPE_CHECKING

import polars as pl

from cli.charts.heat_map import heat_map
from cli.charts.specification import BLUE, ORANGE, Spec, chart, field, named, rows_of

if TYPE_CHECKING:
    from metaeval.table import Table


def decision_chart(view: str, found: "Table", metric: str) -> Spec:
    """The chart of a view of `decide`; that of a threshold is its curve's."""
    if view == "transfer":
        return _transfer(found, metric)
    if view == "reliability":
        return _reliability(found, metric)
    return _cost(found, metric) if view == "cost" else _curve(found, metric)


def _curve(found: "Table", metric: str) -> Spec:
    parts = [
        found.frame.select(
            "threshold", "share", value=name, low=f"{name}_low", high=f"{name}_high", statistic=pl.lit(name)
        )
        for name in ("precision", "recall")
    ]
    x = field("threshold", "Q", f"threshold on {metric}", scale={"zero": False, "nice": False})
    y = field("value", "Q", "share", scale={"domain": [0, 1]}, axis={"format": "%"})
    color = field("statistic", "N", scale={"range": [BLUE, ORANGE]})
    return chart(
        f"What {metric} calls good",
        found.signature.splitlines(),
        {"curve": rows_of(pl.concat(parts))},
        "bands: 95% of resamples of segments",
        data=named("curve"),
        width=460,
        height=280,
        layer=[
            {
                "mark": {"type": "area", "opacity": 0.25},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": color},
            },
            {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": color}},
        ],
    )


def _cost(found: "Table", metric: str) -> Spec:
    x = field("share", "Q", "share published without a look", scale={"domain": [0, 1]}, axis={"format": "%"})
    y = field("cost", "Q", "cost of an output")
    return chart(
        f"What publishing by {metric} costs",
        found.signature.splitlines(),
        {"costs": rows_of(found.frame)},
        "point: the lowest cost; share 0: all are looked at",
        data=named("costs"),
        width=460,
        height=280,
        layer=[
            {"mark": {"type": "line", "color": BLUE}, "encoding": {"x": x, "y": y}},
            {
                "transform": [{"filter": "datum.is_best"}],
                "mark": {"type": "point", "filled": True, "color": ORANGE, "size": 80, "opacity": 1},
                "encoding": {"x": x, "y": y},
            },
        ],
    )


def _reliability(found: "Table", metric: str) -> Spec:
    x = field("probability", "Q", f"calibrated probability by {metric}", scale={"domain": [0, 1]})
    y = field("observed", "Q", "share of good outputs", scale={"domain": [0, 1]})
    return chart(
        f"Whether calibrated scores of {metric} mean what they say",
        found.signature.splitlines(),
        {"bins": rows_of(found.frame)},
        "isotonic regression, cross-fitted by document; bars: 95% of resamples of segments; grey: as they should be",
        width=340,
        height=340,
        layer=[
            {
                "data": {"values": [{"probability": 0.0, "observed": 0.0}, {"probability": 1.0, "observed": 1.0}]},
                "mark": {"type": "line", "color": "gray", "strokeDash": [4, 4]},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": named("bins"),
                "mark": {"type": "rule", "color": BLUE},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "data": named("bins"),
                "mark": {"type": "point", "filled": True, "color": BLUE, "size": 45, "opacity": 1},
                "encoding": {"x": x, "y": y},
            },
        ],
    )


def _transfer(found: "Table", metric: str) -> Spec:
    names = found.frame["source"].unique(maintain_order=True).to_list()
    return heat_map(
        rows_of(found.frame.select("source", "target", value=pl.col("mcc"))),
        rows=("source", names),
        columns=("target", names),
        value="mcc",
        title=f"MCC of thresholds on {metric}, carried from source (down) to target (across)",
        signature=found.signature.splitlines(),
        lines=["thresholds are those with the highest MCC on the source"],
    )
