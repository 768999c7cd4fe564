"""`counts`: concordant, discordant and tied pairs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import RoundHuman
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.fields import Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Counts(Slice, EvalsetQuestion["Result"], name="counts"):
    """Count concordant, discordant and tied pairs.

    One row per metric and group.

    Example: scorehouse counts sim24 en-de --by system
    """

    by: Annotated[Literal["none", "item", "system"], Option("Grouping: none, by segment (item) or by system.")] = "item"
    epsilon: Annotated[float, Option("Tie threshold ε on the metric.", least=0)] = 0.0
    round_human: RoundHuman = None

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.results.answer import answer_of
        from metaeval.studies.tables.counts import pair_counts

        with run.opened() as warehouse:
            found = pair_counts(warehouse, self.part(Slice), self.by, self.epsilon, self.round_human)
        return answer_of(self, found)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import named, opening
        from metaeval.studies.tables.counts import together

        columns = ("metric", "n_concordant", "n_discordant", "n_tied_metric")
        counts = together(answer.frame.drop("testset", "lp", strict=False)).select(columns)
        ordered = [(metric, n, n + sum(others)) for metric, n, *others in counts.iter_rows()]
        shares = {metric: (n_right / n, n) for metric, n_right, n in ordered if n}
        if not shares:
            return "Human scores order no pair of outputs, so no metric can agree with them."
        highest, _ = max(shares.values())
        first = [metric for metric, (share, _) in shares.items() if share == highest]
        _, n_pairs = shares[first[0]]
        return opening(
            f"{named(first, 2)} {'order' if len(first) > 1 else 'orders'} the most pairs as human scores do: "
            f"{highest:.1%} of {n_pairs} pairs without a human tie.",
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.pairs import pair_kinds
        from metaeval.studies.tables.counts import together

        frame = together(answer.frame.drop("testset", "lp", strict=False))
        return pair_kinds(frame, self.by, answer.signature)
