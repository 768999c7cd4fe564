"""`autorank`: systems ranked without human scores."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.questions.question import Question
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.fields import Option
from warehouse.wording import counted

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class AutoRank(Slice, Question["Result"], name="autorank"):
    """Rank systems by several metrics, without human scores.

    By default, uses the metrics of the task's own AutoRank (WMT25), else all selected metrics.

    Example: scorehouse autorank sim24 en-de --metrics "Kestrel*"
    """

    by_evalset = True
    without = ("human", "intersection", "mad_outliers")  # they are about people

    low: Annotated[float, Option("Percentile of a metric's system scores at the lower end of its scale.", least=0)] = (
        25.0
    )
    high: Annotated[float, Option("Percentile of a metric's system scores at the upper end of its scale.", least=0)] = (
        100.0
    )

    def answer(self, run: Run) -> "Answer[Result]":
        from metaeval.results.answer import answer_of
        from metaeval.studies.tables.autorank import as_json, autorank

        found = autorank(run, self.part(Slice), low=self.low, high=self.high)
        return answer_of(self, found, shape=as_json(found.frame))

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import UNTESTED, most_often, named, opening

        sets = answer.frame.partition_by("testset", "lp", maintain_order=True)
        firsts = [one.filter(rank=1)["system"].to_list() for one in sets]
        if len(sets) > 1:
            return opening(f"{most_often(firsts, 'evaluation sets', 'AutoRank')} (no human scores); {UNTESTED}.")
        after = sets[0].filter(sets[0]["rank"] > 1)["system"].to_list()[:1]
        behind = f", ahead of {after[0]}" if after else ""
        verb = "rank" if len(firsts[0]) > 1 else "ranks"
        (n_without,), n_metrics = answer.facts["n_without"], len(answer.frame.columns) - 6
        n = counted(n_metrics, "metric")
        if n_without > n_metrics:
            n = f"{n_metrics} of {n_metrics + n_without} metrics"
        return opening(f"{named(firsts[0])} {verb} first by AutoRank{behind} ({n}, no human scores); {UNTESTED}.")

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.autorank import autorank_chart

        return autorank_chart(answer.result)
