"""`correlations`: metrics with each other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.fields import SliceFields, SystemScoreField
from metaeval.options import Run
from metaeval.question import Option
from warehouse.errors import QuestionError
from warehouse.wording import option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class Correlations(SliceFields, SystemScoreField, name="correlations"):
    """Correlate every pair of metrics.

    Over annotated segments, or over all segments where there are no human scores.

    Example: scorehouse correlations sim24 en-de -m pearson --status primary
    """

    measure: Annotated[
        str, Option("pearson, spearman or kendall; with by=... on segments.", ("measure", "m"), names="measure")
    ] = "pearson(by=none)"

    def check_fields(self) -> None:
        from metaeval.measures import parse_measure

        if self.system_score is not None and (parsed := parse_measure(self.measure)).level != "sys":
            raise QuestionError(
                f"{option('system_score')} goes with a measure of systems, such as pearson, not with {parsed}"
            )

    def _one(self, run: Run) -> "Answer":
        from metaeval.answer import answer_of
        from metaeval.measures import parse_measure
        from metaeval.options import Options
        from metaeval.tables.agreement import agreement

        with run.opened() as warehouse:
            found = agreement(warehouse, self.slice(), parse_measure(self.measure), Options(self.system_score))
        return answer_of(self, found, found=found, digits=2)

    def chart(self, answer: "Answer") -> "alt.VConcatChart":
        from metaeval.charts.correlations import correlation_matrix
        from metaeval.tables.agreement import clustered

        found = answer.found
        return correlation_matrix(found.frame, clustered(found), self.measure, found.signature)
