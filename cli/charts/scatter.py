"""One metric against humans: systems, differences of system pairs with quadrants, and segments as a density."""

from typing import TYPE_CHECKING, Any

from cli.charts.labels import label_layers, placed
from cli.charts.specification import BLUE, GREY, ORANGE, RAMP, Spec, chart, field, named, rows_of

if TYPE_CHECKING:
    from metaeval.tables.scatter import Scatter

PLOT = (380, 360)
_VERDICTS = {"agree": (BLUE, "circle"), "disagree": (ORANGE, "triangle-up"), "tie": (GREY, "square")}


def scatter_panels(found: "Scatter") -> Spec:
    """One panel a view; no panel for pairs or segments where there are none."""
    systems = placed(rows_of(found.systems), "human", "metric", "system", PLOT)
    datasets = {"systems": systems, "pairs": rows_of(found.pairs), "segments": rows_of(found.segments)}
    panels = [_systems(found)]
    if datasets["pairs"]:
        panels.append(_pairs(found))
    if datasets["segments"]:
        panels.append(_segments(found))
    return chart(
        f"{found.metric} against {found.human}",
        [found.signature],
        datasets,
        *found.words,
        hconcat=panels,
        resolve={"scale": {"color": "independent", "shape": "independent"}},
    )


def _systems(found: "Scatter") -> Spec:
    exact: dict[str, Any] = {"zero": False, "nice": False, "padding": 8}
    encoding = {
        "x": field("human", "Q", f"{found.human} (system score)", scale=exact),
        "y": field("metric", "Q", f"{found.metric} (system score, {found.source})", scale=exact),
    }
    return {
        "title": {"text": "systems", "fontSize": 12},
        "width": PLOT[0],
        "height": PLOT[1],
        "layer": [
            {
                "data": named("systems"),
                "mark": {"type": "point", "filled": True, "size": 45, "color": BLUE, "opacity": 1},
                "encoding": {**encoding, "tooltip": [{"field": name} for name in ("system", "human", "metric")]},
            },
            *label_layers("systems", "system", encoding),
        ],
    }


def _pairs(found: "Scatter") -> Spec:
    shown = [{"field": name} for name in ("better", "worse", "human", "metric")]
    verdict = field("verdict", "N")
    there = found.pairs["verdict"].unique().to_list()
    domain = [name for name in _VERDICTS if name in there]
    return {
        "title": {"text": "pairs of systems: above the line the metric agrees with humans", "fontSize": 12},
        "width": PLOT[0],
        "height": PLOT[1],
        "layer": [
            {"data": {"values": [{}]}, "mark": {"type": "rule", "strokeWidth": 1}, "encoding": {"y": {"datum": 0}}},
            {"data": {"values": [{}]}, "mark": {"type": "rule", "strokeWidth": 1}, "encoding": {"x": {"datum": 0}}},
            {
                "data": named("pairs"),
                "mark": {"type": "point", "filled": True, "size": 28, "opacity": 1},
                "encoding": {
                    "x": field("human", "Q", f"difference of {found.human}, better minus worse system"),
                    "y": field("metric", "Q", f"difference of {found.metric}"),
                    "color": {**verdict, "scale": {"domain": domain, "range": [_VERDICTS[name][0] for name in domain]}},
                    "shape": {**verdict, "scale": {"domain": domain, "range": [_VERDICTS[name][1] for name in domain]}},
                    "tooltip": shown,
                },
            },
        ],
    }


def _segments(found: "Scatter") -> Spec:
    exact: dict[str, Any] = {"zero": False, "nice": False}
    return {
        "title": {"text": "segments: number of (system, segment) scores", "fontSize": 12},
        "width": PLOT[0],
        "height": PLOT[1],
        "data": named("segments"),
        "mark": {"type": "rect", "strokeWidth": 0},
        "encoding": {
            "x": field("human_low", "Q", f"{found.human} (segment score)", scale=exact, bin={"binned": True}),
            "x2": {"field": "human_high"},
            "y": field("metric_low", "Q", f"{found.metric} (segment score)", scale=exact, bin={"binned": True}),
            "y2": {"field": "metric_high"},
            "color": field("n", "Q", "scores", scale={"type": "log", "range": list(RAMP[1:])}),
            "tooltip": [{"field": name} for name in ("human_low", "human_high", "metric_low", "metric_high", "n")],
        },
    }
