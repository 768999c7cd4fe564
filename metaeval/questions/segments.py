"""`segments`: outputs on which scorers disagree."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import RoundHuman
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.fields import Argument, Option
from warehouse.wording import counted

if TYPE_CHECKING:
    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Segments(Slice, EvalsetQuestion["Result"], name="segments"):
    """List the outputs on which two scorers disagree most.

    Compares a metric with human scores, or two metrics, and shows texts and marked errors.

    The residual is the difference between the two standardised ranks (or scores), divided by the standard deviation of
    that difference.

    Example: scorehouse segments sim24 en-de simBLEU -n 3
    """

    metric: Annotated[
        tuple[str, ...],
        Argument(
            "One metric to compare with human scores, or two to compare with each other.",
            ("metric",),
            names="metric",
            default="the mean of all included metrics",
        ),
    ] = ()
    by: Annotated[
        Literal["segment", "system", "document", "domain", "length"] | None,
        Option("Group outputs. length: quarters by number of source characters."),
    ] = None
    scale: Annotated[
        Literal["ranks", "scores"],
        Option("Compare ranks among the outputs, or scores, by which the outputs with most errors lead."),
    ] = "ranks"
    n: Annotated[int, Option("Number of rows.", ("n",), least=1)] = 20
    round_human: RoundHuman = None

    @property
    def needs_human(self) -> bool:
        return len(self.metric) < 2

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.results.answer import answer_of
        from metaeval.studies.tables.disagreements import disagreements

        with run.opened() as warehouse:
            found = disagreements(
                warehouse,
                self.part(Slice),
                self.metric,
                scale=self.scale,
                by=self.by,
                n=self.n,
                round_human=self.round_human,
            )
        return answer_of(self, found)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import among, opening

        if answer.frame.is_empty():
            return "No output has scores by both scorers."
        if self.by is not None:
            return opening(self._of_groups(answer))
        row = answer.frame.row(0, named=True)
        a, b = row["scorer_a"], row["scorer_b"]
        if self.scale == "ranks":
            (n_a, n_b), n = answer.facts["n_equal"], row["n_outputs"]
            places = [among(row["rank_a"], n_a, n), among(row["rank_b"], n_b, n)]
        else:
            places = [f"{abs(z):.1f} SD {'below' if z < 0 else 'above'} the mean" for z in (row["z_a"], row["z_b"])]
        n_first = answer.facts["n_first"]
        which = f"{counted(n_first, 'output')} with the same residual, such as " if n_first > 1 else ""
        return opening(
            f"{a} and {b} disagree most on {which}{row['system']}, segment {row['segment']}: {places[0]} by {a}, "
            f"{places[1]} by {b}."
        )

    def _of_groups(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import number

        row = answer.frame.sort("rms", descending=True, maintain_order=True).row(0, named=True)
        a, b, group = row["scorer_a"], row["scorer_b"], f"{self.by} {row['group']}"
        group = f"sources of {row['group']} characters" if self.by == "length" else group
        rms = f"root mean square residual of {self.scale} {number(row['rms'], 2)} SD"
        if answer.frame.height == 1:
            return f"{a} and {b} have only one group of outputs here, {group} ({rms})."
        size = abs(row["residual"])
        direction = "lower" if row["residual"] < 0 else "higher"
        mean = f"{a} is {direction} there by {size:.2f} SD on average"
        if size < 0.005:  # rounds to nothing
            mean = "on average, neither is higher there"
        return f"{a} and {b} disagree most on {group} ({rms}); {mean}."
