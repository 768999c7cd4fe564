"""One metric against humans: systems, differences of system pairs with quadrants, and segments as a density."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import altair as alt

from metaeval.charts.labels import labelled
from metaeval.charts.parts import BLUE, GREY, ORANGE, RAMP, tips, titled

if TYPE_CHECKING:
    from metaeval.results.answer import Result

PLOT = (330, 330)
_INSIDE: dict[str, Any] = {"orient": "top-left", "direction": "vertical"}  # above the line, left of most points
"""Where a legend moves no title: titles of panels stand at one height."""
_VERDICTS = {"agree": (BLUE, "circle"), "disagree": (ORANGE, "triangle-up"), "tie": (GREY, "square")}


def scatter_panels(found: "Result") -> alt.VConcatChart:
    """One panel per view; no panel for pairs or segments if there are none."""
    facts = found.facts
    titles = (f"{facts['human']} (system score)", f"{facts['metric']} (system score, {facts['source']})")
    datasets = {name: facts[name].rows(named=True) for name in ("systems", "pairs", "segments")}
    systems, datasets["systems"] = labelled("systems", datasets["systems"], "human", "metric", "system", titles, PLOT)
    panels = [systems.properties(title=alt.Title("systems", subtitle="one point each"))]
    if datasets["pairs"]:
        panels.append(_pairs(facts))
    if datasets["segments"]:
        panels.append(_segments(facts))
    return titled(
        alt.concat(*panels, columns=3).resolve_scale(color="independent", shape="independent"),
        f"{facts['metric']} against {facts['human']}",
        found.signature,
        datasets,
        *facts["words"],
    )


def _pairs(facts: Mapping[str, Any]) -> Any:
    there = facts["pairs"]["verdict"].unique().to_list()
    domain = [name for name in _VERDICTS if name in there]
    colours, shapes = ([_VERDICTS[name][place] for name in domain] for place in (0, 1))
    points = (
        alt.Chart(alt.NamedData("pairs"))
        .mark_point(size=28)
        .encode(
            x=alt.X("human:Q").title(f"difference of {facts['human']}, better minus worse system"),
            y=alt.Y("metric:Q").title(f"difference of {facts['metric']}"),
            color=alt.Color("verdict:N").title(None).scale(domain=domain, range=colours).legend(**_INSIDE),
            shape=alt.Shape("verdict:N").title(None).scale(domain=domain, range=shapes).legend(**_INSIDE),
            tooltip=tips("better:N", "worse:N", "human:N", "metric:N"),
        )
    )
    zero = alt.Chart(alt.InlineData(values=[{}])).mark_rule()
    return alt.layer(
        zero.encode(y=alt.YDatum(0)),
        zero.encode(x=alt.XDatum(0)),
        points,
        title=alt.Title("pairs of systems", subtitle="above the line, the metric agrees with human scores"),
        width=PLOT[0],
        height=PLOT[1],
    )


def _segments(facts: Mapping[str, Any]) -> Any:
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
            x=alt.X("human_low:Q").title(f"{facts['human']} (segment score)").scale(exact).bin(binned=True),
            x2=alt.X2("human_high:Q"),
            y=alt.Y("metric_low:Q").title(f"{facts['metric']} (segment score)").scale(exact).bin(binned=True),
            y2=alt.Y2("metric_high:Q"),
            color=alt.Color("n:Q")
            .title("scores")
            .scale(type="log", range=RAMP[1:])
            .legend(orient="bottom-left", gradientLength=90, direction="horizontal"),
            tooltip=tips("human_low:N", "human_high:N", "metric_low:N", "metric_high:N", "n:N"),
        )
    )
