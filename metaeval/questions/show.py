"""`show`: one segment."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.fields import EvalsetFields
from metaeval.options import Run
from metaeval.question import Argument, Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class Show(EvalsetFields, name="show"):
    """Show one segment with every output, score and error.

    Source and references come first, then the outputs, best first.

    Errors that people marked are in brackets with their severity; the source has those of all outputs that lie in it.

    Example: scorehouse show sim24 en-de 12 --metrics "Kestrel*" --systems "[A-D]*"
    """

    segment: Annotated[int, Argument("Segment number, from 1.", least=1)]
    human: Annotated[
        tuple[str, ...], Option("Human scores to show (shell patterns).", names="human", default="the official one")
    ] = ()
    metrics: Annotated[
        tuple[str, ...], Option("Metrics to show (shell patterns).", names="metric", default="none")
    ] = ()
    systems: Annotated[tuple[str, ...], Option("Only outputs of these systems (shell patterns).", names="system")] = ()

    def _one(self, run: Run) -> "Answer":
        from metaeval.answer import Answer
        from queries.segment import read_segment

        with run.opened() as warehouse:
            found = read_segment(
                warehouse,
                self.testset,
                self.lp,
                self.segment,
                humans=self.human,
                metrics=self.metrics,
                systems=self.systems,
            )
        notes = found.notes
        if found.errors_of is not None:
            notes += (f"errors are those marked for {found.errors_of}",)
        return Answer(found.frame(), "", notes, question=self, found=found, shape=found.as_json(), title=found.place)

    def chart(self, answer: "Answer") -> "alt.VConcatChart":
        from metaeval.charts.small_multiples import segment_scores

        return segment_scores(answer.found)
