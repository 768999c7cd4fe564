"""Charts of robustness: measures over rising noise, one panel a kind; oracles by their values, one panel a measure."""

import polars as pl

from cli.charts.specification import CATEGORIES, SHAPES, Spec, chart, field, named


def noise_chart(frame: pl.DataFrame, signature: str) -> Spec:
    """Lines: mean over draws; bands: 5 to 95% of the draws. frame: as of `metaeval.robustness.noise.noise`."""
    rows = frame.drop("signature").rows(named=True)
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    by_measure = field("measure", "N", "measure")
    colour = {
        **by_measure,
        "scale": {"domain": measures, "range": list(CATEGORIES)},
        "legend": {"symbolOpacity": 1},
    }
    shape = {**by_measure, "scale": {"domain": measures, "range": list(SHAPES)}}
    panels = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        x = field("strength", "Q", "share of outliers" if kind == "outliers" else "standard deviations")
        y = field("value", "Q", "value")
        panels.append(
            {
                "title": _TITLES[kind],
                "width": 200,
                "height": 220,
                "data": {"values": [row for row in rows if row["kind"] == kind and row["value"] is not None]},
                "layer": [
                    {
                        "mark": {"type": "area", "opacity": 0.18},
                        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
                    },
                    {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": colour}},
                    {
                        "mark": {"type": "point", "filled": True, "opacity": 1, "size": 45},
                        "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
                    },
                ],
            }
        )
    name = rows[0]["metric"] if rows else ""
    lines = "lines: mean over draws; bands: 5 to 95% of the draws"
    return chart(
        f"Noise in {name}: what each measure makes of it",
        signature.splitlines(),
        {},
        lines,
        hconcat=panels,
        resolve={"scale": {"y": "shared"}},
    )


_TITLES = {
    "independent": "noise on each score",
    "segment": "bias of segments",
    "system": "bias of systems",
    "outliers": "outliers",
}


def oracles_chart(frame: pl.DataFrame, signature: str) -> Spec:
    """Points: values of oracles and of further human scores. frame: as of `metaeval.robustness.oracles.oracles`."""
    rows = [row for row in frame.drop("signature").rows(named=True) if row["value"] is not None]
    names = list(dict.fromkeys(row["name"] for row in rows))
    kind, kinds = field("kind", "N"), ["oracle", "round"]
    panel = {
        "width": 150,
        "height": {"step": 20},
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {
            "x": field("value", "Q", "value", scale={"zero": False}),
            "y": field("name", "N", scale={"domain": names}),
            "color": {**kind, "scale": {"domain": kinds, "range": list(CATEGORIES[:2])}},
            "shape": {**kind, "scale": {"domain": kinds, "range": list(SHAPES[:2])}},
        },
    }
    facet = field("measure", "N")
    lines = "oracles: people's own errors under other weights; rounds: another human score, on what both scored"
    return chart(
        "Oracles, as each measure sees them",
        signature.splitlines(),
        {"oracles": rows},
        lines,
        data=named("oracles"),
        facet={"column": {**facet, "sort": None}},
        spec=panel,
    )
