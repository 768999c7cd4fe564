"""The chart of deltas: agreement with human scores over a metric's difference, one panel per human protocol."""

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from metaeval.charts.parts import MIDDLE, ORANGE, Rows, tips, titled

if TYPE_CHECKING:
    from metaeval.results.answer import Result

SHOWN = 2.5  # times the largest threshold: beyond it the curve is flat


def deltas_chart(found: "Result") -> alt.VConcatChart:
    """The fitted curve of each protocol, all directions together, with its 95% band and the differences found.

    Points: shares of pairs in ten groups of about equal size. Rules: the smallest difference for each level that is
    reached, with its number.
    """
    datasets: dict[str, Rows] = {}
    metric = found.frame["metric"][0]
    all_directions = found.frame.filter(direction="all").partition_by("protocol", maintain_order=True)
    panels = [_panel(levels, found, datasets) for levels in all_directions]
    if any(one.title.subtitle is not alt.Undefined for one in panels):  # titles stand at one height
        for one in panels:
            one.title.subtitle = " " if one.title.subtitle is alt.Undefined else one.title.subtitle
    return titled(
        alt.concat(*panels, columns=2),
        f"How large must a difference in {metric} be to agree with human scores?",
        found.signature,
        datasets,
        "line: isotonic fit over all pairs of systems; band: 95%, evaluation sets and systems resampled",
        "points: tenths of the pairs; dashed: smallest difference that reaches the level of agreement",
    )


def _panel(levels: pl.DataFrame, found: "Result", datasets: dict[str, Rows]) -> Any:
    row = levels.row(0, named=True)
    protocol, curve = row["protocol"], found.facts["curves"][row["protocol"]]
    reached: Rows = [
        {"agreement": level, "difference": delta, "text": f"{level:.0%} at {delta:.3g}"}
        for level, delta in levels.drop_nulls("delta").select("agreement", "delta").iter_rows()
    ]
    own: dict[str, Rows] = {
        "curve": curve.rows(named=True),
        "tenths": found.facts["tenths"][protocol].rows(named=True),
        "levels": reached,
    }
    datasets |= {f"{protocol}_{name}": rows for name, rows in own.items()}
    farthest = float(curve["difference"][-1])
    largest = max([one["difference"] for one in reached], default=farthest)
    end = min(farthest, SHOWN * largest) or 1
    base = alt.Chart().encode(
        x=alt.X("difference:Q").title(f"difference of {row['metric']}").scale(domain=[0, end]),
        y=alt.Y("agreement:Q").title("agreement with human scores").scale(domain=[0, 1]).axis(format="%", tickCount=10),
        tooltip=tips("difference:Q", "agreement:Q"),
    )
    fit, tenths, rules = (base.properties(data=alt.NamedData(f"{protocol}_{name}")) for name in own)
    layers = [
        fit.mark_area(clip=True, interpolate="step-after").encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        fit.mark_line(clip=True, interpolate="step-after"),
        tenths.transform_filter(f"datum.difference <= {end!r}").mark_point(color=MIDDLE, size=30),
        rules.mark_rule(strokeDash=[4, 3], color=ORANGE).encode(y2=alt.Y2Datum(0)),
        rules.mark_rule(strokeDash=[4, 3], color=ORANGE).encode(x2=alt.X2Datum(0)),
        rules.mark_text(align="left", dx=5, dy=8, fontSize=11).encode(text=alt.Text("text:N")),
    ]
    missed = [f"{level:.0%}" for level in levels.filter(pl.col("delta").is_null())["agreement"]]
    pairs, sets = ("pair" if row["n_pairs"] == 1 else "pairs"), ("set" if row["n_sets"] == 1 else "sets")
    title = alt.Title(
        f"{protocol}: {row['n_pairs']} {pairs}, {row['n_sets']} {sets}",
        subtitle=f"not reached: {', '.join(missed)}" if missed else alt.Undefined,
    )
    return alt.layer(*layers, title=title, width=440, height=340)
