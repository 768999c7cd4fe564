"""Figures of papers, from the same cells that tables and CSV show."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt

from metaeval.charts.paper_panels import SIZE, Drawn, bars, carried, differences, of_pairs, statistic_text
from metaeval.charts.parts import Rows, names, tips, titled
from warehouse.errors import QuestionError

if TYPE_CHECKING:
    from metaeval.studies.papers.items import Cell
    from metaeval.studies.papers.running import Outcome

_PLACE = re.compile(r"(?:(?P<series>.*), )?(?P<x>\d+(?:\.\d+)?) (?P<unit>\w+)")
_UNITS = {"sd": "standard deviations of the metric", "share": "share of scores"}
_MIDDLES = {"r": "Pearson's r with the ranking by all systems", "mean": "mean of the resamples"}
_LEGEND = alt.Legend(symbolStrokeWidth=0)  # one for colours and shapes
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])
_ALONE = {"tau_b": "Kendall's τ_b", "n_groups": "segments with a defined τ_b"}  # on scales of their own


def item_chart(outcome: "Outcome") -> alt.VConcatChart:
    """The chart of an item, one row of panels for each evaluation set.

    Raises QuestionError: nothing of it could be computed.
    """
    kind = outcome.item.chart
    cells = [row.cell for row in outcome.rows if row.cell.value is not None]
    if kind is None or not cells:
        raise QuestionError(f"nothing of {outcome.paper.name} {outcome.item.name} could be computed")
    panels: list[Any] = []
    datasets: dict[str, Rows] = {}
    for testset, lp in dict.fromkeys((cell.testset, cell.lp) for cell in cells):
        own = [cell for cell in cells if (cell.testset, cell.lp) == (testset, lp)]
        for number, (title, panel, data) in enumerate(_KINDS[kind](own), start=1):
            place = f"{testset}_{lp}_{number}".strip("_")
            _rename(panel, {name: f"{name}_{place}" for name in data})
            datasets |= {f"{name}_{place}": rows for name, rows in data.items()}
            panels.append(panel.properties(title=": ".join(filter(None, (f"{testset} {lp}".strip(), title)))))
    scales: dict[str, Any] = dict.fromkeys(("color", "shape", "strokeDash", "x", "y"), "independent")
    return titled(
        alt.concat(*panels, columns=3 if kind == "heatmap" else 2).resolve_scale(**scales),
        f"{outcome.paper.name}, {outcome.item.name}: {outcome.item.title}",
        outcome.signatures[0].splitlines()[0] if outcome.signatures else "",
        datasets,
    )


def _rename(chart: Any, known: dict[str, str]) -> None:
    """Give the data sets of a panel the names that they have in the whole chart."""
    for one in (chart, *getattr(chart, "layer", ())):
        if isinstance(one.data, alt.NamedData):
            one.data = alt.NamedData(known[one.data.name])


def _curves(cells: "list[Cell]") -> list[Drawn]:
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
    middles = {name.rpartition("_")[2] for name in (cell.column for cell in cells)} & set(_MIDDLES)
    title = _MIDDLES[middles.pop()] if len(middles) == 1 else "value"
    return [
        _curve_panel(series, list(found.values()), _UNITS.get(units[series], units[series]), title)
        for series, found in points.items()
    ]


def _curve_panel(series: str, values: Rows, unit: str, title: str) -> Drawn:
    """Lines with their intervals; colours, shapes and dashes tell measures apart, and have one legend."""
    measures = list(dict.fromkeys(one["measure"] for one in values))
    legend = _LEGEND if len(measures) > 1 else None
    colour = alt.Color("measure:N").title(None).scale(domain=measures).legend(legend)
    shape = alt.Shape("measure:N").title(None).scale(domain=measures).legend(legend)
    dash = alt.StrokeDash("measure:N").scale(domain=measures, range=_DASHES).legend(None)
    base = alt.Chart(alt.NamedData("values")).encode(
        x=alt.X("x:Q").title(unit).scale(zero=False), y=alt.Y("value:Q").title(title).scale(zero=False), color=colour
    )
    span = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.18)
    layers = [
        span.encode(y=alt.Y("low:Q").title(title), y2=alt.Y2("high:Q")),
        base.mark_line().encode(strokeDash=dash),
        base.mark_point(size=35).encode(shape=shape),
    ]
    return series, alt.layer(*layers, width=SIZE, height=SIZE * 3 // 4), {"values": values}


def _heatmap(cells: "list[Cell]") -> list[Drawn]:
    """A square for each pair: rows `A > B` with a column for each panel, or columns `panel:B` of row A."""
    panels: dict[str, Rows] = {}
    for cell in cells:
        one, greater, other = cell.row.partition(" > ")
        panel = cell.column
        if not greater:
            panel, colon, other = cell.column.partition(":")
            if not colon:
                continue
        panels.setdefault(panel, []).append({"row": one, "column": other, "value": cell.value})
    return [_squares(cells, panel, values) for panel, values in panels.items()]


def _squares(cells: "list[Cell]", panel: str, values: Rows) -> Drawn:
    """The squares of a panel; with lines between clusters of metrics and `=` on exact ties, if the cells have them."""
    order = list(dict.fromkeys([one["row"] for one in values] + [one["column"] for one in values]))
    data = {"values": values, **_marks(cells, panel, order)}
    is_p = panel.rpartition("_")[2] == "p" or panel in ("p", "p_legacy")
    steps = alt.Scale(type="threshold", domain=[0.001, 0.01, 0.05], range=_GREENS)
    colour = alt.Color("value:Q").title(panel).scale(steps if is_p else alt.Scale(domain=[0, 1], scheme="viridis"))
    across, down = names(alt.X("column:N").sort(None), order, labelAngle=-60), names(alt.Y("row:N").sort(None), order)
    base = alt.Chart().encode(x=across, y=down)
    shown = tips("row:N", "column:N", "value:Q")
    layers: list[Any] = [base.mark_rect().encode(color=colour, tooltip=shown).properties(data=alt.NamedData("values"))]
    if "tied" in data:
        layers.append(base.mark_text(text="=").properties(data=alt.NamedData("tied")))
        rule = alt.Chart(alt.NamedData("edges")).mark_rule()
        layers.append(rule.encode(x=alt.X("edge:N", bandPosition=0).scale(domain=order)))
        layers.append(rule.encode(y=alt.Y("edge:N", bandPosition=0).scale(domain=order)))
    return panel, alt.layer(*layers, width=alt.Step(14), height=alt.Step(14)), data


def _marks(cells: "list[Cell]", panel: str, names: list[str]) -> dict[str, Rows]:
    """Pairs of equal metrics, and the first metric of each further cluster; nothing if cells have no clusters."""
    prefix = panel.rpartition("_")[0]
    clusters = {cell.row: cell.value for cell in cells if cell.column == f"{prefix}_cluster"}
    values = {cell.row: cell.value for cell in cells if cell.column == f"{prefix}_value"}
    if not clusters:
        return {}
    tied = [
        {"row": one, "column": other}
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if abs((values.get(one) or 0.0) - (values.get(other) or 0.0)) <= TIED
    ]
    edges = [{"edge": other} for one, other in pairwise(names) if clusters.get(one) != clusters.get(other)]
    return {"tied": tied, "edges": edges}


TIED = 1e-12  # of values that are equal but for rounding
_GREENS = ["#00441b", "#238b45", "#74c476", "#eee"]


def _scatter(cells: "list[Cell]") -> list[Drawn]:
    """A metric against human scores; correlations are in the title. Cells: as of `of_pairs`."""
    values = {(cell.row, cell.column): cell.value for cell in cells}
    zero = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color="#bbb")
    return [
        (
            f"{metric}: {_correlations(values, metric)}",
            alt.layer(
                zero.encode(x=alt.XDatum(0)),
                zero.encode(y=alt.YDatum(0)),
                alt.Chart(alt.NamedData("points"))
                .mark_point(opacity=0.7)
                .encode(
                    x=alt.X("human:Q").title("human score").scale(zero=False),
                    y=alt.Y("metric:Q").title(metric).scale(zero=False),
                    tooltip=tips("what:N", "metric:Q", "human:Q"),
                ),
                width=SIZE,
                height=SIZE,
            ),
            {"points": list(found.values())},
        )
        for metric, found in of_pairs(cells).items()
    ]


def _correlations(values: dict[tuple[str, str], float | None], metric: str) -> str:
    names = {"pearson": "r", "spearman": "ρ", "kendall": "τ_b"}
    return ", ".join(
        f"{name} = {statistic_text(values, metric, key)}" for key, name in names.items() if (metric, key) in values
    )


_KINDS: dict[str, Callable[["list[Cell]"], list[Drawn]]] = {
    "curves": _curves,
    "heatmap": _heatmap,
    "scatter": _scatter,
    "differences": differences,
    "bars": bars,
    "carried": carried,
}
