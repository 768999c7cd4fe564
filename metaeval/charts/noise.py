"""Charts of robustness: measures over rising noise, one panel per kind; oracles by value, one panel per measure."""

import altair as alt
import polars as pl

from metaeval.charts.parts import names, tips, titled

_TITLES = {
    "independent": "noise on each score (standard deviations)",
    "segment": "bias of segments (standard deviations)",
    "system": "bias of systems (standard deviations)",
    "outliers": "outliers (share)",
}


def noise_chart(frame: pl.DataFrame, signature: str) -> alt.VConcatChart:
    """Lines: mean over draws; bands: 5 to 95% of the draws. frame: as of `metaeval.studies.robustness.noise.noise`."""
    rows = [row for row in frame.drop("signature").rows(named=True) if row["value"] is not None]
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    colour = alt.Color("measure:N").title("measure").scale(domain=measures)
    base = alt.Chart().encode(x=alt.X("strength:Q").title(None), y=alt.Y("value:Q").scale(zero=False), color=colour)
    dots = base.mark_point().encode(
        shape=alt.Shape("measure:N").title("measure").scale(domain=measures),
        tooltip=tips("measure:N", "strength:N", "value:N", "low:N", "high:N"),
    )
    layers = [
        base.mark_area().encode(y=alt.Y("low:Q").title("value").scale(zero=False), y2=alt.Y2("high:Q")),
        base.mark_line(),
        dots,
    ]
    kinds = [_TITLES[kind] for kind in _TITLES if any(row["kind"] == kind for row in rows)]
    body = alt.layer(*layers, width=240, height=240, data=alt.NamedData("noise"))
    panels = body.facet(alt.Facet("panel:N").title(None).sort(kinds), columns=4).resolve_scale(x="independent")
    name = rows[0]["metric"] if rows else ""
    return titled(
        panels,
        f"Noise in {name}: effect on each measure",
        signature,
        {"noise": [{**row, "panel": _TITLES[row["kind"]]} for row in rows]},
        "lines: mean over simulations; bands: 5 to 95% of the simulations",
    )


def oracles_chart(frame: pl.DataFrame, signature: str) -> alt.VConcatChart:
    """Points: values of oracles and of further human scores. frame: as of `studies.robustness.oracles`."""
    rows = [row for row in frame.drop("signature").rows(named=True) if row["value"] is not None]
    kinds = ["oracle", "round"]
    panel = (
        alt.Chart(alt.NamedData("oracles"), width=170, height=alt.Step(20))
        .mark_point(size=60)
        .encode(
            x=alt.X("value:Q").title(None).scale(zero=False).axis(tickCount=4),
            y=names(alt.Y("name:N"), list(dict.fromkeys(row["name"] for row in rows)), grid=True),
            color=alt.Color("kind:N").title(None).scale(domain=kinds),
            shape=alt.Shape("kind:N").title(None).scale(domain=kinds),
            tooltip=tips("name:N", "measure:N", "value:Q"),
        )
    )
    return titled(
        panel.facet(alt.Facet("measure:N").title(None).sort(None), columns=4),
        "Values of oracle metrics by each measure",
        signature,
        {"oracles": rows},
        "oracles: human error annotations with other weights; rounds: other human scores, on outputs that both scored",
    )
