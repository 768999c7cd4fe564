"""`deltas`: how large a difference must be, and pairs that no metric orders right."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.fields import METRIC_FIELDS, AlphaField, ComputeFields, DrawsField, SliceFields, needing
from metaeval.options import Run
from metaeval.question import Argument, Option
from warehouse.errors import QuestionError
from warehouse.wording import option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class Deltas(SliceFields, ComputeFields, DrawsField, AlphaField, name="deltas"):
    """Show what a difference in a metric's scores means.

    How large must it be between two systems for people to agree with it?

    All pairs of systems that people scored, by human protocol and direction; agreement is fitted by isotonic
    regression, its intervals come from resampled evaluation sets and systems. With hard, the pairs of systems that
    no metric, or only one, orders as people do.

    Example: scorehouse deltas sim24 simBLEU --human mqm --draws 200
    """

    needs = needing((*METRIC_FIELDS, "alpha"), "hard")

    testset: Annotated[str, Argument("Test set; several by commas, or all.", names="testset")] = "all"
    metric: Annotated[str | None, Argument("Metric, such as BLEU or BLEU-refA.", ("metric",), names="metric")] = None
    agreement: Annotated[
        tuple[float, ...],
        Option(
            "Agreement with people to be reached; repeatable.",
            metavar="SHARE",
            least=0.5,
            most=0.999,
            excludes=("hard",),
        ),
    ] = (0.8, 0.9, 0.95)
    human_alpha: Annotated[
        float | None,
        Option(
            "Only pairs that people tell apart at this level (Wilcoxon's signed-rank test over segments).",
            metavar="P",
            least=0,
            most=1,
            default="all pairs",
            excludes=("hard",),
        ),
    ] = None
    hard: Annotated[bool, Option("Instead, list pairs of systems that no metric, or only one, orders right.")] = False
    at_most: Annotated[int, Option("Pairs that at most N metrics order as people do.", least=0, needs=("hard",))] = 1
    least_metrics: Annotated[int, Option("Only evaluation sets with at least N metrics.", least=1, needs=("hard",))] = 5
    significant: Annotated[
        bool, Option("Only pairs that people tell apart (Wilcoxon's signed-rank test).", needs=("hard",))
    ] = False

    def check_fields(self) -> None:
        if self.hard:
            for name in ("metric", "draws", "seed"):
                if self.is_given(name):
                    raise QuestionError(f"{option(name)} and {option('hard')} do not go together")
        elif self.metric is None:
            line = f"`scorehouse deltas {self.testset} {self.lp} BLEU`"
            raise QuestionError(f"deltas needs a metric, such as {line}; {option('hard', True)} needs none")

    def answer(self, run: Run) -> "Answer":
        return self._hard(run) if self.hard else self._differences(run)

    def _differences(self, run: Run) -> "Answer":
        from metaeval.answer import answer_of
        from metaeval.pairs.deltas import Asked, deltas, deltas_reading, deltas_table

        assert self.metric is not None
        what = Asked(tuple(sorted(self.agreement)), self.human_alpha, self.draws, self.seed)
        with run.opened() as warehouse:
            found = deltas(warehouse, self.slice(), self.metric, self.computing(), what, run.progress)
        return answer_of(self, deltas_table(found), found=found, reading=deltas_reading(found))

    def _hard(self, run: Run) -> "Answer":
        from metaeval.answer import answer_of
        from metaeval.pairs.hard_pairs import Asked, hard_pairs, reading

        what = Asked(self.at_most, self.least_metrics, self.alpha, self.significant)
        with run.opened() as warehouse:
            found = hard_pairs(warehouse, self.slice(), self.computing(), what, run.progress)
        return answer_of(self, found, found=found, reading=reading(found.frame))

    def chart(self, answer: "Answer") -> "alt.VConcatChart":
        from metaeval.charts.deltas import deltas_chart
        from metaeval.charts.hard_pairs import hard_pairs_chart

        return hard_pairs_chart(answer.found, self.at_most) if self.hard else deltas_chart(answer.found)
