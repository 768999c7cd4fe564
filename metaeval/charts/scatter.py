"""One metric against humans: systems, differences of system pairs with quadrants, and segments as a density."""

from typing import TYPE_CHECKING, Any

import altair as alt

from metaeval.charts.labels import labelled
from metaeval.charts.parts import BLUE, GREY, ORANGE, RAMP, tips, titled

if TYPE_CHECKING:
    from metaeval.tables.scatter import Scatter

PLOT = (330, 330)
_VERDICTS = {"agree": (BLUE, "circle"), "disagree": (ORANGE, "triangle-up"), "tie": (GREY, "square")}


def scatter_panels(found: "Scatter") -> alt.VConcatChart:
    """One panel a view; no panel for pairs or segments where there are none."""
    titles = (f"{found.human} (system score)", f"{found.metric} (system score, {found.source})")
    systems, points = labelled("systems", found.systems.rows(named=True), "human", "metric", "system", titles, PLOT)
    datasets = {"systems": points, "pairs": found.pairs.rows(named=True), "segments": found.segments.rows(named=True)}
    panels = [systems.properties(title="systems")]
    if datasets["pairs"]:
        panels.append(_pairs(found))
    if datasets["segments"]:
        panels.append(_segments(found))
    return titled(
        alt.concat(*panels, columns=3).resolve_scale(color="independent", shape="independent"),
        f"{found.metric} against {found.human}",
        found.signature,
        datasets,
        *found.words,
    )


def _pairs(found: "Scatter") -> Any:
    there = found.pairs["verdict"].unique().to_list()
    domain = [name for name in _VERDICTS if name in there]
    colours, shapes = ([_VERDICTS[name][place] for name in domain] for place in (0, 1))
    points = (
        alt.Chart(alt.NamedData("pairs"))
        .mark_point(size=28)
        .encode(
            x=alt.X("human:Q").title(f"difference of {found.human}, better minus worse system"),
            y=alt.Y("metric:Q").title(f"difference of {found.metric}"),
            color=alt.Color("verdict:N").title(None).scale(domain=domain, range=colours),
            shape=alt.Shape("verdict:N").title(None).scale(domain=domain, range=shapes),
            tooltip=tips("better:N", "worse:N", "human:N", "metric:N"),
        )
    )
    zero = alt.Chart(alt.InlineData(values=[{}])).mark_rule()
    return alt.layer(
        zero.encode(y=alt.YDatum(0)),
        zero.encode(x=alt.XDatum(0)),
        points,
        title=alt.Title("pairs of systems", subtitle="above the line the metric agrees with humans"),
        width=PLOT[0],
        height=PLOT[1],
    )


def _segments(found: "Scatter") -> Any:
    exact = alt.Scale(zero=False, nice=False)
    return (
        alt.Chart(
            alt.NamedData("segments"),
            title=alt.Title("segments", subtitle="number of (system, segment) scores"),
            width=PLOT[0],
            height=PLOT[1],
        )
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X("human_low:Q").title(f"{found.human} (segment score)").scale(exact).bin(binned=True),
            x2=alt.X2("human_high:Q"),
            y=alt.Y("metric_low:Q").title(f"{found.metric} (segment score)").scale(exact).bin(binned=True),
            y2=alt.Y2("metric_high:Q"),
            color=alt.Color("n:Q").title("scores").scale(type="log", range=RAMP[1:]),
            tooltip=tips("human_low:N", "human_high:N", "metric_low:N", "metric_high:N", "n:N"),
        )
    )
