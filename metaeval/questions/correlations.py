"""`correlations`: correlations between metrics."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.measures.options import Options, SystemScoreOption
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import ALL, Slice
from warehouse.errors import QuestionError
from warehouse.fields import Option
from warehouse.wording import option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Correlations(Slice, EvalsetQuestion["Result"], name="correlations"):
    """Correlate every pair of metrics.

    Uses annotated segments, or all segments if there are no human scores. `--human all` correlates human scores with
    each other instead.

    Example: scorehouse correlations sim24 en-de -m pearson --status primary
    """

    measure: Annotated[
        str, Option("pearson, spearman or kendall; with by=... on segments.", ("measure", "m"), names="measure")
    ] = "pearson(by=none)"
    system_score: SystemScoreOption = None

    def check_fields(self) -> None:
        from metaeval.measures.registry import parse_measure

        if self.system_score is not None and (parsed := parse_measure(self.measure)).level != "sys":
            raise QuestionError(
                f"{option('system_score')} applies to measures of systems, such as pearson, not to {parsed}"
            )

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.tables.agreement import agreement, human_agreement

        between = human_agreement if self.human == ALL else agreement
        with run.opened() as warehouse:
            found = between(warehouse, self.part(Slice), parse_measure(self.measure), self.part(Options))
        return answer_of(self, found, digits=2)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import number, opening

        names = answer.frame[:, 0].to_list()
        pairs = [
            (value, a, b)
            for row, a in enumerate(names)
            for b in names[row + 1 :]
            if (value := answer.frame[b][row]) is not None and value == value
        ]
        what = "human scores" if self.human == ALL else "metrics"
        if not pairs:
            return f"No two {what} have a correlation by {self.measure}."
        (high, *most), (low, *least) = max(pairs), min(pairs)
        n = f"of {len(names)} {what}"
        return opening(
            f"{' and '.join(most)} correlate most {n} ({self.measure} {number(high)}), {' and '.join(least)} least "
            f"({number(low)}).",
            *([] if self.human == ALL else ["These are correlations between metrics, not with human scores."]),
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.correlations import correlation_matrix
        from metaeval.studies.tables.agreement import clustered

        found = answer.result
        return correlation_matrix(found.frame, clustered(found.frame), self.measure, found.signature)
