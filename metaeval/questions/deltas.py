"""`deltas`: how large a difference must be, and pairs that no metric orders right."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.fields import requires
from metaeval.options import Options, Run
from metaeval.pairs.settings import DeltaSettings, HardPairSettings
from metaeval.question import Question
from queries.slices import METRIC_FIELDS, Slice
from warehouse.errors import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer
    from metaeval.pairs.deltas import Deltas as Fits
    from metaeval.pairs.hard_pairs import HardPairs


@dataclass(frozen=True, kw_only=True)
class Deltas(Slice, Options, DeltaSettings, HardPairSettings, Question["Fits | HardPairs"], name="deltas"):
    """Show what a difference in a metric's scores means.

    How large must it be between two systems for people to agree with it?

    All pairs of systems that people scored, by human protocol and direction; agreement is fitted by isotonic
    regression, its intervals come from resampled evaluation sets and systems. With hard, the pairs of systems that
    no metric, or only one, orders as people do.

    Example: scorehouse deltas sim24 simBLEU --human mqm --draws 200
    """

    needs = requires((*METRIC_FIELDS, "alpha", "at_most", "least_metrics", "significant"), "hard")

    testset: Annotated[str, Argument("Test set; several by commas, or all.", names="testset")] = "all"
    metric: Annotated[str | None, Argument("Metric, such as BLEU or BLEU-refA.", ("metric",), names="metric")] = None
    hard: Annotated[bool, Option("List the pairs of systems that almost no metric orders correctly.")] = False

    def check_fields(self) -> None:
        if self.hard:
            for name in ("metric", "draws", "seed"):
                if self.differs_from_default(name):
                    raise QuestionError(f"{option(name)} and {option('hard')} do not go together")
        elif self.metric is None:
            line = f"`scorehouse deltas {self.testset} {self.lp} BLEU`"
            raise QuestionError(f"deltas needs a metric, such as {line}; {option('hard', True)} needs none")

    def answer(self, run: Run) -> "Answer[Fits | HardPairs]":
        return self._hard(run) if self.hard else self._differences(run)

    def _differences(self, run: Run) -> "Answer[Fits | HardPairs]":
        from metaeval.answer import answer_of
        from metaeval.pairs.deltas import deltas, deltas_reading, deltas_table

        assert self.metric is not None
        with run.opened() as warehouse:
            found = deltas(
                warehouse, self.part(Slice), self.metric, self.part(Options), self.part(DeltaSettings), run.progress
            )
        return answer_of(self, deltas_table(found), found, reading=deltas_reading(found))

    def _hard(self, run: Run) -> "Answer[Fits | HardPairs]":
        from metaeval.answer import answer_of
        from metaeval.pairs.hard_pairs import hard_pairs, reading

        with run.opened() as warehouse:
            found = hard_pairs(
                warehouse, self.part(Slice), self.part(Options), self.part(HardPairSettings), run.progress
            )
        return answer_of(self, found, found, reading=reading(found.frame))

    def chart(self, answer: "Answer[Fits | HardPairs]") -> "alt.VConcatChart":
        from metaeval.charts.deltas import deltas_chart
        from metaeval.charts.hard_pairs import hard_pairs_chart
        from metaeval.pairs.deltas import Deltas as Fits

        found = answer.result
        return deltas_chart(found) if isinstance(found, Fits) else hard_pairs_chart(found, self.at_most)
