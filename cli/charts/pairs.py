"""Pairs as stacked bars: concordant, discordant and tied ones, and who tied them."""

import polars as pl

from cli.charts.specification import Rows, Spec, chart, field, named, names_axis, rows_of, tooltip

_KINDS = {
    "concordant": "#08519c",
    "tied by both": "#6baed6",
    "tied by the metric": "#bdbdbd",
    "tied by humans": "#e3e3e3",
    "discordant": "#e6700d",
}
_COLUMNS = {
    "concordant": "n_concordant",
    "tied by both": "n_tied_both",
    "tied by the metric": "n_tied_metric",
    "tied by humans": "n_tied_human",
    "discordant": "n_discordant",
}
_TIED = {
    "both are 0": "#08306b",
    "other human ties": "#6baed6",
    "tied by humans, too": "#707070",
    "tied by the metric alone": "#cfcfcf",
}


def pair_kinds(totals: pl.DataFrame, by: str, signature: str) -> Spec:
    """Shares of the five kinds of pairs of each metric. totals: as of `metaeval.tables.counts.totals`, best first."""
    names = totals["metric"].to_list()
    rows: Rows = [
        {"metric": row["metric"], "pairs": kind, "order": place, "n": row[column], "share": row[f"share_{column}"]}
        for row in totals.rows(named=True)
        for place, (kind, column) in enumerate(_COLUMNS.items())
    ]
    groups = {"none": "all pairs of (system, segment) scores", "item": "pairs of systems in each segment"}
    return chart(
        f"Concordant, discordant and tied pairs: {groups.get(by, 'pairs of segments of each system')}",
        [signature],
        {"pairs": rows},
        "metrics by their share of concordant pairs; ties between concordant and discordant ones",
        width=460,
        height={"step": 17},
        data=named("pairs"),
        transform=[{"filter": "datum.n > 0"}],
        mark={"type": "bar", "stroke": "white", "strokeWidth": 0.6},
        encoding={
            "y": names_axis("metric", names, zindex=1),
            "x": field("share", "Q", "share of pairs", axis={"format": "%"}, scale={"domain": [0, 1]}),
            "color": field("pairs", "N", scale={"domain": list(_KINDS), "range": list(_KINDS.values())}),
            "order": {"field": "order"},
            "tooltip": [*tooltip("metric", "pairs", "n"), {"field": "share", "format": ".2%"}],
        },
    )


def tied_pairs(frame: pl.DataFrame, signature: str) -> Spec:
    """Shares of tied pairs of people and metrics, one panel a grouping. frame: as of `metaeval.tables.ties`."""
    rows: Rows = []
    for row in rows_of(frame):
        alone = row["n_tied"] - (row["n_tied_both"] or row["n_tied_zero"] or 0)
        if row["kind"] == "human":
            kinds = {"both are 0": row["n_tied_zero"], "other human ties": alone}
        else:
            kinds = {"tied by humans, too": row["n_tied_both"], "tied by the metric alone": alone}
        for place, (kind, n) in enumerate(kinds.items()):
            share = n / row["n_pairs"] if row["n_pairs"] else None
            rows.append(
                {"scorer": row["scorer"], "by": row["by"], "ties": kind, "order": place, "n": n, "share": share}
            )
    humans = frame.filter(kind="human")["scorer"].unique().to_list()
    shares = frame.filter(by="none", kind="metric").sort("share_tied", "scorer", descending=[True, False])
    names = [*humans, *shares["scorer"].to_list()]
    titles = {"none": "all pairs", "item": "within a segment", "system": "within a system"}
    panels = [
        {
            "title": {"text": titles[by], "fontSize": 11},
            "width": 210,
            "height": {"step": 17},
            "data": named("ties"),
            "transform": [{"filter": {"field": "by", "equal": by}}, {"filter": "datum.n > 0"}],
            "mark": {"type": "bar", "stroke": "white", "strokeWidth": 0.6},
            "encoding": {
                "y": names_axis("scorer", names, labels=place == 0, ticks=place == 0, zindex=1),
                "x": field("share", "Q", "share of pairs that are tied", axis={"format": "%"}),
                "color": field("ties", "N", scale={"domain": list(_TIED), "range": list(_TIED.values())}),
                "order": {"field": "order"},
                "tooltip": [*tooltip("scorer", "ties", "n"), {"field": "share", "format": ".2%"}],
            },
        }
        for place, by in enumerate(titles)
    ]
    return chart(
        "Tied pairs of humans and metrics",
        [signature],
        {"ties": rows},
        f"first {' and '.join(humans) or 'the human score'}, then metrics by their share of ties",
        hconcat=panels,
        resolve={"scale": {"x": "shared"}},
    )
