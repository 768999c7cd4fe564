"""`spans`: predicted error spans compared with those that annotators marked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.questions.fields import requires
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.fields import Option
from warehouse.wording import counted

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class SpansOf(Slice, EvalsetQuestion["Result"], name="spans"):
    """Compare predicted error spans with marked ones.

    A metric that predicts spans only for some outputs is evaluated on these; the table shows how many.

    Example: scorehouse spans sim24 en-de --by domain
    """

    needs = requires(("by", "ceiling", "pool"), "view=agreement", n=("view=outputs",))

    measure: Annotated[
        str, Option("Measure of error spans: mpp, mp, em or char_f1.", ("measure", "m"), names="measure")
    ] = "mpp"
    view: Annotated[
        Literal["agreement", "severities", "outputs"],
        Option(
            "Show precision, recall and F, the severities of overlapping spans, or the outputs with the "
            "largest differences."
        ),
    ] = "agreement"
    by: Annotated[
        Literal["domain", "system", "category", "severity"] | None,
        Option("Group by domain, system, category (recall only) or severity."),
    ] = None
    ceiling: Annotated[bool, Option("Add rows of the other annotators, as if they were metrics.")] = False
    pool: Annotated[
        bool,
        Option("Count the outputs of all language pairs together.", excludes={"by": "pooled outputs are one group"}),
    ] = False
    n: Annotated[int, Option("Number of outputs.", ("n",), least=1)] = 10

    def answer(self, run: Run) -> "Answer[Result]":
        return self.answer_one_evalset(run) if self.pool else super().answer(run)

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.people.span_tables import span_table

        with run.opened() as warehouse:
            found = span_table(
                warehouse,
                self.part(Slice),
                parse_measure(self.measure),
                self.view,
                by=self.by,
                n=self.n,
                ceiling=self.ceiling,
                pool=self.pool,
            )
        return answer_of(self, found, digits=3)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import UNTESTED, highest, named, number, opening

        frame = answer.frame
        if frame.is_empty():
            return "No predicted error span can be compared with marked ones."
        if self.view == "severities":
            n_same, n = (
                sum(one["n"].to_list()) for one in (frame.filter(frame["marked"] == frame["predicted"]), frame)
            )
            return opening(
                f"{n_same / max(n, 1):.0%} of overlapping predicted and marked spans have the same severity."
            )
        if self.view == "outputs":
            row = frame.row(0, named=True)
            return opening(
                f"{row['metric']} and the annotators differ most on {row['system']}, segment {row['segment']}: "
                f"{row['predicted']} predicted and {counted(row['marked'], 'marked error')}."
            )
        rows = frame.drop_nulls("f") if "f" in frame.columns else frame.clear()
        rows = rows if rows.height else frame.drop_nulls("recall")
        name = "f" if "f" in rows.columns and rows["f"].count() else "recall"
        if rows.is_empty():
            return "No metric has a value: no marked or no predicted spans."
        best = rows.sort(name, descending=True, maintain_order=True).row(0, named=True)
        place = f" in {self.by} {best[self.by]}" if self.by else ""
        n, n_humans = frame["metric"].n_unique(), answer.facts.get("n_humans", 0)
        scorers = [counted(n_of, noun) for n_of, noun in ((n - n_humans, "metric"), (n_humans, "human score")) if n_of]
        count = f"of {' and '.join(scorers)} " if n > 1 else ""
        parts = [
            f"{word} {number(best[one])}"
            for word, one in (("F", "f"), ("precision", "precision"), ("recall", "recall"))
            if best.get(one) is not None
        ]
        untested = f"; {UNTESTED}" if n > 1 else ""
        if not self.by and frame["n_outputs"].n_unique() > 1:
            untested = f", each on its own outputs{untested}"
        same = rows.filter(rows[self.by] == best[self.by]) if self.by else rows
        first = highest(same, name)["metric"].unique(maintain_order=True).to_list()
        find = "find" if len(first) > 1 else "finds"
        return opening(
            f"{named(first, 2)} {find} the marked error spans best {count}by {self.measure}{place} "
            f"({', '.join(parts[: 1 if len(first) > 1 else None])}){untested}."
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.spans import span_chart

        return span_chart(self.view, self.by, answer)
