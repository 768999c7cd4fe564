"""Figures of papers as Vega-Lite charts, from the same cells that tables and CSV show."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cli.charts.paper_panels import SIZE, bars, carried, differences, shown
from cli.charts.specification import CATEGORIES, SHAPES, Rows, Spec, chart, field, named
from cli.exit_codes import UsageError

if TYPE_CHECKING:
    from metaeval.papers.items import Cell, Item
    from metaeval.papers.running import Outcome

_PLACE = re.compile(r"(?:(?P<series>.*), )?(?P<x>\d+(?:\.\d+)?) (?P<unit>\w+)")
_UNITS = {"sd": "standard deviations of the metric", "share": "share of scores"}
_MIDDLES = {"r": "Pearson's r with the ranking by all systems", "mean": "mean of the resamples"}
_LEGEND = {"symbolOpacity": 1, "symbolStrokeWidth": 0}  # one for colours and shapes
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])
_ALONE = {"tau_b": "Kendall's τ_b", "n_groups": "segments with a defined τ_b"}  # on scales of their own


def check_item(item: "Item") -> None:
    """Raises UsageError: the item is no figure."""
    if item.chart is None:
        raise UsageError(f"--chart: {item.name} is a table; its values are in --format csv")


def item_chart(outcome: "Outcome") -> Spec:
    """The chart of an item, one row of panels for each evaluation set.

    Raises UsageError: nothing of it could be computed.
    """
    kind = outcome.item.chart
    cells = [row.cell for row in outcome.rows if row.cell.value is not None]
    if kind is None or not cells:
        raise UsageError(f"--chart: nothing of {outcome.paper.name} {outcome.item.name} could be computed")
    sets = list(dict.fromkeys((cell.testset, cell.lp) for cell in cells))
    draw = _KINDS[kind]
    panels = [
        {**panel, "title": ": ".join(filter(None, (f"{testset} {lp}", panel["title"]))) if testset else panel["title"]}
        for testset, lp in sets
        for panel in draw([cell for cell in cells if (cell.testset, cell.lp) == (testset, lp)])
    ]
    datasets: dict[str, Rows] = {}
    for panel in panels:
        _name_data(panel, datasets)
    return chart(
        f"{outcome.paper.name}, {outcome.item.name}: {outcome.item.title}",
        outcome.signatures[0].splitlines()[:1] if outcome.signatures else [],
        datasets,
        concat=panels,
        columns=3 if kind == "heatmap" else 2,
        resolve={"scale": dict.fromkeys(("color", "shape", "strokeDash", "x", "y"), "independent")},
    )


def _name_data(part: Spec, datasets: dict[str, Rows]) -> None:
    """Take the data of a panel out into named sets."""
    if "data" in part:
        name = f"values_{len(datasets) + 1}"
        datasets[name] = part["data"]["values"]
        part["data"] = named(name)
    for layer in part.get("layer", ()):
        _name_data(layer, datasets)


def _curves(cells: "list[Cell]") -> list[Spec]:
    """Values over a number of units with their intervals; a panel for each series of rows."""
    points: dict[str, dict[tuple[str, float], dict[str, Any]]] = {}
    units: dict[str, str] = {}
    for cell in cells:
        found = _PLACE.fullmatch(cell.row)
        name, _, what = cell.column.rpartition("_")
        series = found["series"] or "" if found is not None else ""
        if cell.column in _ALONE:
            series, name, what = _ALONE[cell.column], _ALONE[cell.column], "value"
        if found is None or what not in (*_MIDDLES, "value", "low", "high"):
            continue
        units[series] = found["unit"]
        what = "value" if what in _MIDDLES else what
        panel = points.setdefault(series, {})
        point = panel.setdefault((name, float(found["x"])), {"measure": name, "x": float(found["x"])})
        point[what] = cell.value
    x = {series: field("x", "Q", _UNITS.get(unit, unit), scale={"zero": False}) for series, unit in units.items()}
    middles = {name.rpartition("_")[2] for name in (cell.column for cell in cells)} & set(_MIDDLES)
    y_title = _MIDDLES[middles.pop()] if len(middles) == 1 else None
    return [_curve_panel(series, list(found.values()), x[series], y_title) for series, found in points.items()]


def _curve_panel(series: str, values: Rows, x: Spec, title: str | None) -> Spec:
    """Lines with their intervals; colours, shapes and dashes tell measures apart, and have one legend."""
    measures = list(dict.fromkeys(one["measure"] for one in values))
    by = field("measure", "N")
    colour, dash, shape = (
        {**by, "scale": {"domain": measures, "range": list(known)}, "legend": legend}
        for known, legend in ((CATEGORIES, _LEGEND), (_DASHES, None), (SHAPES, _LEGEND))
    )
    y = field("value", "Q", title, scale={"zero": False})
    return {
        "title": series,
        "width": SIZE,
        "height": SIZE * 3 // 4,
        "data": {"values": values},
        "layer": [
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "area", "opacity": 0.18},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
            },
            {"mark": "line", "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash}},
            {
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 35},
                "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
            },
        ],
    }


def _heatmap(cells: "list[Cell]") -> list[Spec]:
    """A square for each pair: rows `A > B` with a column for each panel, or columns `panel:B` of row A."""
    panels: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        one, greater, other = cell.row.partition(" > ")
        panel = cell.column
        if not greater:
            panel, colon, other = cell.column.partition(":")
            if not colon:
                continue
        panels.setdefault(panel, []).append({"row": one, "column": other, "value": cell.value})
    shown = []
    for panel, values in panels.items():
        names = list(dict.fromkeys([one["row"] for one in values] + [one["column"] for one in values]))
        is_p = panel.rpartition("_")[2] == "p" or panel in ("p", "p_legacy")
        colour: dict[str, Any] = field("value", "Q", panel)
        if is_p:
            colour["scale"] = {"type": "threshold", "domain": [0.001, 0.01, 0.05], "range": _GREENS}
        else:
            colour["scale"] = {"domain": [0, 1], "scheme": "viridis"}
        axis = {"type": "nominal", "sort": None, "title": None, "scale": {"domain": names}}
        squares = {"x": {"field": "column", **axis, "axis": {"labelAngle": -60}}, "y": {"field": "row", **axis}}
        shown.append(
            {
                "title": panel,
                "width": {"step": 14},
                "height": {"step": 14},
                "layer": [
                    {
                        "data": {"values": values},
                        "mark": "rect",
                        "encoding": {
                            **squares,
                            "color": colour,
                            "tooltip": [{"field": "row"}, {"field": "column"}, {"field": "value"}],
                        },
                    },
                    *_marks(cells, panel, names, squares),
                ],
            }
        )
    return shown


def _marks(cells: "list[Cell]", panel: str, names: list[str], squares: Spec) -> list[Spec]:
    """Lines between clusters of metrics, and `=` on exact ties, where the cells say them of a panel's metrics."""
    prefix = panel.rpartition("_")[0]
    clusters = {cell.row: cell.value for cell in cells if cell.column == f"{prefix}_cluster"}
    values = {cell.row: cell.value for cell in cells if cell.column == f"{prefix}_value"}
    if not clusters:
        return []
    edges = [other for one, other in pairwise(names) if clusters.get(one) != clusters.get(other)]
    tied = [
        {"row": one, "column": other}
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if abs((values.get(one) or 0.0) - (values.get(other) or 0.0)) <= TIED
    ]
    text = {"mark": {"type": "text", "text": "=", "baseline": "middle"}, "data": {"values": tied}, "encoding": squares}
    lines = [
        {
            "data": {"values": [{axis: edge} for edge in edges]},
            "mark": {"type": "rule", "strokeWidth": 1},
            "encoding": {channel: {"field": axis, "type": "nominal", "scale": {"domain": names}, "bandPosition": 0}},
        }
        for channel, axis in (("x", "column"), ("y", "row"))
    ]
    return [text, *lines]


TIED = 1e-12  # of values that are equal but for rounding
_GREENS = ["#00441b", "#238b45", "#74c476", "#eee"]


def _scatter(cells: "list[Cell]") -> list[Spec]:
    """A metric against people; correlations stand in the title.

    Cells: rows `metric: what`, columns human and metric.
    """
    points: dict[str, dict[str, dict[str, Any]]] = {}
    for cell in cells:
        metric, colon, what = cell.row.partition(": ")
        if colon and cell.column in ("human", "metric"):
            points.setdefault(metric, {}).setdefault(what, {"what": what})[cell.column] = cell.value
    values = {(cell.row, cell.column): cell.value for cell in cells}
    rule = {"mark": {"type": "rule", "color": "#bbb"}, "data": {"values": [{"zero": 0}]}}
    return [
        {
            "title": f"{metric}: {_correlations(values, metric)}",
            "width": SIZE,
            "height": SIZE,
            "layer": [
                {**rule, "encoding": {"x": {"field": "zero", "type": "quantitative"}}},
                {**rule, "encoding": {"y": {"field": "zero", "type": "quantitative"}}},
                {
                    "data": {"values": list(found.values())},
                    "mark": {"type": "point", "filled": True, "opacity": 0.7},
                    "encoding": {
                        "x": field("human", "Q", "people", scale={"zero": False}),
                        "y": field("metric", "Q", metric, scale={"zero": False}),
                        "tooltip": [{"field": "what"}, {"field": "metric"}, {"field": "human"}],
                    },
                },
            ],
        }
        for metric, found in points.items()
    ]


def _correlations(values: dict[tuple[str, str], float | None], metric: str) -> str:
    names = {"pearson": "r", "spearman": "ρ", "kendall": "τ_b"}
    return ", ".join(f"{name} = {shown(values, metric, key)}" for key, name in names.items() if (metric, key) in values)


_KINDS: dict[str, Callable[["list[Cell]"], list[Spec]]] = {
    "curves": _curves,
    "heatmap": _heatmap,
    "scatter": _scatter,
    "differences": differences,
    "bars": bars,
    "carried": carried,
}
