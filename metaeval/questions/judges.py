"""`judges`: language models, or other metrics, compared with annotators."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import Options
from metaeval.questions.fields import requires
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.errors import QuestionError
from warehouse.fields import Option
from warehouse.wording import option

if TYPE_CHECKING:
    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Judges(Slice, EvalsetQuestion["Result"], name="judges"):
    """Compare judges, such as language models, with annotators.

    Each metric is a judge. Does it agree with annotators as well as they agree with each other? A baseline that always
    gives the most frequent category is listed, too. Each score is replaced by the annotators' nearest category.

    Example: scorehouse judges sim24 en-de --view bias
    """

    important = ("scorer", "metric", "accuracy", "kappa", "verdict", "effect", "p")

    needs = requires(
        ("margin",), "view=agreement", measure=("view=runs",), good=("view=shares",), length=("view=bias",)
    )

    view: Annotated[
        Literal["agreement", "runs", "drift", "shares", "bias"],
        Option(
            "agreement: as good as a second annotator? runs: how far runs of one judge differ. drift: from one version "
            "to another. shares: good outputs of each system, corrected for the judge's errors. bias: by length, and "
            "for systems of the judge's family."
        ),
    ] = "agreement"
    margin: Annotated[float, Option("Lead of an annotator that still counts as equally good.", least=0, most=1)] = 0.05
    measure: Annotated[str, Option("View runs: what the runs are compared by.", ("measure", "m"), names="measure")] = (
        "pearson(by=none)"
    )
    good: Annotated[float | None, Option("View shares: the lowest score of a good output.")] = None
    length: Annotated[
        str | None,
        Option("View bias: the metric that has the lengths.", names="metric", default="characters of the outputs"),
    ] = None

    def check_fields(self) -> None:
        if self.view == "shares" and self.good is None:
            raise QuestionError(f"{option('view', 'shares')} needs {option('good')}, the lowest score of a good output")

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.people import judges

        asked = self.part(Slice)
        with run.opened() as warehouse:
            if self.view == "agreement":
                found = judges.agreement(warehouse, asked, self.margin)
            elif self.view == "runs":
                found = judges.runs(warehouse, asked, parse_measure(self.measure), Options())
            elif self.view == "drift":
                found = judges.drift(warehouse, asked)
            elif self.view == "shares":
                assert self.good is not None
                found = judges.shares(warehouse, asked, self.good)
            else:
                found = judges.bias(warehouse, asked, self.length)
        return answer_of(self, found, digits=3)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.studies.people.headlines import of_judges

        return of_judges(answer.frame, self.view)
