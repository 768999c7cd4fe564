"""`annotators`: how much annotators judged, and how well they agree."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import Resamples, Seed
from metaeval.questions.fields import requires
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from warehouse import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result

_OF_ONE = ("pace", "replace", "variance", "precision")  # views of one evaluation set
_CHARTED = "precision"  # the view with a chart
_RESAMPLED = ("view=sets", "view=annotators", "view=")


@dataclass(frozen=True, kw_only=True)
class Annotators(EvalsetQuestion["Result"], name="annotators"):
    """Show how much annotators judged and how well they agree.

    Also shows their pace, their drift over time, and the reliability of the scores.

    Agreement is Krippendorff's alpha between annotators; reliability is split-half, raw and with Spearman-Brown
    correction. Only valid judgements of systems count, including human translations.

    Example: scorehouse annotators sim24 en-de
    """

    important = ("human", "n_judgements", "n_outputs", "alpha", "system_r", "system_corrected")

    needs = requires(
        ("metric", "epsilon", "rule", "by_document"), "view=replace", resamples=_RESAMPLED, seed=_RESAMPLED
    )

    testset: Annotated[str, Argument("Test set; several by commas, or all.", names="testset")] = "all"
    human: Annotated[
        str | None,
        Option(
            "Human score; views variance and precision also take NAME:z, standardised by annotator.",
            names="human",
            default="all with single judgements",
        ),
    ] = None
    view: Annotated[
        Literal["sets", "annotators", "pairs", "pace", "agreement", "judges", "replace", "variance", "precision"]
        | None,
        Option(
            "sets, annotators, pairs: one row per human score, per annotator, or per pair of annotators who judged the "
            "same outputs. pace: how fast each annotator judged. agreement: kappa of preferences between and within "
            "annotators. judges: ties, position bias and human agreement of judges that give preferences. replace: "
            "whether each metric may replace an annotator. variance: where the variance of judgements comes from. "
            "precision: the precision of other numbers of segments and annotators.",
            default="annotators for one human score with judgements, agreement for preferences alone, else sets",
        ),
    ] = None
    metric: Annotated[str | None, Option("View replace: compare this metric with each annotator.", names="metric")] = (
        None
    )
    epsilon: Annotated[
        float,
        Option(
            "View replace: the lead that an annotator may have over a metric that replaces them: .2 for experts, "
            ".15 for skilled annotators, .1 for crowd workers.",
            least=0,
            most=1,
        ),
    ] = 0.2
    items: Annotated[
        Literal["pairs", "scores"],
        Option(
            "View replace: compare which of two outputs of a segment is better, or scores of outputs, with metrics on "
            "the human scale."
        ),
    ] = "pairs"
    rule: Annotated[
        Literal["authors", "clustered"],
        Option(
            "View replace: the test of Calderon et al., in which items are independent, or one in which the pairs of "
            "outputs of a segment are dependent."
        ),
    ] = "authors"
    by_document: Annotated[bool, Option("View replace: treat items of one document as dependent.")] = False
    seed: Seed = 0
    resamples: Resamples = 1000

    def answer(self, run: Run) -> "Answer[Result]":
        if self.view in _OF_ONE:
            return super().answer(run)
        from metaeval.results.answer import answer_of

        if self.view == "agreement":
            from metaeval.studies.people.preference_agreement import agreement

            with run.opened() as warehouse:
                return answer_of(self, agreement(warehouse, self.testset, self.lp, self.human), digits=3)
        if self.view == "judges":
            from metaeval.studies.people.preference_agreement import judges

            with run.opened() as warehouse:
                return answer_of(self, judges(warehouse, self.testset, self.lp, self.human), digits=3)
        assert self.view in (None, "sets", "annotators", "pairs")
        from metaeval.studies.people.annotator_tables import reading
        from metaeval.studies.people.annotators import annotators
        from queries.annotations import has_only_preferences

        with run.opened() as warehouse:
            if self.view is None and has_only_preferences(warehouse, self.testset, self.lp):
                return replace(self, view="agreement").answer(run)
            found = annotators(warehouse, self.testset, self.lp, self.human, self.view, self.resamples, self.seed)
        digits = dict.fromkeys(found.frame.columns, 3) | {"n_systems": 1, "n_halved": 1}
        return answer_of(self, found, reading=reading(found.frame), digits=digits)

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.results.answer import answer_of

        if self.view == "replace":
            from metaeval.studies.people.replacement import replacements

            how = (self.metric, self.epsilon, self.rule, self.by_document, self.items)
            with run.opened() as warehouse:
                return answer_of(self, replacements(warehouse, self.testset, self.lp, self.human, *how), digits=3)
        if self.view != "pace":
            from metaeval.studies.people.variance import VIEWS

            with run.opened() as warehouse:
                return answer_of(self, VIEWS[str(self.view)](warehouse, self.testset, self.lp, self.human), digits=3)
        from metaeval.studies.people.annotators import pace

        with run.opened() as warehouse:
            found = pace(warehouse, self.testset, self.lp, self.human)
        return answer_of(self, found, digits={"seconds": 1, "change": 2})

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.studies.people.headlines import of_annotators

        return of_annotators(answer.frame, self.view, answer.facts.get("sets", ()))

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        if self.view != _CHARTED:
            raise QuestionError(f"only {option('view', 'precision')} has a chart")
        from metaeval.charts.precision import precision_chart

        return precision_chart(answer.result)
