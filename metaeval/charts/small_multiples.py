"""Values of several kinds side by side, one panel each, names in one order: a protocol's tasks, a segment."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from metaeval.charts.parts import ORANGE, Rows, bulk, edges, names, tips, titled, within
from metaeval.results.stars import star
from warehouse.errors import QuestionError
from warehouse.wording import counted

if TYPE_CHECKING:
    from metaeval.studies.protocols.scoring import ProtocolScore
    from queries.segment import Segment

WIDTH, COLUMNS = 112, 8
_LINES = r"split(replace(replace(datum.label, '. ', '.\u00a0'), regexp('(.{17,})-(?=[^-]{3,}$)'), '$1- '), ' ')"
"""Of a panel's name: broken at spaces, and before the reference of a long one."""


def task_panels(score: "ProtocolScore") -> alt.VConcatChart:
    """One panel for the overall score and one per task, metrics in the order of the overall score."""
    from metaeval.studies.protocols.tables import task_name

    titles = ["overall", *(f"{number}. {task_name(task)}" for number, task in enumerate(score.tasks, start=1))]
    columns = [(score.overall, score.clusters), *((task.values, task.clusters) for task in score.tasks)]
    rows: Rows = [
        {
            "panel": title,
            "name": name,
            "value": None if values[place] != values[place] else float(values[place]),
            "cluster": int(clusters[place]) or None,
        }
        for title, (values, clusters) in zip(titles, columns, strict=True)
        for place, name in enumerate(score.metrics)
    ]
    rows = _in_panels(rows, titles)
    lines = ["metrics sorted by the overall score; a metric without a point has no value in the task"]
    if score.clusters.any():
        lines.append("circled: in the first significance cluster")
    if any(row["beyond"] for row in rows):
        lines.append("triangles at the edge: points beyond the axis")
    title = f"{score.testset} by the rules of {score.protocol}: {counted(len(score.tasks), 'task')}"
    return titled(_panels(rows, score.metrics, titles), title, score.signature, {"values": rows}, *lines)


def segment_scores(found: "Segment") -> alt.VConcatChart:
    """Scores of each output by each scorer, best by the first scorer first; texts as tooltips.

    Raises QuestionError: no text of the segment has a score.
    """
    rows: Rows = [
        {"panel": scorer, "name": text.name or text.kind, "value": text.scores[scorer], "text": text.text}
        for scorer in found.scorers
        for text in found.texts
        if text.scores.get(scorer) is not None
    ]
    if not rows:
        raise QuestionError(f"no text of {found.place} has a score to draw")
    rows = _in_panels(rows, found.scorers)
    known = {row["name"] for row in rows}
    order = [text.name for text in sorted(found.texts, key=lambda text: text.kind == "reference") if text.name in known]
    body = _panels(rows, list(dict.fromkeys(filter(None, order))), found.scorers, "text:N")
    line = f"outputs by {found.scorers[0]}, best first; higher is better for every scorer"
    return titled(body, f"Scores of {found.place}", "", {"values": rows}, line)


def _in_panels(rows: Rows, panels: Sequence[str]) -> Rows:
    """The rows with their positions, each panel scaled to the bulk of its values."""
    own = [[row for row in rows if row["panel"] == panel] for panel in panels]
    return [row for some in own for row in within(some, "value", bulk([row["value"] for row in some]))]


def _panels(rows: Rows, order: Sequence[str], panels: Sequence[str], *tooltips: str) -> Any:
    """rows: with name, panel, value, and any cluster. order: of the names; panels: of the panels."""
    base = alt.Chart().encode(
        y=names(alt.Y("name:N"), order, grid=True),
        x=alt.X("at:Q").title(None).scale(zero=False, nice=False, padding=6).axis(tickCount=4, format="~r"),
    )
    clusters = ["cluster:N"] if any(row.get("cluster") for row in rows) else []
    near = base.transform_filter("datum.beyond === null")
    layers = [near.mark_point(size=40).encode(tooltip=tips("name:N", "value:Q", *tooltips, *clusters))]
    if clusters:
        first = base.transform_filter("datum.cluster === 1")
        layers.append(first.mark_point(filled=False, size=130, strokeWidth=1.2, color=ORANGE))
    layers += edges(base, rows)
    body = alt.layer(*layers, width=WIDTH, height=alt.Step(15), data=alt.NamedData("values"))
    lines = _LINES.replace("datum.label", f"({star(panels)})".replace("★ ", "★\u00a0"))
    titles = (
        alt.Facet("panel:N")
        .title(None)
        .sort(list(panels))
        .header(labelFontSize=10, labelLimit=WIDTH + 20, labelExpr=lines)
    )
    return body.facet(titles, columns=COLUMNS).resolve_scale(x="independent")
