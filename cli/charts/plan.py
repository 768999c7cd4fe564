"""The chart of a plan: power by the number of units, with the number needed and its intervals."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cli.charts.specification import SCHEMA, broken_lines

if TYPE_CHECKING:
    from metaeval.planning.required import Plan

WIDTH = 90  # characters of a line of the signature
_BLUE, _ORANGE = "#0072b2", "#d55e00"


def plan_chart(plan: "Plan") -> dict[str, Any]:
    """Points: shares of worlds; line: the logistic fit; orange: units needed, thick by worlds alone, thin with the
    uncertainty of the observed difference (open where it has no bound).
    """
    row = plan.table.frame.row(0, named=True)
    points = plan.curve.rows(named=True)
    sizes = [point["units"] for point in points]
    grid: list[float] = np.geomspace(min(sizes), max(sizes), 60).tolist() if row["low"] is not None else []
    line = [{"units": size, "power": plan.found.power(size)} for size in grid]
    needed = [] if row["needed"] is None else [{"units": row["needed"], "power": row["power"]}]
    x = {"field": "units", "type": "quantitative", "title": f"{row['unit']} (log scale)", "scale": {"type": "log"}}
    y = {
        "field": "power",
        "type": "quantitative",
        "title": "share of worlds in which the difference is found",
        "scale": {"domain": [0, 1]},
        "axis": {"format": "%"},
    }
    spans = [
        {"units": row[low], "to": row[high] or max(*sizes, row["needed"]), "power": row["power"], "size": size}
        for low, high, size in (("data_low", "data_high", 1.5), ("low", "high", 5))
        if needed and row[low] is not None
    ]
    number = "not reached" if row["needed"] is None else f"{row['needed']}"
    return {
        "$schema": SCHEMA,
        "title": {
            "text": f"How many {row['unit']} tell {row['first']} and {row['second']} apart? {number}",
            "subtitle": [
                "thick: 95% by the number of worlds alone; thin: with the uncertainty of the observed difference",
                *broken_lines(plan.table.signature.split("|"), WIDTH),
            ],
            "subtitleColor": "#666",
            "subtitleFontSize": 10,
            "anchor": "start",
        },
        "width": 460,
        "height": 280,
        "layer": [
            {
                "data": {"values": line},
                "mark": {"type": "line", "color": _BLUE},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "color": "black", "size": 35},
                "encoding": {"x": x, "y": y, "tooltip": [{"field": "units"}, {"field": "power"}]},
            },
            *(
                {
                    "data": {"values": [span]},
                    "mark": {"type": "rule", "color": _ORANGE, "strokeWidth": span["size"], "opacity": 0.8},
                    "encoding": {"x": x, "x2": {"field": "to"}, "y": y},
                }
                for span in spans
            ),
            {
                "data": {"values": needed},
                "mark": {"type": "point", "filled": True, "color": _ORANGE, "size": 90},
                "encoding": {"x": x, "y": y},
            },
        ],
        "config": {"view": {"stroke": "#ddd"}},
    }
