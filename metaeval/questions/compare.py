"""`compare`: significance tests of metrics against each other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import Options, TestOptions
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.errors import QuestionError
from warehouse.fields import Argument, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from metaeval.results.answer import Answer
    from metaeval.studies.significance.comparison import Comparison
    from metaeval.studies.significance.pairwise import PairwiseComparison


@dataclass(frozen=True, kw_only=True)
class Compare(Slice, Options, TestOptions, EvalsetQuestion["Comparison | PairwiseComparison"], name="compare"):
    """Test whether metrics differ significantly.

    Tests every pair of metrics and forms significance clusters.

    If you name two metrics, shows their difference with a confidence interval and one test.

    Example: scorehouse compare sim24 en-de -m "acc_eq(by=item)"
    """

    metrics: Annotated[
        tuple[str, ...],
        Argument("Metrics (shell patterns); two are compared in depth.", ("metrics",), names="metric", default="all"),
    ] = ()
    measure: Annotated[str, Option("Measure, such as spa or acc_eq(by=item).", ("measure", "m"), names="measure")] = (
        "spa"
    )
    interval_over: Annotated[
        Literal["inputs", "systems", "both"] | None,
        Option(
            "Two metrics only: what the confidence interval resamples.",
            default="what the test generalises to",
            formerly="resample",
        ),
    ] = None
    interval: Annotated[
        Literal["percentile", "normal", "centred"] | None,
        Option("Two metrics only: type of confidence interval.", default="the test's own, else percentile"),
    ] = None

    all_tests: Annotated[
        bool,
        Option("Two metrics only: every applicable test, with its measured false-positive rates.", excludes=("test",)),
    ] = False

    def check_fields(self) -> None:
        super().check_fields()
        if len(self.metrics) == 1 and not set(self.metrics[0]) & set("*?[,") and self.metrics[0].lower() != "all":
            raise QuestionError(f"compare needs two metrics; you named one: {self.metrics[0]}")

    def answer_one_evalset(self, run: Run) -> "Answer[Comparison | PairwiseComparison]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import Result, answer_of
        from metaeval.studies.significance.cached import compared
        from metaeval.studies.significance.comparison import Comparison, as_json, pair_frame, pair_json

        measure = parse_measure(self.measure)
        testing = self.part(TestOptions)
        found, notes = compared(run, self.part(Slice), measure, self.part(Options), testing, fresh=self.recompute)
        if isinstance(found, Comparison):
            result = Result(found.frame("metric"), found.parts, (found.summary, *found.notes, *notes))
            return answer_of(self, result, found, shape=as_json(found), least=found.least_by_name)
        result = Result(pair_frame(found), found.parts, (*found.further_sentences, *found.notes, *notes))
        return answer_of(self, result, found, shape=pair_json(found), least={"p": [row.least for row in found.tests]})

    def headline(self, answer: "Answer[Comparison | PairwiseComparison]") -> str:
        from metaeval.results.sentences import opening
        from metaeval.studies.significance.comparison import Comparison
        from metaeval.studies.significance.pairwise import in_a_sentence

        found = answer.result
        return found.in_a_sentence() if isinstance(found, Comparison) else opening(*in_a_sentence(found, self.alpha))

    def headline_of_several(self, answers: "Sequence[Answer[Comparison | PairwiseComparison]]") -> str:
        from metaeval.studies.significance.pairwise import PairwiseComparison, of_several

        pairs = [one.result for one in answers if isinstance(one.result, PairwiseComparison)]
        return of_several(pairs, self.alpha) if len(pairs) == len(answers) else ""

    def chart(self, answer: "Answer[Comparison | PairwiseComparison]") -> "alt.VConcatChart":
        from metaeval.charts.significance import significance_matrix
        from metaeval.studies.significance.comparison import Comparison

        if not isinstance(answer.result, Comparison):
            raise QuestionError("a chart of compare is a matrix of one language pair; two metrics have none")
        return significance_matrix(answer.result)
