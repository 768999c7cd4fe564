"""The chart of a history: small multiples by human protocol, intervals as bands, bridges dashed."""

import polars as pl

from cli.charts.specification import CATEGORIES, SHAPES, Rows, Spec, chart, field, named, rows_of
from cli.exit_codes import UsageError

MOST = 8  # groups that can be told apart by colour
DODGE = 0.07  # years between the marks of two groups


def history_chart(rows: pl.DataFrame, by_year: pl.DataFrame, anchor: str, signature: str) -> Spec:
    """Values, and below them gaps to the anchor, of the families that return in most years, as a Vega-Lite chart.

    rows: as of `metaeval.trends.groups.grouped`; by_year: as of `metaeval.trends.gaps.pooled_by_year`. One panel for
    each human protocol; bands are 95% intervals, pooled where a year has several evaluation sets (with fewer than 3
    there is none). Hollow points: metrics trained on that year's human scores.
    A dashed line joins the two values of a bridge: a step of the protocol, not of the metric.
    Raises UsageError: there is no value.
    """
    if rows["value"].count() == 0:
        raise UsageError("--chart: no value to draw")
    shown = _groups(rows)
    points = _dodged(_points(by_year, shown), shown)
    steps = _dodged(_steps(rows, shown), shown)
    measure = str(rows["measure"][0])
    protocols = sorted({point["protocol"] for point in points})

    def panels(column: str, title: str) -> Spec:
        drawn = [_panel(points, steps, protocol, column, title, shown) for protocol in protocols]
        return {"hconcat": drawn, "resolve": {"scale": {"y": "shared"}}}

    return chart(
        f"{measure} over the years, by human protocol",
        signature.splitlines(),
        {"years": points, "bridges": steps},
        "bands: 95% intervals; hollow points: trained on human scores of that year",
        "dashed: from the other protocol's value on the same systems, a step of the protocol and not of the metric",
        vconcat=[panels("value", measure), panels("gap", f"gap to {anchor}")],
    )


def _groups(rows: pl.DataFrame) -> list[str]:
    """The groups that have values in most years, then those with most values; families before others."""
    valued = rows.lazy().filter(pl.col("value").is_not_null() & pl.col("bridge").is_null())
    by = "family" if "family" in rows["by"].unique() else rows["by"][0]
    return (
        valued.filter(pl.col("by") == by)
        .group_by("group")
        .agg(n_years=pl.col("year").n_unique(), n=pl.len())
        .sort("n_years", "n", "group", descending=[True, True, False])
        .head(MOST)
        .collect()["group"]
        .sort()
        .to_list()
    )


def _points(by_year: pl.DataFrame, shown: list[str]) -> Rows:
    """One for each protocol, year and group."""
    columns = ("protocol", "year", "group", "value", "low", "high", "gap", "gap_low", "gap_high", "n_sets")
    found = (
        by_year.lazy()
        .filter(pl.col("group").is_in(shown) & pl.col("value").is_not_null() & pl.col("year").is_not_null())
        .unique(["protocol", "year", "group"], maintain_order=True)
        .select(*columns, contaminated=pl.col("contaminated").fill_null(value=False))
        .collect()
    )
    return rows_of(found)


def _dodged(marks: Rows, shown: list[str]) -> Rows:
    """Marks with a place `x` beside their year, so that groups do not hide each other."""
    middle = (len(shown) - 1) / 2
    return [{**one, "x": one["year"] + DODGE * (shown.index(one["group"]) - middle)} for one in marks]


def _steps(rows: pl.DataFrame, shown: list[str]) -> Rows:
    """The two values of each bridge, in the panel of the protocol that is not the official one."""
    from metaeval.trends.tables import bridges
    from warehouse.facts.human_protocols import protocol_of

    found = bridges(rows).filter(pl.col("group").is_in(shown))
    return [
        {
            "protocol": protocol_of(row["other_human"]),
            "year": row["year"],
            "group": row["group"],
            "from": row["value"],
            "value": row["other_value"],
        }
        for row in found.rows(named=True)
    ]


def _panel(points: Rows, steps: Rows, protocol: str, column: str, title: str, shown: list[str]) -> Spec:
    """One protocol: bands and lines over the years, points, and the steps of its bridges."""
    low, high = ("low", "high") if column == "value" else ("gap_low", "gap_high")
    years = sorted({point["year"] for point in points if point["protocol"] == protocol})
    axis = {"field": "x", "type": "quantitative", "axis": {"values": years, "format": "d", "title": None}}
    axis["scale"] = {"domain": [years[0] - 0.5, years[-1] + 0.5], "nice": False}
    groups = field(
        "group",
        "N",
        "family",
        scale={"domain": shown, "range": list(CATEGORIES[: len(shown)])},
        legend={"symbolOpacity": 1},
    )
    shapes = {"field": "group", "type": "nominal", "scale": {"domain": shown, "range": list(SHAPES[: len(shown)])}}
    y = field(column, "Q", title, scale={"zero": False})
    ends = {"x": axis, "y": {**y, "field": low}, "y2": {"field": high}, "color": groups}
    places = {"x": axis, "y": y, "color": groups}
    marked = {**places, "shape": shapes, "tooltip": [{"field": name} for name in ("group", "year", column, low, high)]}
    own = {"filter": {"field": "protocol", "equal": protocol}}
    layers: list[Spec] = [
        {"mark": {"type": "area", "opacity": 0.10}, "encoding": ends},
        {"mark": {"type": "rule", "opacity": 0.35}, "encoding": ends},
        {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": places},
        {
            "transform": [{"filter": "!datum.contaminated"}],
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": marked,
        },
        {
            "transform": [{"filter": "datum.contaminated"}],
            "mark": {"type": "point", "filled": False, "size": 55, "strokeWidth": 2, "opacity": 1, "fill": "white"},
            "encoding": marked,
        },
    ]
    if column == "value" and any(step["protocol"] == protocol for step in steps):
        layers.append(
            {
                "data": named("bridges"),
                "transform": [own],
                "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5},
                "encoding": {"x": axis, "y": {**y, "field": "from"}, "y2": {"field": "value"}, "color": groups},
            }
        )
    return {
        "title": protocol if column == "value" else "",
        "width": max(90, 70 * len(years)),
        "height": 240,
        "data": named("years"),
        "transform": [own],
        "layer": layers,
    }
