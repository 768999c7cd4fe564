"""`plan`: how much is needed to tell two apart."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.fields import DataFields, RoundHumanField, SeedField, SystemScoreField
from metaeval.options import LEAST_SIMULATED, MOST_DRAWS, MOST_SIMULATED, Run
from metaeval.question import Argument, Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class Plan(DataFields, SystemScoreField, SeedField, RoundHumanField, name="plan"):
    """Plan how many documents or segments a test needs.

    To tell two metrics, or two systems, apart; also how many systems or judgements.

    Data sets of other sizes are simulated from what is loaded, and the test that holds its level is run on each.

    Example: scorehouse plan sim24 en-de Oriole Embermatch -m "pearson(by=none)" --simulations 20 --draws 100
    """

    needs = dict.fromkeys(("measure", "draws", "system_score"), ("tell=metrics",))

    first: Annotated[str, Argument("Metric, or system.", names="metric")]
    second: Annotated[str, Argument("Metric, or system.", names="metric")]
    tell: Annotated[Literal["metrics", "systems"], Option("What is to be told apart: two metrics, or two systems.")] = (
        "metrics"
    )
    unit: Annotated[
        Literal["document", "segment", "system", "judgement"] | None,
        Option(
            "What is simulated in other numbers; system only for two metrics.",
            default="document where there are at least 10, else segment",
        ),
    ] = None
    measure: Annotated[str, Option("Measure that compares two metrics.", ("measure", "m"), names="measure")] = (
        "acc_eq(by=item)"
    )
    power: Annotated[float, Option("Share of simulated data sets in which the difference is significant.")] = 0.8
    alpha: Annotated[float, Option("Significance level, two-sided.")] = 0.05
    simulations: Annotated[
        int, Option("Simulated data sets for each size that is tried.", least=LEAST_SIMULATED, most=MOST_SIMULATED)
    ] = 100
    draws: Annotated[
        int,
        Option(
            "Number of resamples of the test of two metrics on each data set.", least=LEAST_SIMULATED, most=MOST_DRAWS
        ),
    ] = 500

    def _one(self, run: Run) -> "Answer":
        from metaeval.answer import answer_of
        from metaeval.measures import parse_measure
        from metaeval.planning.comparisons import plan_metrics, plan_systems
        from metaeval.planning.plans import Asked, reading

        what = Asked(self.unit, self.power, self.alpha, self.simulations, self.draws, self.seed)
        asked, options, two = self.slice(), self.computing(), (self.first, self.second)
        with run.opened() as warehouse:
            if self.tell == "systems":
                found = plan_systems(warehouse, asked, two, options, what, run.progress)
            else:
                measure = parse_measure(self.measure)
                found = plan_metrics(warehouse, asked, two, measure, options, what, run.progress)
        return answer_of(self, found.table, found=found, reading=reading(found.table.frame))

    def chart(self, answer: "Answer") -> "alt.VConcatChart":
        from metaeval.charts.plan import plan_chart

        return plan_chart(answer.found)
