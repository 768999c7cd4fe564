"""`counts`: concordant, discordant and tied pairs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.fields import EngineFields
from metaeval.options import RoundHuman, Run
from metaeval.question import EvalsetQuestion
from queries.slices import Slice
from warehouse.fields import Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Counts(Slice, EngineFields, EvalsetQuestion["Result"], name="counts"):
    """Count concordant, discordant and tied pairs.

    One row per metric and group.

    Example: scorehouse counts sim24 en-de --by system
    """

    by: Annotated[Literal["none", "item", "system"], Option("Grouping: none, by segment (item) or by system.")] = "item"
    epsilon: Annotated[float, Option("Tie threshold ε on the metric.", least=0)] = 0.0
    round_human: RoundHuman = None

    def answer(self, run: Run) -> "Answer[Result]":
        return self.answer_one_evalset(run) if self.folder is not None else super().answer(run)

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.answer import answer_of
        from metaeval.tables.counts import pair_counts

        with self.data(run) as data:
            found = pair_counts(
                data,
                self.part(Slice),
                self.by,
                self.epsilon,
                self.round_human,
                engine=self.engine,
                progress=run.progress,
            )
        return answer_of(self, found)

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.pairs import pair_kinds
        from metaeval.tables.counts import together

        frame = together(answer.frame.drop("testset", "lp", strict=False))
        return pair_kinds(frame, self.by, answer.signature)
