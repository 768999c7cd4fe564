"""One segment's outputs by each scorer, one panel a scorer."""

from typing import TYPE_CHECKING

from cli.charts.small_multiples import dot_panels
from cli.charts.specification import Rows, Spec
from cli.exit_codes import UsageError

if TYPE_CHECKING:
    from queries.segment import Segment


def segment_scores(found: "Segment") -> Spec:
    """Scores of each output by each scorer, best by the first scorer first; texts where the mouse rests.

    Raises UsageError: no text of the segment has a score.
    """
    rows: Rows = [
        {
            "panel": scorer,
            "name": text.name or text.kind,
            "value": text.scores[scorer],
            "text": text.text,
        }
        for scorer in found.scorers
        for text in found.texts
        if text.scores.get(scorer) is not None
    ]
    if not rows:
        raise UsageError(f"--chart: no text of {found.place} has a score to draw")
    outputs = [text for text in found.texts if text.name is not None and text.name in {row["name"] for row in rows}]
    order = [text.name for text in sorted(outputs, key=lambda text: text.kind == "reference") if text.name is not None]
    return dot_panels(
        rows,
        list(dict.fromkeys(order)),
        list(found.scorers),
        title=f"Scores of {found.place}",
        signature=(),
        lines=[f"outputs by {found.scorers[0]}, best first; higher is better for every scorer"],
        tooltips=("text",),
    )
