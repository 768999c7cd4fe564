"""Panels for particular kinds of figures: differences of system pairs, shares, and carried thresholds."""

from typing import TYPE_CHECKING, Any

import altair as alt

from metaeval.charts.parts import CATEGORIES, GREY, SHAPES, Rows, names, tips

if TYPE_CHECKING:
    from metaeval.studies.papers.items import Cell

SIZE = 320  # pixels of a panel
Drawn = tuple[str, Any, dict[str, Rows]]
"""A panel: its title, the chart, and its data by name."""
_DIRECTIONS = {
    "from English": (CATEGORIES[0], SHAPES[0]),
    "into English": (CATEGORIES[2], SHAPES[1]),
    "without English": (CATEGORIES[5], SHAPES[2]),
}
_DISAGREE = "#f3c6d8"
_SHARES = {
    "share_significant": "pairs of metrics that differ, n − 3",
    "share_significant_legacy": "pairs of metrics that differ, n − 2",
    "share_beat_bleu": "metrics that beat BLEU, n − 3",
}


def of_pairs(cells: "list[Cell]") -> dict[str, dict[str, dict[str, Any]]]:
    """Metric -> what -> its values. Cells: rows `metric: what`, columns human and metric."""
    points: dict[str, dict[str, dict[str, Any]]] = {}
    for cell in cells:
        metric, colon, what = cell.row.partition(": ")
        if colon and cell.column in ("human", "metric"):
            points.setdefault(metric, {}).setdefault(what, {"what": what})[cell.column] = cell.value
    return points


def differences(cells: "list[Cell]") -> list[Drawn]:
    """A metric's differences of system pairs against human differences, which are on the vertical axis; by direction.

    Cells: rows `metric: testset lp first - second`, columns human and metric; rows `metric`, columns pearson and
    spearman. Quadrants in which the two disagree are shaded.
    """
    from metaeval.studies.pairs.system_pairs import direction_of

    values = {(cell.row, cell.column): cell.value for cell in cells}
    return [
        _differences(metric, [{**one, "of": direction_of(one["what"].split()[1])} for one in found.values()], values)
        for metric, found in of_pairs(cells).items()
    ]


def _differences(metric: str, points: Rows, values: dict[tuple[str, str], float | None]) -> Drawn:
    width, height = (max(abs(one[name]) for one in points) or 1.0 for name in ("metric", "human"))
    domain = [name for name in _DIRECTIONS if any(one["of"] == name for one in points)]
    colours, shapes = ([_DIRECTIONS[name][place] for name in domain] for place in (0, 1))
    data: dict[str, Rows] = {
        "corners": [
            {"metric": -width, "to_metric": 0, "human": 0, "to_human": height},
            {"metric": 0, "to_metric": width, "human": -height, "to_human": 0},
        ],
        "points": points,
        "words": [
            {"metric": -width, "human": height, "text": f"ρ = {statistic_text(values, metric, 'spearman')}"},
            {"metric": width, "human": -height, "text": f"r = {statistic_text(values, metric, 'pearson')}"},
        ],
    }
    base = alt.Chart().encode(
        x=alt.X("metric:Q").title(f"difference of {metric}"), y=alt.Y("human:Q").title("human difference")
    )
    corners, dots, words = (base.properties(data=alt.NamedData(name)) for name in data)
    chart = alt.layer(
        corners.mark_rect(color=_DISAGREE, opacity=0.5).encode(x2=alt.X2("to_metric:Q"), y2=alt.Y2("to_human:Q")),
        dots.mark_point(opacity=0.7).encode(
            color=alt.Color("of:N").title(None).scale(domain=domain, range=colours),
            shape=alt.Shape("of:N").title(None).scale(domain=domain, range=shapes),
            tooltip=tips("what:N", "metric:Q", "human:Q"),
        ),
        words.transform_filter("datum.metric < 0")
        .mark_text(align="left", baseline="top", fontWeight="bold")
        .encode(text=alt.Text("text:N")),
        words.transform_filter("datum.metric > 0")
        .mark_text(align="right", baseline="bottom", fontWeight="bold")
        .encode(text=alt.Text("text:N")),
        width=SIZE,
        height=SIZE,
    )
    return metric, chart, data


def statistic_text(values: dict[tuple[str, str], float | None], metric: str, statistic: str) -> str:
    """A statistic of a metric in a title."""
    value = values.get((metric, statistic))
    return "-" if value is None else f"{value:.3f}"


def bars(cells: "list[Cell]") -> list[Drawn]:
    """Shares of pairs and of metrics, each with its value."""
    rows = [
        {"share": _SHARES[cell.column], "value": cell.value, "text": f"{cell.value:.2f}"}
        for cell in cells
        if cell.column in _SHARES
    ]
    base = alt.Chart(alt.NamedData("shares"), width=SIZE).encode(
        y=alt.Y("share:N").title(None).sort(list(_SHARES.values())),
        x=alt.X("value:Q").title("share (p < 0.05)").scale(domain=[0, 1]),
    )
    return [
        ("", base.mark_bar() + base.mark_text(align="left", dx=3).encode(text=alt.Text("text:N")), {"shares": rows})
    ]


def carried(cells: "list[Cell]") -> list[Drawn]:
    """Each metric's accuracy with its own tie threshold, without one, and with the threshold of each other set."""
    own = "its own threshold"
    kinds = {"acc_eq": own, "acc_eq_at_0": "no threshold"}
    rows: Rows = []
    for cell in cells:
        _, by, source = cell.column.partition("acc_eq by ")
        kind = f"threshold of {source}" if by else kinds.get(cell.column)
        if kind is not None:
            rows.append({"metric": cell.row, "kind": kind, "value": cell.value})
    domain = list(dict.fromkeys(one["kind"] for one in rows))
    best = {one["metric"]: one["value"] or 0.0 for one in rows if one["kind"] == own}
    colours = [CATEGORIES[0], GREY, *CATEGORIES[1:6], *CATEGORIES[7:]]
    chart = (
        alt.Chart(alt.NamedData("values"), width=SIZE, height=alt.Step(14))
        .mark_point()
        .encode(
            y=names(alt.Y("metric:N"), sorted(best, key=lambda name: -best[name])),
            x=alt.X("value:Q").title("acc_eq by item").scale(zero=False),
            color=alt.Color("kind:N").title(None).scale(domain=domain, range=colours),
            shape=alt.Shape("kind:N").title(None).scale(domain=domain, range=SHAPES),
            tooltip=tips("metric:N", "kind:N", "value:Q"),
        )
    )
    return [("", chart, {"values": rows})]
