"""Charts of decisions: curves over thresholds, costs, reliability, and thresholds carried elsewhere."""

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from metaeval.charts.heat_map import heat_map
from metaeval.charts.parts import ORANGE, titled

if TYPE_CHECKING:
    from metaeval.results.answer import Result


def decision_chart(view: str, found: "Result", metric: str) -> alt.VConcatChart:
    """The chart of a view of `cutoff`; a threshold has the chart of its curve."""
    if view == "transfer":
        return _transfer(found, metric)
    if view == "reliability":
        return _reliability(found, metric)
    return _cost(found, metric) if view == "cost" else _curve(found, metric)


def _curve(found: "Result", metric: str) -> alt.VConcatChart:
    parts = [
        found.frame.select(
            "threshold", "share", value=name, low=f"{name}_low", high=f"{name}_high", statistic=pl.lit(name)
        )
        for name in ("precision", "recall")
    ]
    base = alt.Chart(alt.NamedData("curve"), width=460, height=280).encode(
        x=alt.X("threshold:Q").title(f"threshold on {metric}").scale(zero=False, nice=False),
        color=alt.Color("statistic:N").title(None),
    )
    share = alt.Y("value:Q").title("share").scale(domain=[0, 1]).axis(format="%")
    bands = base.mark_area(opacity=0.25).encode(y=alt.Y("low:Q").title("share"), y2=alt.Y2("high:Q"))
    lines = base.mark_line().encode(y=share)
    datasets = {"curve": pl.concat(parts).rows(named=True)}
    words = "bands: 95% intervals"
    return titled(
        alt.layer(bands, lines), f"Precision and recall over thresholds of {metric}", found.signature, datasets, words
    )


def _cost(found: "Result", metric: str) -> alt.VConcatChart:
    base = alt.Chart(alt.NamedData("costs"), width=460, height=280).encode(
        x=alt.X("share:Q").title("share published without review").scale(domain=[0, 1]).axis(format="%"),
        y=alt.Y("cost:Q").title("cost per output"),
    )
    best = base.transform_filter("datum.is_best").mark_point(color=ORANGE, size=80)
    datasets = {"costs": found.frame.rows(named=True)}
    title = f"Cost of publishing by {metric}"
    return titled(
        alt.layer(base.mark_line(), best),
        title,
        found.signature,
        datasets,
        "point: the cheapest share of published outputs",
    )


def _reliability(found: "Result", metric: str) -> alt.VConcatChart:
    x = alt.X("probability:Q").title(f"calibrated probability by {metric}").scale(domain=[0, 1])
    y = alt.Y("observed:Q").title("share of good outputs").scale(domain=[0, 1])
    base = alt.Chart(alt.NamedData("bins"), width=340, height=340).encode(x=x)
    diagonal = alt.Chart(alt.NamedData("calibrated")).mark_line(color="gray", strokeDash=[4, 4]).encode(x=x, y=y)
    bars = base.mark_rule().encode(y=alt.Y("low:Q").title("share of good outputs"), y2=alt.Y2("high:Q"))
    datasets = {
        "bins": found.frame.rows(named=True),
        "calibrated": [{"probability": end, "observed": end} for end in (0.0, 1.0)],
    }
    title = f"Reliability of calibrated {metric} scores"
    words = "bars: 95% intervals; dashed: perfect calibration"
    return titled(alt.layer(diagonal, bars, base.mark_point().encode(y=y)), title, found.signature, datasets, words)


def _transfer(found: "Result", metric: str) -> alt.VConcatChart:
    names = found.frame["source"].unique(maintain_order=True).to_list()
    return heat_map(
        found.frame.select("source", "target", value=pl.col("mcc")).rows(named=True),
        rows=("source", names),
        columns=("target", names),
        value="mcc",
        title=f"MCC of thresholds of {metric}, transferred from source (rows) to target (columns)",
        signature=found.signature,
        lines=["each threshold has the highest MCC on its source"],
    )
