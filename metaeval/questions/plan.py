"""`plan`: how much is needed to tell two apart."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.options import (
    Options,
    RoundHuman,
    Run,
    SystemScoreOption,
)
from metaeval.planning.settings import PlanSettings
from metaeval.question import EvalsetQuestion
from queries.slices import METRIC_FIELDS, Slice
from warehouse.fields import Argument, Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Plan(Slice, PlanSettings, EvalsetQuestion["Result"], name="plan"):
    """Plan how many documents or segments a test needs.

    Estimates how much annotation it takes to make a difference between two metrics, or two systems, significant. The
    number of systems or of single judgements can be planned, too.

    Simulates data sets of other sizes from the loaded one and tests each; the test is the one whose measured
    false-positive rate is closest to alpha.

    Example: scorehouse plan sim24 en-de Oriole Embermatch -m "pearson(by=none)" --simulations 20 --resamples 100
    """

    without = METRIC_FIELDS
    needs = dict.fromkeys(("measure", "resamples", "system_score"), ("compare=metrics",))

    first: Annotated[str, Argument("Metric, or system if two systems are compared.", names="metric")]
    second: Annotated[str, Argument("Metric, or system if two systems are compared.", names="metric")]
    compare: Annotated[
        Literal["metrics", "systems"], Option("Compare two metrics, or two systems.", formerly="tell")
    ] = "metrics"
    measure: Annotated[str, Option("Measure that compares two metrics.", ("measure", "m"), names="measure")] = (
        "acc_eq(by=item)"
    )
    round_human: RoundHuman = None
    system_score: SystemScoreOption = None

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.answer import answer_of
        from metaeval.measures import parse_measure
        from metaeval.planning.comparisons import plan_metrics, plan_systems

        what = self.part(PlanSettings)
        asked, options, two = self.part(Slice), self.part(Options), (self.first, self.second)
        with run.opened() as warehouse:
            if self.compare == "systems":
                found = plan_systems(warehouse, asked, two, options, what, run.progress)
            else:
                measure = parse_measure(self.measure)
                found = plan_metrics(warehouse, asked, two, measure, options, what, run.progress)
        reasons = [] if found.frame["reason"].null_count() == found.frame.height else ["reason"]
        return answer_of(self, found, reading=found.frame.select(*_FOR_READING, *reasons))

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.sentences import opening

        row = answer.frame.row(0, named=True)
        unit, pair = row["unit"], f"{row['first']} and {row['second']}"
        there = f"{row['n_there']} are loaded" + (
            "" if row["power_there"] is None else f", power {row['power_there']:.2f}"
        )
        if row["needed"] is None:
            why = row["reason"] or "no number is enough"
            return opening(f"No number of {unit}s is known to tell {pair} apart: {why}.", f"Of them {there}.")
        ends = ""
        if row["data_low"] is not None:
            high = "at least {}" if row["data_high"] is None else "{} to " + str(row["data_high"])
            ends = f" (95% interval: {high.format(row['data_low'])})"
        return opening(
            f"Telling {pair} apart with power {row['power']:g} takes about {row['needed']} {unit}s{ends}; {there}."
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.plan import plan_chart

        return plan_chart(answer.result)


_FOR_READING = (
    *("unit", "n_there", "power_there", "power", "needed", "low", "high", "data_low", "data_high", "pessimistic"),
)
