"""The chart of deltas: agreement with people over a metric's difference, one panel a human protocol."""

from typing import TYPE_CHECKING

import numpy as np

from cli.charts.specification import BLUE, MIDDLE, ORANGE, Spec, chart, field

if TYPE_CHECKING:
    from metaeval.pairs.deltas import Deltas, Fit

SHOWN = 2.5  # times the largest threshold: beyond it the curve is flat


def deltas_chart(found: "Deltas") -> Spec:
    """The fitted curve of each protocol, all directions together, with its 95% band and the differences found.

    Points: shares of pairs in ten groups of about equal size. Rules: the smallest difference for each level, where it
    is reached.
    """
    panels = [_panel(fit, found.metric) for fit in found.fits if fit.direction == "all"]
    return chart(
        f"How large must a difference of {found.metric} be for people to agree with it?",
        found.signature.splitlines(),
        {},
        "line: isotonic fit over all pairs of systems; band: 95%, evaluation sets and systems resampled",
        "points: tenths of the pairs; dashed: smallest difference that reaches a level of agreement",
        hconcat=panels,
    )


def _panel(fit: "Fit", metric: str) -> Spec:
    grid = fit.found.grid
    curve = [
        {"difference": float(x), "agreement": float(y), "low": float(low), "high": float(high)}
        for x, y, low, high in zip(grid, fit.found.curve.value(grid), fit.found.low, fit.found.high, strict=True)
    ]
    reached = [
        {"agreement": one.level, "difference": one.difference}
        for one in fit.found.thresholds
        if not np.isnan(one.difference)
    ]
    named = [
        f"{one.level:.3g}: {'-' if np.isnan(one.difference) else f'{one.difference:.3g}'}"
        for one in fit.found.thresholds
    ]
    largest = max([one["difference"] for one in reached], default=float(grid[-1]))
    x = field(
        "difference", "Q", f"difference of {metric}", scale={"domain": [0, min(float(grid[-1]), SHOWN * largest) or 1]}
    )
    y = field("agreement", "Q", "agreement with people", scale={"domain": [0, 1]}, axis={"format": "%"})
    pairs = "pair" if fit.n_pairs == 1 else "pairs"
    sets = "set" if fit.n_sets == 1 else "sets"
    step = {"interpolate": "step-after"}
    return {
        "title": {"text": f"{fit.protocol}: {fit.n_pairs} {pairs}, {fit.n_sets} {sets}", "subtitle": ", ".join(named)},
        "width": 260,
        "height": 240,
        "layer": [
            {
                "data": {"values": curve},
                "mark": {"type": "area", "clip": True, "opacity": 0.2, "color": BLUE, **step},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "data": {"values": curve},
                "mark": {"type": "line", "clip": True, "color": BLUE, **step},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": [{"difference": one.difference, "agreement": one.share} for one in fit.groups]},
                "mark": {"type": "point", "clip": True, "filled": True, "color": MIDDLE, "opacity": 1, "size": 30},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": reached},
                "mark": {"type": "rule", "strokeDash": [4, 3], "color": ORANGE},
                "encoding": {"x": x, "y": y, "y2": {"datum": 0}},
            },
        ],
    }
