"""`noise`: disturbed metrics, and oracles."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.fields import DataFields, Measures, RoundHumanField, SeedField
from metaeval.options import MOST_DRAWS, Run
from metaeval.question import Argument, Option
from warehouse.errors import QuestionError
from warehouse.wording import option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class Noise(DataFields, SeedField, RoundHumanField, name="noise"):
    """Show how noise in a metric changes each measure.

    Or how measures rank metrics that are known to be better.

    Example: scorehouse noise sim24 en-de Kestrel-24 -m pdp -m "acc_eq(by=item)" --draws 5
    """

    metric: Annotated[
        str | None,
        Argument(
            "Metric that noise goes into.",
            ("metric",),
            names="metric",
            default="the human score itself",
            excludes={"oracles": "they are made of human scores"},
        ),
    ] = None
    measures: Measures = ("pdp", "pearson(by=none)", "pearson(by=item)", "acc_eq(by=item)")
    kinds: Annotated[
        tuple[Literal["independent", "segment", "system", "outliers"], ...],
        Option(
            "Noise on each score, a bias of each segment or of each system, or outliers; repeatable.",
            ("kind",),
            excludes=("oracles",),
        ),
    ] = ("independent", "segment", "system", "outliers")
    strengths: Annotated[
        tuple[float, ...],
        Option(
            "Standard deviation of the noise, in standard deviations of the metric; repeatable.",
            ("strength",),
            metavar="SD",
            excludes=("oracles",),
        ),
    ] = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
    shares: Annotated[
        tuple[float, ...],
        Option(
            "Share of scores that become outliers, 10 standard deviations from the mean; repeatable.",
            ("share",),
            metavar="SHARE",
            excludes=("oracles",),
        ),
    ] = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1)
    oracles: Annotated[
        bool, Option("Instead, metrics made of people's own errors under other weights, and further human scores.")
    ] = False
    draws: Annotated[int, Option("Number of draws of the noise.", least=1, most=MOST_DRAWS, excludes=("oracles",))] = 20

    def check_fields(self) -> None:
        if self.is_given("shares") and "outliers" not in self.kinds:
            raise QuestionError(f"{option('shares')} needs {option('kinds', 'outliers')}")
        if self.is_given("strengths") and set(self.kinds) == {"outliers"}:
            raise QuestionError(f"{option('strengths')} needs another {option('kinds')} than outliers")

    def _one(self, run: Run) -> "Answer":
        from metaeval.answer import answer_of
        from metaeval.kernels.arrays.scales import KINDS
        from metaeval.measures import parse_measure
        from metaeval.robustness import noise as injection
        from metaeval.robustness import oracles as made_of_errors

        measures = [parse_measure(text) for text in self.measures]
        asked, options = self.slice(), self.computing()
        with run.opened() as warehouse:
            if self.oracles:
                found = made_of_errors.oracles(warehouse, asked, measures, options)
                return answer_of(self, found, reading=made_of_errors.reading(found.frame))
            kinds = tuple(one for one in KINDS if one in self.kinds)
            what = injection.Asked(kinds, self.strengths, self.shares, self.draws, self.seed)
            found = injection.noise(warehouse, asked, self.metric, measures, options, what, run.progress)
        return answer_of(self, found, reading=injection.reading(found.frame))

    def draws_several(self) -> bool:
        return True

    def chart(self, answer: "Answer") -> "alt.VConcatChart":
        from metaeval.charts.noise import noise_chart, oracles_chart

        return (oracles_chart if self.oracles else noise_chart)(answer.frame, answer.signature)
