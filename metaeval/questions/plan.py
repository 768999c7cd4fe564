"""`plan`: how much data is needed to tell two metrics or systems apart."""

from dataclasses import dataclass, replace
from glob import escape
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import Options, RoundHuman, SystemScoreOption
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from metaeval.studies.planning.settings import PlanSettings
from queries.slices import METRIC_FIELDS, Slice
from warehouse.errors import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import counted, option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Plan(Slice, PlanSettings, EvalsetQuestion["Result"], name="plan"):
    """Plan how many documents or segments a test needs.

    Estimates how much annotation it takes to make a difference between two metrics, or two systems, significant. The
    number of systems or of single judgements can be planned, too. For two systems, annotators and assisted_by show how
    many segments and judgements other designs would need.

    Simulates data sets of other sizes from the loaded one and tests each; the test is the one whose measured
    false-positive rate is closest to alpha.

    The option sequential shows which systems may still be the best, using intervals that remain valid if you check them
    after every document, and how early the campaign could have stopped.

    Example: scorehouse plan sim24 en-de Oriole Embermatch -m "pearson(by=none)" --simulations 20 --resamples 100
    """

    without = METRIC_FIELDS
    needs = dict.fromkeys(("measure", "resamples", "system_score"), ("compare=metrics",))

    first: Annotated[str | None, Argument("Metric, or system if two systems are compared.", names="scorer")] = None
    second: Annotated[str | None, Argument("Metric, or system if two systems are compared.", names="scorer")] = None
    compare: Annotated[
        Literal["metrics", "systems"], Option("Compare two metrics, or two systems.", formerly="tell")
    ] = "metrics"
    measure: Annotated[str, Option("Measure that compares two metrics.", ("measure", "m"), names="measure")] = (
        "acc_eq(by=item)"
    )
    annotators: Annotated[
        int | None,
        Option(
            "Plan segments for 1 to N annotators of each output, by variance components.",
            least=1,
            most=20,
            needs=("compare=systems",),
        ),
    ] = None
    assisted_by: Annotated[
        tuple[str, ...],
        Option(
            "Also plan with this metric's help, see `means`; repeatable.", names="metric", needs=("compare=systems",)
        ),
    ] = ()
    sequential: Annotated[
        bool,
        Option(
            "Show whether the campaign may stop: which systems may still be the best, among FIRST and SECOND or all.",
            excludes=("annotators", "assisted_by", "charted"),
        ),
    ] = False
    round_human: RoundHuman = None
    system_score: SystemScoreOption = None

    def check_fields(self) -> None:
        super().check_fields()
        if self.sequential:
            if (self.first is None) != (self.second is None):
                raise QuestionError(f"{option('sequential')} takes two systems, or none for all")
            for name in ("measure", "power", "resamples", "system_score"):
                if self.differs_from_default(name):
                    raise QuestionError(f"{option(name)} does nothing with {option('sequential')}")
        elif self.first is None or self.second is None:
            raise QuestionError("name two metrics, or two systems, to plan for")
        if self.is_design and self.differs_from_default("simulations"):
            raise QuestionError(
                f"{option('simulations')} does nothing with {option('annotators')}: nothing is simulated"
            )

    @property
    def is_design(self) -> bool:
        """Whether designs are compared: numbers of annotators, or estimates assisted by a metric."""
        return self.annotators is not None or bool(self.assisted_by)

    def _without_simulation(self, run: Run) -> "Answer[Result]":
        """Systems that may still be the best, or the judgements that each design needs."""
        from metaeval.results.answer import answer_of
        from metaeval.studies.planning.designs import designs
        from metaeval.studies.planning.sequential import sequential

        what, asked = self.part(PlanSettings), self.part(Slice)
        with run.opened() as warehouse:
            if self.sequential:
                if self.first is not None:
                    asked = replace(asked, systems=(escape(self.first), escape(str(self.second))))
                return answer_of(self, sequential(warehouse, asked, self.part(Options), what, run.progress), digits=3)
            two = (str(self.first), str(self.second))
            found = designs(warehouse, asked, two, self.annotators, self.assisted_by, what)
        return answer_of(self, found, digits=3)

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.planning.comparisons import plan_metrics, plan_systems
        from queries.listing import names

        if self.sequential or self.is_design:
            return self._without_simulation(run)
        what = self.part(PlanSettings)
        asked, options, two = self.part(Slice), self.part(Options), (str(self.first), str(self.second))
        with run.opened() as warehouse:
            if self.compare == "systems":
                found = plan_systems(warehouse, asked, two, options, what, run.progress)
            else:
                measure = parse_measure(self.measure)
                if {*two} <= {*names(warehouse, "system", [self.testset], [self.lp])}:
                    raise QuestionError(f"{' and '.join(two)} are systems; take {option('compare', 'systems')}")
                found = plan_metrics(warehouse, asked, two, measure, options, what, run.progress)
        reasons = [] if found.frame["reason"].null_count() == found.frame.height else ["reason"]
        return answer_of(self, found, reading=found.frame.select(*_FOR_READING, *reasons))

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import opening
        from metaeval.studies.planning.headlines import interval, of_designs, of_sequence
        from metaeval.studies.planning.plans import CHANCE

        if self.sequential:
            return of_sequence(answer.result)
        if self.is_design:
            return of_designs(answer.frame, self.power, str(answer.result.facts["unit"]))
        row = answer.frame.row(0, named=True)
        unit, pair = row["unit"], f"{row['first']} and {row['second']}"
        there = f"{row['n_loaded']} are loaded" + (
            "" if row["power_loaded"] is None else f", power {row['power_loaded']:.2f}"
        )
        chance = "Their difference may be chance." if row["effect"] < CHANCE else ""
        if row["needed"] is None:
            most = answer.result.facts["curve"].sort("units").row(-1, named=True)
            return opening(
                f"Not even {counted(most['units'], unit)} would tell {pair} apart by {row['measure']} with power "
                f"{row['power']:g}: the power is {most['power']:.2f} with them; {there}.",
                chance,
            )
        ends = ""
        if row["data_low"] is not None:
            ends = f" ({interval(row)})"
        if unit in ("segment", "judgement"):
            ends = f", if these are independent{ends}"
        return opening(
            f"Telling {pair} apart by {row['measure']} with power {row['power']:g} takes about {row['needed']} {unit}s"
            f"{ends}; {there}.",
            chance,
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.plan import plan_chart

        if "curve" not in answer.result.facts:
            raise QuestionError(f"this answer of {self.name} has no chart")
        return plan_chart(answer.result)


_FOR_READING = (*("unit", "n_loaded", "power_loaded", "power", "needed", "data_low", "data_high", "pessimistic"),)
