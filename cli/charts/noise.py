"""Charts of robustness: measures over rising noise, one panel a kind; oracles by their values, one panel a measure."""

from typing import TYPE_CHECKING, Any

from cli.charts.specification import SCHEMA, broken_lines

if TYPE_CHECKING:
    import polars as pl

WIDTH = 110  # characters of a line of the signature
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_Spec = dict[str, Any]


def noise_chart(frame: "pl.DataFrame", signature: str) -> _Spec:
    """Lines: mean over draws; bands: 5 to 95% of the draws. frame: as of `metaeval.robustness.noise.noise`."""
    rows = frame.drop("signature").rows(named=True)
    colour = {
        "field": "measure",
        "type": "nominal",
        "title": "measure",
        "scale": {"range": list(_COLOURS)},
        "legend": {"symbolOpacity": 1},
    }
    panels = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        x = {
            "field": "strength",
            "type": "quantitative",
            "title": "share of outliers" if kind == "outliers" else "standard deviations",
        }
        y = {"field": "value", "type": "quantitative", "title": "value"}
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
                    {
                        "mark": {"type": "line", "point": {"size": 25}},
                        "encoding": {"x": x, "y": y, "color": colour},
                    },
                ],
            }
        )
    name = rows[0]["metric"] if rows else ""
    lines = "lines: mean over draws; bands: 5 to 95% of the draws"
    body = {"hconcat": panels, "resolve": {"scale": {"y": "shared"}}}
    return _chart(f"Noise in {name}: what each measure makes of it", lines, signature, body)


_TITLES = {
    "independent": "noise on each score",
    "segment": "bias of segments",
    "system": "bias of systems",
    "outliers": "outliers",
}


def oracles_chart(frame: "pl.DataFrame", signature: str) -> _Spec:
    """Points: values of oracles and of further human scores. frame: as of `metaeval.robustness.oracles.oracles`."""
    rows = [row for row in frame.drop("signature").rows(named=True) if row["value"] is not None]
    names = list(dict.fromkeys(row["name"] for row in rows))
    panel = {
        "width": 150,
        "height": {"step": 20},
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {
            "x": {"field": "value", "type": "quantitative", "title": "value", "scale": {"zero": False}},
            "y": {"field": "name", "type": "nominal", "title": None, "scale": {"domain": names}},
            "color": {
                "field": "kind",
                "type": "nominal",
                "title": None,
                "scale": {"domain": ["oracle", "round"], "range": list(_COLOURS[:2])},
            },
        },
    }
    facet = {"field": "measure", "type": "nominal", "title": None}
    body = {"data": {"values": rows}, "facet": {"column": {**facet, "sort": None}}, "spec": panel}
    lines = "oracles: people's own errors under other weights; rounds: another human score, on what both scored"
    return _chart("Oracles, as each measure sees them", lines, signature, body)


def _chart(title: str, lines: str, signature: str, body: _Spec) -> _Spec:
    return {
        "$schema": SCHEMA,
        "title": {
            "text": title,
            "subtitle": [lines, *broken_lines(signature.split("|"), WIDTH)],
            "subtitleColor": "#666",
            "subtitleFontSize": 10,
            "anchor": "start",
        },
        **body,
        "config": {"view": {"stroke": "#ddd"}},
    }
