"""A ranking: dots with intervals and bracketed clusters, two measures against each other, or a heat map of columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cli.charts.heat_map import heat_map
from cli.charts.labels import label_layers, placed
from cli.charts.specification import BLUE, ORANGE, Rows, Spec, chart, common, field, named, names_axis, rows_of
from cli.exit_codes import UsageError

if TYPE_CHECKING:
    from metaeval.wide import Wide

PLOT = (420, 420)
_COLUMNS = ("metric", "kind", "value", "low", "high", "rank", "cluster", "epsilon")


def ranking_dots(frame: pl.DataFrame, signature: str, lines: Sequence[str]) -> Spec:
    """One panel a measure, best first, with intervals and brackets around clusters; of two also one against the other.

    frame: as of `metaeval.intervals.with_intervals`, of one evaluation set or pooled. lines: on the intervals.
    """
    measures = list(dict.fromkeys(frame["measure"].to_list()))
    datasets: dict[str, Rows] = {}
    panels: list[Spec] = []
    for number, measure in enumerate(measures, start=1):
        rows = _rows(frame, measure)
        datasets[f"ranking_{number}"] = rows
        datasets[f"clusters_{number}"] = _clusters(rows)
        panels.append(_dots(measure, number, rows))
    if len(measures) == 2:
        both = _both(datasets["ranking_1"], datasets["ranking_2"])
        if len(both) > 1:
            datasets["measures"] = both
            panels.append(_against(measures[0], measures[1]))
    where = " ".join(str(frame[name][0]) for name in ("testset", "lp"))
    if any(datasets[name] for name in datasets if name.startswith("clusters")):
        lines = [*lines, "brackets: significance clusters"]
    if "kind" in frame.columns and "people" in frame["kind"]:
        lines = [*lines, "diamonds: people"]
    return chart(
        f"Agreement of metrics with {frame['human'][0]}, {where}",
        signature.splitlines(),
        datasets,
        *lines,
        hconcat=panels,
    )


def _rows(frame: pl.DataFrame, measure: str) -> Rows:
    """The metrics of a measure, best first, with the label of their line."""
    columns = [name for name in _COLUMNS if name in frame.columns]
    rows = rows_of(frame.filter(measure=measure).select(columns))
    return [
        {**row, "label": row["metric"] if row["rank"] is None else f"{row['rank']}. {row['metric']}"} for row in rows
    ]


def _clusters(rows: Rows) -> Rows:
    """First, last and middle line of each cluster; one with a metric between its own that was not tested, in parts."""
    parts: list[tuple[int, list[str]]] = []
    before = None
    for row in rows:
        cluster = None if row["value"] is None else row.get("cluster")
        if cluster is not None and cluster == before:
            parts[-1][1].append(row["label"])
        elif cluster is not None:
            parts.append((cluster, [row["label"]]))
        before = cluster
    return [
        {"cluster": cluster, "first": labels[0], "last": labels[-1], "middle": labels[(len(labels) - 1) // 2]}
        for cluster, labels in parts
    ]


def _dots(measure: str, number: int, rows: Rows) -> Spec:
    labels = [row["label"] for row in rows]
    y = names_axis("label", labels, grid=True)
    x = field("value", "Q", measure, scale={"zero": False, "nice": False, "padding": 8})
    shown = [{"field": name} for name in _COLUMNS if any(row.get(name) is not None for row in rows)]
    layers: list[Spec] = [
        {
            "mark": {"type": "point", "filled": True, "size": 45, "color": BLUE, "opacity": 1},
            "encoding": {"x": x, "y": y, "tooltip": shown},
        }
    ]
    if any(row.get("kind") == "people" for row in rows):
        marks = {"shape": ("diamond", "circle"), "color": (ORANGE, BLUE)}
        for channel, (people, metrics) in marks.items():
            condition = {"test": "datum.kind === 'people'", "value": people}
            layers[0]["encoding"][channel] = {"condition": condition, "value": metrics}
    if any(row.get("low") is not None for row in rows):
        ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
        layers.insert(0, {"mark": {"type": "rule", "strokeWidth": 1.5, "color": BLUE}, "encoding": ends})
    width = 330
    if any(row.get("cluster") is not None for row in rows):
        layers += _brackets(number, labels, width)
    return {
        "title": {"text": measure, "fontSize": 12},
        "width": width,
        "height": {"step": 16},
        "data": named(f"ranking_{number}"),
        "layer": layers,
    }


def _brackets(number: int, labels: Sequence[str], width: int) -> list[Spec]:
    """To the right of the dots: a line along each cluster, and its number."""
    data = named(f"clusters_{number}")
    y = names_axis("first", labels)
    ends = {"y": {**y, "bandPosition": 0.15}, "y2": {"field": "last", "bandPosition": 0.85}}
    feet = [
        {
            "data": data,
            "mark": {"type": "rule", "strokeWidth": 1.2, "clip": False},
            "encoding": {
                "x": {"value": width + 4},
                "x2": {"value": width + 8},
                "y": {**y, "field": one, "bandPosition": at},
            },
        }
        for one, at in (("first", 0.15), ("last", 0.85))
    ]
    return [
        {
            "data": data,
            "mark": {"type": "rule", "strokeWidth": 1.2, "clip": False},
            "encoding": {"x": {"value": width + 8}, **ends},
        },
        *feet,
        {
            "data": data,
            "mark": {"type": "text", "align": "left", "baseline": "middle", "fontSize": 10, "clip": False},
            "encoding": {"x": {"value": width + 12}, "y": {**y, "field": "middle"}, "text": {"field": "cluster"}},
        },
    ]


def _both(first: Rows, second: Rows) -> Rows:
    """Metrics with values of both measures, and where their names are written."""
    others = {row["metric"]: row["value"] for row in second}
    points = [
        {"metric": row["metric"], "first": row["value"], "second": others[row["metric"]]}
        for row in first
        if row["value"] is not None and others.get(row["metric"]) is not None
    ]
    return placed(points, "first", "second", "metric", PLOT)


def _against(first: str, second: str) -> Spec:
    exact: dict[str, Any] = {"zero": False, "nice": False, "padding": 8}
    encoding = {"x": field("first", "Q", first, scale=exact), "y": field("second", "Q", second, scale=exact)}
    shown = [{"field": name} for name in ("metric", "first", "second")]
    return {
        "title": {"text": f"{second} against {first}", "fontSize": 12},
        "width": PLOT[0],
        "height": PLOT[1],
        "layer": [
            {
                "data": named("measures"),
                "mark": {"type": "point", "filled": True, "size": 40, "color": BLUE, "opacity": 1},
                "encoding": {**encoding, "tooltip": shown},
            },
            *label_layers("measures", "metric", encoding),
        ],
    }


def ranking_heat_map(found: "Wide", measures: Sequence[str], signature: str) -> Spec:
    """Metrics by language pairs or domains; the best of each column bold.

    Raises UsageError: several measures, whose values are not on one scale.
    """
    if len(measures) != 1:
        raise UsageError(f"--chart: a heat map shows one measure, not {' and '.join(measures)}; name one with -m")
    cells = [
        {
            "metric": metric,
            "column": column,
            "value": None if found.values[row, place] != found.values[row, place] else float(found.values[row, place]),
            "best": bool(found.best[row, place]),
            "cluster": int(found.clusters[row, place]) or None,
        }
        for row, metric in enumerate(found.metrics)
        for place, column in enumerate(found.names)
    ]
    return heat_map(
        cells,
        rows=("metric", found.metrics),
        columns=("column", found.names),
        value=measures[0],
        title=f"Agreement of metrics with humans by {measures[0]}",
        signature=common(signature.splitlines()),
        lines=["bold: the best of its column; colours compare the metrics of a column, not columns"],
        marked="best",
        by_column=True,
    )
