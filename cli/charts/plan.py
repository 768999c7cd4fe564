"""The chart of a plan: power by the number of units, with the number needed and its intervals."""

from typing import TYPE_CHECKING

import numpy as np

from cli.charts.specification import BLUE, MIDDLE, ORANGE, Spec, chart, field

if TYPE_CHECKING:
    from metaeval.planning.plans import Plan


def plan_chart(plan: "Plan") -> Spec:
    """Points: estimated power; line: the logistic fit; orange: units needed, thick by the number of simulated data
    sets alone, thin with the uncertainty of the observed difference (open where it has no bound).
    """
    row = plan.table.frame.row(0, named=True)
    points = plan.curve.rows(named=True)
    sizes = [point["units"] for point in points]
    grid: list[float] = np.geomspace(min(sizes), max(sizes), 60).tolist() if row["low"] is not None else []
    line = [{"units": size, "power": plan.found.power(size)} for size in grid]
    needed = [] if row["needed"] is None else [{"units": row["needed"], "power": row["power"]}]
    x = field("units", "Q", f"{row['unit']} (log scale)", scale={"type": "log"})
    y = field("power", "Q", "estimated power", scale={"domain": [0, 1]}, axis={"format": "%"})
    spans = [
        {"units": row[low], "to": row[high] or max(*sizes, row["needed"]), "power": row["power"], "size": size}
        for low, high, size in (("data_low", "data_high", 1.5), ("low", "high", 5))
        if needed and row[low] is not None
    ]
    number = "not reached" if row["needed"] is None else f"{row['needed']}"
    return chart(
        f"How many {row['unit']} tell {row['first']} and {row['second']} apart? {number}",
        plan.table.signature.splitlines(),
        {},
        "thick: 95% by the number of simulated data sets alone; thin: with the uncertainty of the observed difference",
        width=460,
        height=280,
        layer=[
            {
                "data": {"values": line},
                "mark": {"type": "line", "color": BLUE},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "color": MIDDLE, "opacity": 1, "size": 35},
                "encoding": {"x": x, "y": y, "tooltip": [{"field": "units"}, {"field": "power"}]},
            },
            *(
                {
                    "data": {"values": [span]},
                    "mark": {"type": "rule", "color": ORANGE, "strokeWidth": span["size"], "opacity": 0.8},
                    "encoding": {"x": x, "x2": {"field": "to"}, "y": y},
                }
                for span in spans
            ),
            {
                "data": {"values": needed},
                "mark": {"type": "point", "filled": True, "color": ORANGE, "size": 90},
                "encoding": {"x": x, "y": y},
            },
        ],
    )
