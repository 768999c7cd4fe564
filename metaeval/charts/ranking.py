"""A ranking: dots with intervals and bracketed clusters, two measures against each other, or a heat map of columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from metaeval.charts.heat_map import heat_map
from metaeval.charts.labels import labelled
from metaeval.charts.parts import BLUE, GREEN, ORANGE, TIGHT, Rows, bulk, edges, names, placed, tips, titled, within
from metaeval.results.stars import is_own
from warehouse.errors import QuestionError

if TYPE_CHECKING:
    from metaeval.studies.ranking.wide import Wide

WIDTH = 350
PLOT = (WIDTH, 380)
_LEFT, _RIGHT, _TO_RIGHT = alt.XValue(0), alt.XValue("width"), alt.X2Value("width")  # type: ignore[no-untyped-call]
_KINDS = {"metric": ("circle", BLUE), "human": ("diamond", ORANGE), "own": ("square", GREEN)}
_COLUMNS = ("metric", "kind", "value", "low", "high", "rank", "rank_low", "rank_high", "cluster", "epsilon")


def ranking_dots(
    frame: pl.DataFrame, signature: str, lines: Sequence[str], *, is_crossed: bool = True
) -> alt.VConcatChart:
    """One panel per measure, best first, with intervals, any rank ranges, and brackets around clusters.

    frame: as of `studies.ranking.intervals.with_intervals`, of one evaluation set or pooled. lines: on the intervals.
    is_crossed: of two measures, also one against the other.
    """
    measures = list(dict.fromkeys(frame["measure"].to_list()))
    datasets: dict[str, Rows] = {}
    panels: list[Any] = []
    for number, measure in enumerate(measures, start=1):
        rows = _rows(frame, measure)
        datasets[f"ranking_{number}"] = rows
        datasets[f"clusters_{number}"] = _clusters(rows)
        panels.append(_dots(measure, number, rows))
    if is_crossed and len(measures) == 2:
        both = _both(datasets["ranking_1"], datasets["ranking_2"])
        if len(both) > 1:
            panel, datasets["measures"] = labelled("measures", both, "first", "second", "metric", measures, PLOT)
            panels.append(panel.properties(title=f"{measures[1]} against {measures[0]}"))
    where = " ".join(str(frame[name][0]) for name in ("testset", "lp"))
    said = {
        "after each rank: its range": "rank_low" in frame.columns,
        "brackets: significance clusters": any(datasets[name] for name in datasets if name.startswith("clusters")),
        "diamonds: human scores": any(row["is"] == "human" for row in datasets["ranking_1"]),
        "triangles at the edge: points beyond the axis": any(
            row.get("beyond") for rows in datasets.values() for row in rows
        ),
    }
    lines = [*lines, "; ".join(words for words, is_said in said.items() if is_said)]
    title = f"Agreement of metrics with {frame['human'][0]}, {where}"
    return titled(alt.concat(*panels, columns=2), title, signature, datasets, *lines)


def _rows(frame: pl.DataFrame, measure: str) -> Rows:
    """The metrics of a measure, best first, with the label of their line."""
    columns = [name for name in _COLUMNS if name in frame.columns]
    rows = frame.filter(measure=measure).select(columns).rows(named=True)
    low, high = bulk([row["value"] for row in rows])
    near = [row for row in rows if row["value"] is not None and low <= row["value"] <= high]
    ends = [row[name] for row in near for name in ("low", "high") if row.get(name) is not None]
    return [
        {
            **row,
            "label": placed(row["metric"], row["rank"], row.get("rank_low"), row.get("rank_high")),
            "is": "own" if is_own(row["metric"]) else row.get("kind", "metric"),
        }
        for row in within(rows, "value", (min([low, *ends]), max([high, *ends])))
    ]


def _clusters(rows: Rows) -> Rows:
    """First, last and middle line of each cluster; a cluster interrupted by an untested metric is split into parts."""
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


def _dots(measure: str, number: int, rows: Rows) -> Any:
    labels = [row["label"] for row in rows]
    base = alt.Chart(alt.NamedData(f"ranking_{number}")).encode(
        x=alt.X("at:Q").title(measure).scale(TIGHT), y=names(alt.Y("label:N"), labels, grid=True)
    )
    shown = tips(*(f"{name}:N" for name in _COLUMNS if any(row.get(name) is not None for row in rows)))
    kinds = [kind for kind in _KINDS if any(row["is"] == kind for row in rows)]
    shapes, colours = ([_KINDS[kind][place] for kind in kinds] for place in (0, 1))
    is_kind = {
        "color": alt.Color("is:N").scale(domain=kinds, range=colours).legend(None),
        "shape": alt.Shape("is:N").scale(domain=kinds, range=shapes).legend(None),
    }
    layers = [base.mark_point().transform_filter("datum.beyond === null").encode(**is_kind, tooltip=shown)]
    if "own" in kinds:
        band = base.transform_filter("datum.is === 'own'").mark_rect(color=GREEN, opacity=0.15)
        layers.insert(0, band.encode(x=_LEFT, x2=_TO_RIGHT))
    if any(row.get("low") is not None and row["beyond"] is None for row in rows):
        span = base.transform_filter("datum.beyond === null").mark_rule(strokeWidth=1.5, color=BLUE)
        layers.insert(0, span.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")))
    layers += edges(base, rows)
    if any(row.get("cluster") is not None for row in rows):
        layers += _brackets(number, labels)
    return alt.layer(*layers, title=measure, width=WIDTH, height=alt.Step(16))


def _brackets(number: int, labels: Sequence[str]) -> list[Any]:
    """To the right of the dots: a line along each cluster with a foot at each end, and its number."""
    base = alt.Chart(alt.NamedData(f"clusters_{number}")).encode(x=_RIGHT)

    def at(field: str, band: float) -> Any:
        return names(alt.Y(f"{field}:N", bandPosition=band), labels)

    foot = base.mark_rule(strokeWidth=1.2, xOffset=4, x2Offset=8).encode(x2=_TO_RIGHT)
    side = base.mark_rule(strokeWidth=1.2, xOffset=8)
    return [
        side.encode(y=at("first", 0.15), y2=alt.Y2("last", bandPosition=0.85)),
        foot.encode(y=at("first", 0.15)),
        foot.encode(y=at("last", 0.85)),
        base.mark_text(align="left", xOffset=12).encode(y=at("middle", 0.5), text=alt.Text("cluster:N")),
    ]


def _both(first: Rows, second: Rows) -> Rows:
    """Metrics with values of both measures."""
    others = {row["metric"]: row["value"] for row in second}
    return [
        {"metric": row["metric"], "is": row["is"], "first": row["value"], "second": others[row["metric"]]}
        for row in first
        if row["value"] is not None and others.get(row["metric"]) is not None
    ]


def ranking_heat_map(wide: "Wide", measures: Sequence[str], signature: str) -> alt.VConcatChart:
    """Metrics by language pairs or domains; the best of each column bold.

    Raises QuestionError: several measures, whose values are not on one scale.
    """
    if len(measures) != 1:
        raise QuestionError(f"a heat map shows one measure, not {' and '.join(measures)}; name one")
    cells = [
        {
            "metric": metric,
            "column": column,
            "value": None if wide.values[row, place] != wide.values[row, place] else float(wide.values[row, place]),
            "best": bool(wide.best[row, place]),
            "cluster": int(wide.clusters[row, place]) or None,
        }
        for row, metric in enumerate(wide.metrics)
        for place, column in enumerate(wide.names)
    ]
    return heat_map(
        cells,
        rows=("metric", wide.metrics),
        columns=("column", wide.names),
        value=measures[0],
        title=f"Agreement of metrics with human scores by {measures[0]}",
        signature=signature,
        lines=["bold: best of its column; colours compare metrics within a column, not across columns"],
        marked="best",
        by_column=True,
    )
