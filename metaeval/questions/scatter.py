"""`scatter`: one metric against humans."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.fields import METRIC_FIELDS, RoundHumanField, SliceFields, SystemScoreField, needing
from metaeval.options import Run
from metaeval.question import Argument, Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class Scatter(SliceFields, SystemScoreField, RoundHumanField, name="scatter"):
    """Plot a metric against human scores.

    Systems, differences of system pairs, and segments.

    The chart shows all three views, the table one. Correlations are in the notes.

    Example: scorehouse scatter sim24 en-de simBLEU
    """

    needs = needing(METRIC_FIELDS, "intersection")

    metric: Annotated[str, Argument("Metric, such as BLEU-refA or BLEU.", ("metric",), names="metric")]
    view: Annotated[
        Literal["systems", "pairs", "segments"],
        Option("Systems, differences of system pairs, or bins of segment scores, as a table."),
    ] = "systems"

    def _one(self, run: Run) -> "Answer":
        from metaeval.answer import Answer
        from metaeval.tables.scatter import scatter

        with run.opened() as warehouse:
            found = scatter(warehouse, self.slice(), self.metric, self.computing())
        notes = (*found.words, *found.notes)
        return Answer(found.view(self.view), found.signature, notes, question=self, found=found)

    def chart(self, answer: "Answer") -> "alt.VConcatChart":
        from metaeval.charts.scatter import scatter_panels

        return scatter_panels(answer.found)
