"""The chart of a plan: power by the number of units, with the number needed and its intervals."""

from typing import TYPE_CHECKING

import altair as alt

from metaeval.charts.parts import MIDDLE, ORANGE, tips, titled

if TYPE_CHECKING:
    from metaeval.results.answer import Result


def plan_chart(found: "Result") -> alt.VConcatChart:
    """Points: estimated power; line: the logistic fit; orange: units needed, with a thick interval for the number of
    simulated data sets alone, and a thin one with the uncertainty of the observed difference (open if it has no bound).
    """
    row = found.frame.row(0, named=True)
    points = found.facts["curve"].rows(named=True)
    sizes = [point["units"] for point in points]
    needed = [] if row["needed"] is None else [{"units": row["needed"], "power": row["power"]}]
    spans = [
        {"units": row[low], "to": row[high] or max(*sizes, row["needed"]), "power": row["power"], "size": size}
        for low, high, size in (("data_low", "data_high", 1.5), ("low", "high", 5))
        if needed and row[low] is not None
    ]
    datasets = {
        "fit": found.facts["fit"].rows(named=True),
        "power": points,
        "intervals": spans,
        "needed": needed,
    }
    base = alt.Chart().encode(
        x=alt.X("units:Q").title(f"{row['unit']}s (log scale)").scale(type="log", nice=False, padding=8),
        y=alt.Y("power:Q").title("estimated power").scale(domain=[0, 1]).axis(format="%"),
        tooltip=tips("units:Q", "power:Q"),
    )
    marks = {
        "fit": base.mark_line(),
        "power": base.mark_point(color=MIDDLE, size=35),
        "intervals": base.mark_rule(color=ORANGE, opacity=0.8).encode(
            x2=alt.X2("to:Q"), strokeWidth=alt.StrokeWidth("size:Q").scale(None)
        ),
        "needed": base.mark_point(color=ORANGE, size=90),
    }
    drawn = [mark.properties(data=alt.NamedData(name)) for name, mark in marks.items() if datasets[name]]
    number = "not reached" if row["needed"] is None else f"{row['needed']}"
    return titled(
        alt.layer(*drawn, width=560, height=320),
        f"How many {row['unit']}s tell {row['first']} and {row['second']} apart? {number}",
        found.signature,
        {name: rows for name, rows in datasets.items() if rows},
        "thick: 95% interval from the number of simulated data sets; thin: including the uncertainty of the observed "
        "difference",
    )
