"""`scatter`: one metric plotted against human scores."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import Options, RoundHuman, SystemScoreOption
from metaeval.questions.fields import requires
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import METRIC_FIELDS, Slice
from warehouse.fields import Argument, Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Scatter(Slice, EvalsetQuestion["Result"], name="scatter"):
    """Plot a metric against human scores.

    Shows system scores, differences between pairs of systems, and segment scores.

    The chart has all three views, the table has one. Notes give the correlations.

    Example: scorehouse scatter sim24 en-de simBLEU
    """

    needs = requires(METRIC_FIELDS, "intersection")

    metric: Annotated[str, Argument("Metric, such as BLEU-refA or BLEU.", ("metric",), names="metric")]
    view: Annotated[
        Literal["systems", "pairs", "segments"],
        Option("Table of systems, of differences between system pairs, or of binned segment scores."),
    ] = "systems"
    round_human: RoundHuman = None
    system_score: SystemScoreOption = None

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.results.answer import answer_of
        from metaeval.studies.tables.scatter import scatter

        with run.opened() as warehouse:
            found = scatter(warehouse, self.part(Slice), self.metric, self.part(Options), self.view)
        return answer_of(self, found)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import opening

        systems, pairs, *segments = answer.facts["words"]
        return opening(
            f"{answer.facts['metric']} against human scores over {systems}; {pairs}.",
            f"Over {segments[0]}." if segments else "",
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.scatter import scatter_panels

        return scatter_panels(answer.result)
