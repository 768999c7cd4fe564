"""The chart of deltas: agreement with people over a metric's difference, one panel a human protocol."""

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from metaeval.charts.parts import MIDDLE, ORANGE, Rows, tips, titled

if TYPE_CHECKING:
    from metaeval.pairs.deltas import Deltas, Fit

SHOWN = 2.5  # times the largest threshold: beyond it the curve is flat


def deltas_chart(found: "Deltas") -> alt.VConcatChart:
    """The fitted curve of each protocol, all directions together, with its 95% band and the differences found.

    Points: shares of pairs in ten groups of about equal size. Rules: the smallest difference for each level, where it
    is reached, with its number.
    """
    datasets: dict[str, Rows] = {}
    panels = [_panel(fit, found.metric, datasets) for fit in found.fits if fit.direction == "all"]
    return titled(
        alt.concat(*panels, columns=2),
        f"How large must a difference of {found.metric} be for people to agree with it?",
        found.signature,
        datasets,
        "line: isotonic fit over all pairs of systems; band: 95%, evaluation sets and systems resampled",
        "points: tenths of the pairs; dashed: smallest difference that reaches a level of agreement",
    )


def _panel(fit: "Fit", metric: str, datasets: dict[str, Rows]) -> Any:
    grid = fit.found.grid
    reached: Rows = [
        {"agreement": one.level, "difference": one.difference, "text": f"≥ {one.difference:.3g} → {one.level:.0%}"}
        for one in fit.found.thresholds
        if not np.isnan(one.difference)
    ]
    own: dict[str, Rows] = {
        "curve": [
            {"difference": float(x), "agreement": float(y), "low": float(low), "high": float(high)}
            for x, y, low, high in zip(grid, fit.found.curve.value(grid), fit.found.low, fit.found.high, strict=True)
        ],
        "tenths": [{"difference": one.difference, "agreement": one.share} for one in fit.groups],
        "levels": reached,
    }
    datasets |= {f"{fit.protocol}_{name}": rows for name, rows in own.items()}
    largest = max([one["difference"] for one in reached], default=float(grid[-1]))
    end = min(float(grid[-1]), SHOWN * largest) or 1
    base = alt.Chart().encode(
        x=alt.X("difference:Q").title(f"difference of {metric}").scale(domain=[0, end]),
        y=alt.Y("agreement:Q").title("agreement with people").scale(domain=[0, 1]).axis(format="%", tickCount=10),
        tooltip=tips("difference:Q", "agreement:Q"),
    )
    curve, tenths, levels = (base.properties(data=alt.NamedData(f"{fit.protocol}_{name}")) for name in own)
    layers = [
        curve.mark_area(clip=True, interpolate="step-after").encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        curve.mark_line(clip=True, interpolate="step-after"),
        tenths.transform_filter(f"datum.difference <= {end!r}").mark_point(color=MIDDLE, size=30),
        levels.mark_rule(strokeDash=[4, 3], color=ORANGE).encode(y2=alt.Y2Datum(0)),
        levels.mark_rule(strokeDash=[4, 3], color=ORANGE).encode(x2=alt.X2Datum(0)),
        levels.mark_text(align="left", dx=5, dy=8, fontSize=11).encode(text=alt.Text("text:N")),
    ]
    missed = [f"{one.level:.0%}" for one in fit.found.thresholds if np.isnan(one.difference)]
    pairs, sets = ("pair" if fit.n_pairs == 1 else "pairs"), ("set" if fit.n_sets == 1 else "sets")
    title = alt.Title(
        f"{fit.protocol}: {fit.n_pairs} {pairs}, {fit.n_sets} {sets}",
        subtitle=f"not reached: {', '.join(missed)}" if missed else alt.Undefined,
    )
    return alt.layer(*layers, title=title, width=440, height=340)
