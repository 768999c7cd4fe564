"""`show`: one segment."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from warehouse.fields import Argument, Option
from warehouse.wording import are, counted

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer
    from queries.segment import Segment


@dataclass(frozen=True, kw_only=True)
class Show(EvalsetQuestion["Segment"], name="show"):
    """Show one segment with every output, score and error.

    Source and references come first, then the outputs, best first.

    Errors marked by annotators are in brackets with their severity. Errors marked in the source are shown for all
    outputs together.

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

    def answer_one_evalset(self, run: Run) -> "Answer[Segment]":
        from metaeval.results.answer import Answer
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
        return Answer(
            found.frame(), "", notes, question=self, results=(found,), shape=found.as_json(), title=found.place
        )

    def headline(self, answer: "Answer[Segment]") -> str:
        from metaeval.results.sentences import either, named, number, opening

        outputs = answer.frame.filter(kind="output")
        columns = [name for name in outputs.columns[2:] if name not in ("text", "errors")]
        scored = outputs.drop_nulls(columns[0]).sort(columns[0], descending=True) if columns else outputs.clear()
        where = f"segment {self.segment} of {answer.result.place.partition(',')[0]}"
        if scored.is_empty():
            return opening(f"No output of {where} has a human score ({counted(outputs.height, 'output')}).")
        best, worst = (
            scored.filter(scored[columns[0]] == end) for end in (scored[columns[0]][0], scored[columns[0]][-1])
        )
        if scored.height == 1:
            value = number(best[columns[0]][0], 1)
            return opening(f"Only {best['name'][0]} has a {columns[0]} score in {where} ({value}).")
        if best.height == scored.height:
            return opening(
                f"The {counted(scored.height, 'scored output')} of {where} "
                f"{are(scored.height, have=True)} the same {columns[0]} score."
            )
        return either(
            f"{named(best['name'], 2)} {'have' if best.height > 1 else 'has'} the best {columns[0]} score of {where} "
            f"({number(best[columns[0]][0], 1)}), {named(worst['name'], 2)} the worst "
            f"({number(worst[columns[0]][0], 1)}).",
            f"The {columns[0]} scores of {where} run from {number(worst[columns[0]][0], 1)} to "
            f"{number(best[columns[0]][0], 1)}.",
        )

    def chart(self, answer: "Answer[Segment]") -> "alt.VConcatChart":
        from metaeval.charts.small_multiples import segment_scores

        return segment_scores(answer.result)
