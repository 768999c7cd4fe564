"""Charts of error spans: precision against recall with lines of equal F, groups, severities, and outputs apart."""

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from metaeval.charts.heat_map import heat_map
from metaeval.charts.labels import SIDES, placed
from metaeval.charts.parts import BLUE, GREY, tips, titled
from metaeval.results.stars import starred

if TYPE_CHECKING:
    from metaeval.results.answer import Result

_PLOT = (420, 420)
_EQUAL = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # F of the lines
_STEPS = 30  # points of half a line


def span_chart(view: str, by: str | None, found: "Result") -> alt.VConcatChart:
    """The chart of a view of `spans`."""
    if view == "severities":
        return _severities(found)
    if view == "outputs":
        return _outputs(found)
    return _precision_recall(found) if by is None else _of_groups(found, by)


def equal_f(value: float) -> list[tuple[float, float]]:
    """Recall and precision with the same F, from precision 1 to recall 1.

    >>> ends = equal_f(0.5)
    >>> [tuple(round(one, 3) for one in ends[at]) for at in (0, -1)]
    [(0.333, 1.0), (1.0, 0.333)]
    """
    larger = [value ** (step / _STEPS) for step in range(_STEPS + 1)]
    half = [(value * one / (2 * one - value), one) for one in larger]
    return [*half, *(pair[::-1] for pair in reversed(half[:-1]))]


def _precision_recall(found: "Result") -> alt.VConcatChart:
    points = [{**row, "text": starred(row["metric"])} for row in found.frame.drop_nulls("f").rows(named=True)]
    lines = [{"F": value, "recall": r, "precision": p} for value in _EQUAL for r, p in equal_f(value)]
    ends = [one for one in lines if one["recall"] == 1.0]
    unit = alt.Scale(domain=[0, 1])
    x, y = (alt.X("recall:Q").scale(unit), alt.Y("precision:Q").scale(unit))
    curves = (
        alt.Chart(alt.NamedData("lines"))
        .mark_line(color=GREY, strokeWidth=0.7)
        .encode(x=x, y=y, detail=alt.Detail("F:N"))
    )
    named = alt.Chart(alt.NamedData("ends")).mark_text(align="left", dx=4, color=GREY)
    dots = alt.Chart(alt.NamedData("metrics")).encode(x=x, y=y)
    layers = [
        curves,
        named.encode(x=x, y=y, text=alt.Text("F:Q", format=".1f")),
        dots.mark_point(color=BLUE).encode(tooltip=tips("metric:N", "precision:N", "recall:N", "f:N")),
    ]
    for side, (dx, dy, _) in SIDES.items():
        of_side = dots.transform_filter(alt.FieldEqualPredicate(field="label", equal=side))
        align: Any = {"right": "left", "left": "right"}.get(side, "center")
        layers.append(of_side.mark_text(style="name", dx=dx, dy=dy, align=align).encode(text=alt.Text("text:N")))
    datasets = {"lines": lines, "ends": ends, "metrics": placed(points, "recall", "precision", "text", _PLOT)}
    body = alt.layer(*layers, width=_PLOT[0], height=_PLOT[1])
    return titled(body, "Error spans that metrics predict", found.signature, datasets, "grey: lines of equal F")


def _of_groups(found: "Result", by: str) -> alt.VConcatChart:
    has_predictions = by != "category"  # which have none, so that there is recall alone
    value = "f" if has_predictions else "recall"
    frame = found.frame
    return heat_map(
        frame.select(by, "metric", value=pl.col(value)).rows(named=True),
        rows=(by, frame[by].unique(maintain_order=True).to_list()),
        columns=("metric", frame["metric"].unique(maintain_order=True).to_list()),
        value=value,
        title=f"{'F' if has_predictions else 'Recall'} of error spans by {by}",
        signature=found.signature,
        lines=[],
    )


def _severities(found: "Result") -> alt.VConcatChart:
    frame = found.frame.with_columns(marked=pl.format("{} · {}", "metric", "marked"), value="share")
    return heat_map(
        frame.select("marked", "predicted", "value").rows(named=True),
        rows=("marked", frame["marked"].unique(maintain_order=True).to_list()),
        columns=("predicted", frame["predicted"].unique(maintain_order=True).to_list()),
        value="share",
        title="Severities predicted by metrics (columns) for marked spans (rows)",
        signature=found.signature,
        lines=["none: the span overlaps no span of the other side"],
    )


def _outputs(found: "Result") -> alt.VConcatChart:
    points = (
        alt.Chart(alt.NamedData("outputs"), width=_PLOT[0], height=_PLOT[1])
        .mark_point(color=BLUE)
        .encode(
            x=alt.X("marked:Q").title("spans marked"),
            y=alt.Y("predicted:Q").title("spans predicted"),
            tooltip=tips("metric:N", "system:N", "segment:N", "apart:N"),
        )
    )
    datasets = {"outputs": found.frame.rows(named=True)}
    return titled(points, "Outputs whose spans differ most", found.signature, datasets)
