"""`spans`: error spans that metrics predict against those that people marked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.fields import requires
from metaeval.options import Run
from metaeval.question import EvalsetQuestion
from queries.slices import Slice
from warehouse.fields import Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class SpansOf(Slice, EvalsetQuestion["Result"], name="spans"):
    """Compare predicted error spans with marked ones.

    A metric that predicts spans for some outputs only is compared on these, and their number is shown.

    Example: scorehouse spans sim24 en-de --by domain
    """

    needs = requires(("by",), "view=agreement", n=("view=outputs",))

    measure: Annotated[
        str, Option("Measure of error spans: mpp, mp, em or char_f1.", ("measure", "m"), names="measure")
    ] = "mpp"
    view: Annotated[
        Literal["agreement", "severities", "outputs"],
        Option("Show precision, recall and F, the severities of overlapping spans, or the outputs that differ most."),
    ] = "agreement"
    by: Annotated[
        Literal["domain", "system", "category", "severity"] | None,
        Option("Group by domain, system, category (recall only) or severity."),
    ] = None
    n: Annotated[int, Option("Number of outputs.", ("n",), least=1)] = 10

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.answer import answer_of
        from metaeval.measures import parse_measure
        from metaeval.tables.span_tables import span_table

        with run.opened() as warehouse:
            found = span_table(
                warehouse, self.part(Slice), parse_measure(self.measure), self.view, by=self.by, n=self.n
            )
        return answer_of(self, found, digits=3)

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.spans import span_chart

        return span_chart(self.view, self.by, answer)
