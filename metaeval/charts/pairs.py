"""Pairs as stacked bars: concordant, discordant and tied pairs, and which scorer tied them."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from metaeval.charts.parts import Rows, names, tips, titled

_KINDS = {
    "concordant": "#08519c",
    "tied by both": "#6baed6",
    "tied by the metric": "#bdbdbd",
    "tied by human scores": "#e3e3e3",
    "discordant": "#e6700d",
}
_COLUMNS = {
    "concordant": "n_concordant",
    "tied by both": "n_tied_both",
    "tied by the metric": "n_tied_metric",
    "tied by human scores": "n_tied_human",
    "discordant": "n_discordant",
}
_TIED = {
    "both are 0": "#08306b",
    "other human ties": "#6baed6",
    "also tied by human scores": "#707070",
    "tied by the metric only": "#cfcfcf",
}


def pair_kinds(frame: pl.DataFrame, by: str, signature: str) -> alt.VConcatChart:
    """Shares of the five kinds of pairs of each metric. frame: as of `studies.tables.counts.together`, best first."""
    rows: Rows = []
    for row in frame.rows(named=True):
        n_pairs = sum(row[column] for column in _COLUMNS.values())
        for place, (kind, column) in enumerate(_COLUMNS.items()):
            n, share = row[column], row[column] / n_pairs if n_pairs else None
            rows.append({"metric": row["metric"], "pairs": kind, "order": place, "n": n, "share": share})
    groups = {"none": "all pairs of (system, segment) scores", "item": "pairs of systems in each segment"}
    bars = _bars("pairs", "metric", "pairs", frame["metric"].to_list(), _KINDS)
    return titled(
        bars.encode(x=alt.X("share:Q").title("share of pairs").scale(domain=[0, 1]).axis(format="%")).properties(
            width=560
        ),
        f"Concordant, discordant and tied pairs: {groups.get(by, 'pairs of segments of each system')}",
        signature,
        {"pairs": rows},
        "metrics sorted by their share of concordant pairs; ties shown between concordant and discordant pairs",
    )


def tied_pairs(frame: pl.DataFrame, signature: str) -> alt.VConcatChart:
    """Shares of pairs tied by humans and metrics, one panel per grouping. frame: as of `studies.tables.thresholds`."""
    rows: Rows = []
    for row in frame.rows(named=True):
        alone = row["n_tied"] - (row["n_tied_both"] or row["n_tied_zero"] or 0)
        if row["kind"] == "human":
            kinds = {"both are 0": row["n_tied_zero"], "other human ties": alone}
        else:
            kinds = {"also tied by human scores": row["n_tied_both"], "tied by the metric only": alone}
        for place, (kind, n) in enumerate(kinds.items()):
            share = n / row["n_pairs"] if row["n_pairs"] else None
            rows.append(
                {"scorer": row["scorer"], "by": row["by"], "ties": kind, "order": place, "n": n, "share": share}
            )
    humans = frame.filter(kind="human")["scorer"].unique(maintain_order=True).to_list()
    shares = frame.filter(by="none", kind="metric").sort("share_tied", "scorer", descending=[True, False])
    titles = {"none": "all pairs", "item": "within a segment", "system": "within a system"}
    bars = _bars("ties", "scorer", "ties", [*humans, *shares["scorer"].to_list()], _TIED)
    share = alt.X("share:Q").title("share of pairs that are tied").axis(format="%")
    panels = alt.Facet("panel:N").title(None).sort(list(titles.values()))
    return titled(
        bars.encode(x=share).properties(width=240).facet(panels, columns=3),
        "Tied pairs of human scores and metrics",
        signature,
        {"ties": [{**row, "panel": titles[row["by"]]} for row in rows]},
        f"first {' and '.join(humans) or 'the human score'}, then metrics sorted by their share of ties",
    )


def _bars(dataset: str, name: str, kind: str, order: Sequence[str], kinds: Mapping[str, str]) -> Any:
    """Stacked shares of kinds of pairs, one bar per name."""
    colour = alt.Color(f"{kind}:N").title(None).scale(domain=list(kinds), range=list(kinds.values()))
    return (
        alt.Chart(alt.NamedData(dataset), height=alt.Step(17))
        .transform_filter("datum.n > 0")
        .mark_bar()
        .encode(
            y=names(alt.Y(f"{name}:N"), order, zindex=1),
            color=colour,
            order=alt.Order("order:Q"),
            tooltip=[*tips(f"{name}:N", f"{kind}:N", "n:Q"), alt.Tooltip("share:Q", format=".2%")],
        )
    )
