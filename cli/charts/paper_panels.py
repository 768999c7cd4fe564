"""Panels of single kinds of figures: differences of system pairs, shares, and thresholds carried to another set."""

from typing import TYPE_CHECKING, Any

from cli.charts.specification import CATEGORIES, GREY, SHAPES, Rows, Spec, field

if TYPE_CHECKING:
    from metaeval.papers.items import Cell

SIZE = 320  # pixels of a panel
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


def differences(cells: "list[Cell]") -> list[Spec]:
    """A metric's differences of system pairs against people's, who are on the upright axis; by direction.

    Cells: rows `metric: testset lp first - second`, columns human and metric; rows `metric`, columns pearson and
    spearman. Quadrants in which the two disagree are shaded.
    """
    from metaeval.pairs.system_pairs import direction_of

    points: dict[str, dict[str, dict[str, Any]]] = {}
    for cell in cells:
        metric, colon, what = cell.row.partition(": ")
        if colon and cell.column in ("human", "metric"):
            place = points.setdefault(metric, {}).setdefault(what, {"what": what, "of": direction_of(what.split()[1])})
            place[cell.column] = cell.value
    values = {(cell.row, cell.column): cell.value for cell in cells}
    return [_differences(metric, list(found.values()), values) for metric, found in points.items()]


def _differences(metric: str, points: Rows, values: dict[tuple[str, str], float | None]) -> Spec:
    width, height = (max(abs(one[name]) for one in points) or 1.0 for name in ("metric", "human"))
    domain = [name for name in _DIRECTIONS if any(one["of"] == name for one in points)]
    colours, shapes = zip(*(_DIRECTIONS[name] for name in domain), strict=True)
    x: Spec = field("metric", "Q", f"difference of {metric}")
    y: Spec = field("human", "Q", "difference of people")
    corners = [
        {"metric": -width, "to_metric": 0, "human": 0, "to_human": height},
        {"metric": 0, "to_metric": width, "human": -height, "to_human": 0},
    ]
    by: Spec = field("of", "N")
    return {
        "title": metric,
        "width": SIZE,
        "height": SIZE,
        "layer": [
            {
                "data": {"values": corners},
                "mark": {"type": "rect", "color": _DISAGREE, "opacity": 0.5},
                "encoding": {"x": x, "x2": {"field": "to_metric"}, "y": y, "y2": {"field": "to_human"}},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "opacity": 0.7},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {**by, "scale": {"domain": domain, "range": list(colours)}},
                    "shape": {**by, "scale": {"domain": domain, "range": list(shapes)}},
                    "tooltip": [{"field": name} for name in ("what", "metric", "human")],
                },
            },
            *(
                {
                    "data": {
                        "values": [{"metric": at[0], "human": at[1], "text": f"{name} = {shown(values, metric, key)}"}]
                    },
                    "mark": {"type": "text", "align": align, "baseline": baseline, "fontWeight": "bold"},
                    "encoding": {"x": x, "y": y, "text": {"field": "text"}},
                }
                for name, key, at, align, baseline in (
                    ("ρ", "spearman", (-width, height), "left", "top"),
                    ("r", "pearson", (width, -height), "right", "bottom"),
                )
            ),
        ],
    }


def shown(values: dict[tuple[str, str], float | None], metric: str, statistic: str) -> str:
    """A statistic of a metric in a title."""
    value = values.get((metric, statistic))
    return "-" if value is None else f"{value:.3f}"


def bars(cells: "list[Cell]") -> list[Spec]:
    """Shares of pairs and of metrics, each with its value."""
    rows = [
        {"share": _SHARES[cell.column], "value": cell.value, "text": f"{cell.value:.2f}"}
        for cell in cells
        if cell.column in _SHARES
    ]
    encoding: Spec = {
        "y": field("share", "N", sort=list(_SHARES.values())),
        "x": {"field": "value", "type": "quantitative", "scale": {"domain": [0, 1]}, "title": "share (p < 0.05)"},
    }
    return [
        {
            "title": "",
            "width": SIZE,
            "layer": [
                {"data": {"values": rows}, "mark": "bar", "encoding": encoding},
                {
                    "data": {"values": rows},
                    "mark": {"type": "text", "align": "left", "dx": 3},
                    "encoding": {**encoding, "text": {"field": "text"}},
                },
            ],
        }
    ]


def carried(cells: "list[Cell]") -> list[Spec]:
    """Each metric's accuracy with its own tie threshold, without any, and with that of each other set."""
    own = "its own threshold"
    kinds = {"acc_eq": own, "acc_eq_at_0": "no threshold"}
    rows: list[Spec] = []
    for cell in cells:
        _, by, source = cell.column.partition("acc_eq by ")
        kind = f"threshold of {source}" if by else kinds.get(cell.column)
        if kind is not None:
            rows.append({"metric": cell.row, "kind": kind, "value": cell.value})
    domain = list(dict.fromkeys(one["kind"] for one in rows))
    best = {one["metric"]: one["value"] or 0.0 for one in rows if one["kind"] == own}
    order = sorted(best, key=lambda name: -best[name])
    colours = [CATEGORIES[0], GREY, *CATEGORIES[1:6], *CATEGORIES[7:]]
    by_kind: Spec = field("kind", "N")
    scale: Spec = {"domain": domain}
    return [
        {
            "title": "",
            "width": SIZE,
            "height": {"step": 14},
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": {
                "y": field("metric", "N", scale={"domain": order}),
                "x": field("value", "Q", "acc_eq by item", scale={"zero": False}),
                "color": {**by_kind, "scale": {**scale, "range": colours}},
                "shape": {**by_kind, "scale": {**scale, "range": list(SHAPES)}},
                "tooltip": [{"field": name} for name in ("metric", "kind", "value")],
            },
        }
    ]
