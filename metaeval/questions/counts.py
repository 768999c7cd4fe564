"""`counts`: concordant, discordant and tied pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import RoundHuman
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.errors import QuestionError
from warehouse.fields import Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result
    from metaeval.results.run import Place
    from metaeval.studies.tables.counts import Judged

    _Judged = tuple["Counts", Judged]

_MOST_TOGETHER = 2_000_000  # rows of the join from which on a query counts the pairs of no further evaluation set


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
        (answer,) = self._counted([self._judged_at(run, self.testset, self.lp)])
        return answer

    def each(self, run: Run, places: "Sequence[Place]") -> "Iterator[Answer[Result] | QuestionError]":
        """The answer for each evaluation set; one query counts the pairs of several small ones."""
        from metaeval.studies.tables.counts import n_joined

        if run.workers is not None:
            yield from super().each(run, places)
            return
        waiting: list[_Judged | QuestionError] = []
        n_rows = 0
        for found in run.each(self._judged_at, places, self.name):
            waiting.append(found)
            n_rows += 0 if isinstance(found, QuestionError) else n_joined(found[1][0])
            if n_rows > _MOST_TOGETHER:
                yield from self._in_order(waiting)
                waiting, n_rows = [], 0
        yield from self._in_order(waiting)

    def _in_order(self, found: "Sequence[_Judged | QuestionError]") -> "Iterator[Answer[Result] | QuestionError]":
        answers = iter(self._counted([one for one in found if not isinstance(one, QuestionError)]))
        yield from (one if isinstance(one, QuestionError) else next(answers) for one in found)

    def _judged_at(self, run: Run, testset: str, lp: str) -> "_Judged":
        from metaeval.studies.tables.counts import judged

        question = replace(self, testset=testset, lp=lp)
        with run.opened() as warehouse:
            return question, judged(warehouse, question.part(Slice), self.round_human)

    def _counted(self, found: "Sequence[_Judged]") -> "list[Answer[Result]]":
        from metaeval.results.answer import answer_of
        from metaeval.studies.tables.counts import counted

        results = counted([judged for _, judged in found], self.by, self.epsilon, self.round_human)
        return [answer_of(question, result) for (question, _), result in zip(found, results, strict=True)]

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import named, opening
        from metaeval.studies.tables.counts import of_metrics
        from warehouse.wording import counted

        ordered = [(metric, n[0], n[0] + n[1] + n[3]) for metric, n in of_metrics(answer.frame)]
        shares = {metric: (n_right / n, n) for metric, n_right, n in ordered if n}
        if not shares:
            return "Human scores order no pair of outputs, so no metric can agree with them."
        highest, _ = max(shares.values())
        first = [metric for metric, (share, _) in shares.items() if share == highest]
        _, n_pairs = shares[first[0]]
        share = f"{highest:.1%} of {counted(n_pairs, 'pair')} without a human tie"
        if len(shares) == 1:
            return opening(f"{first[0]} orders {share} as human scores do.")
        verb = "order" if len(first) > 1 else "orders"
        return opening(
            f"{named(first, 2)} {verb} the most pairs of {len(shares)} metrics as human scores do: {share}.",
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.pairs import pair_kinds
        from metaeval.studies.tables.counts import together

        return pair_kinds(together(answer.frame, ["metric"]), self.by, answer.signature)
