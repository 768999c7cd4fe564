"""`cutoff`: the score above which translations can be published without review."""

from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import Resamples, Seed, UnitOption
from metaeval.questions.fields import requires
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import METRIC_FIELDS, Slice
from warehouse import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import counted, option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result

_DRAWN = ("view=cost", "view=transfer")
_PRICED = ("view=threshold", "view=cost")


@dataclass(frozen=True, kw_only=True)
class Cutoff(Slice, EvalsetQuestion["Result"], name="cutoff"):
    """Find the score above which outputs need no review.

    Example: scorehouse cutoff sim24 en-de simBLEU --good -1 --precision 0.8
    """

    important = ("threshold", "n_passed", "precision", "recall", "mcc", "cost", "loss")
    needs = requires(METRIC_FIELDS, "intersection", resamples=_DRAWN, seed=_DRAWN)

    metric: Annotated[str, Argument("Metric, such as COMET-refA or COMET.", ("metric",), names="metric")]
    view: Annotated[
        Literal["threshold", "cost", "reliability", "transfer"],
        Option(
            "The threshold that reaches a precision, and its cost; the cheapest threshold; reliability of calibrated "
            "scores; or transfer of the threshold with the highest MCC to other evaluation sets and domains.",
            excludes=("curve",),
        ),
    ] = "threshold"
    curve: Annotated[bool, Option("Show precision and recall at every threshold.")] = False
    good: Annotated[str, Option("Lowest human score that counts as good, or error_free.", may_be_number=True)] = (
        "error_free"
    )
    precision: Annotated[
        float,
        Option(
            "Target precision: the share of published translations that are good.",
            least=0,
            most=1,
            needs=("view=threshold",),
            excludes=("curve",),
        ),
    ] = 0.95
    error_cost: Annotated[
        float,
        Option("Cost of publishing a bad translation.", least=0, needs=_PRICED, excludes=("curve",), formerly="miss"),
    ] = 10.0
    review_cost: Annotated[
        float,
        Option("Cost of reviewing one translation.", least=0, needs=_PRICED, excludes=("curve",), formerly="look"),
    ] = 1.0
    seed: Seed = 0
    resamples: Resamples = 1000
    unit: UnitOption = None

    @property
    def chosen_view(self) -> Literal["curve", "threshold", "cost", "reliability", "transfer"]:
        """The requested view."""
        return "curve" if self.curve else self.view

    @property
    def reads_others(self) -> bool:
        return self.chosen_view == "transfer"

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.cutoffs.carried import elsewhere, transfer
        from metaeval.studies.cutoffs.decisions import cost, curve, load_decision_inputs, reliability, threshold_for

        measure, asked = parse_measure(f"mcc(good={self.good})"), self.part(Slice)
        with run.opened() as warehouse:
            one = load_decision_inputs(warehouse, asked, self.metric, measure, self.unit)
            others = elsewhere(warehouse, asked, one, measure, self.unit) if self.chosen_view == "transfer" else None
        reading = None
        if others is not None:
            found = transfer(*others, draws=self.resamples, seed=self.seed)
        elif self.chosen_view == "cost":
            found = cost(one, self.error_cost, self.review_cost, draws=self.resamples, seed=self.seed)
            reading = found.frame.select("threshold", "share", "cost", "is_best")
        elif self.chosen_view == "reliability":
            found = reliability(one)
        elif self.chosen_view == "threshold":
            found = threshold_for(one, self.precision, self.error_cost, self.review_cost)
            reading = found.facts["reading"]
        else:
            found = curve(one, points=50)
        facts: dict[str, object] = {**found.facts, "metric": one.name}
        if self.chosen_view == "threshold" and self.charted:
            facts["curve"] = curve(one, points=50)
        found = replace(found, facts=facts)
        shown = found.frame if reading is None else reading
        thresholds = shown["threshold"] if self.chosen_view in ("curve", "cost", "threshold") else ()
        return answer_of(self, found, digits={"threshold": _n_decimals(*thresholds)}, reading=reading)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import either, interval, number, opening

        frame, name = answer.frame, answer.facts["metric"]
        if self.chosen_view == "threshold":
            observed, safe = frame.row(0, named=True), frame.row(1, named=True)
            if safe["threshold"] is not None:
                start = (
                    f"Publishing outputs with {name} of at least {_in_full(safe['threshold'])} without review is 95% "
                    f"certain to reach precision {self.precision:.0%}; {safe['share']:.1%} of outputs pass"
                )
                return either(
                    f"{start}, at a cost of {number(safe['cost'])} each (review: {self.review_cost:g}).", f"{start}."
                )
            wanted = f"{self.precision:.0%} of published outputs are good"
            start = f"No: at no threshold of {name} is it 95% certain that {wanted}"
            if observed["threshold"] is None:
                return either(f"{start}; on these data at most {answer.facts['highest']:.1%} are.", f"{start}.")
            n_passed = counted(observed["n_passed"], "output passes", "outputs pass")
            passing = f"{start}; {n_passed} ({observed['share']:.1%}) at {_in_full(observed['threshold'])}"
            ends = interval(observed, "precision_low", "precision_high", 2)
            return either(f"{passing}, {observed['precision']:.0%} of them good{ends}.", f"{passing}.", f"{start}.")
        if self.chosen_view == "cost":
            best = frame.filter(is_best=True).row(0, named=True)
            ends = interval(best, "low", "high")
            all_reviewed = frame.filter(frame["threshold"].is_null())["cost"][0]
            if best["threshold"] is None:
                return opening(
                    f"No threshold of {name} is cheaper than reviewing every output ({number(all_reviewed)} each)."
                )
            return opening(
                f"Threshold {_in_full(best['threshold'])} of {name} is cheapest: {number(best['cost'])}{ends} per "
                f"output, against {number(all_reviewed)} for reviewing all; {best['share']:.1%} of outputs pass."
            )
        if self.chosen_view == "reliability":
            apart = max((frame["observed"] - frame["probability"]).abs().to_list())
            outside = frame.filter(
                (frame["probability"] < frame["low"]) | (frame["probability"] > frame["high"])
            ).height
            known = frame.drop_nulls(["low", "high"]).height
            verdict = f"{known - outside} of {known} bins agree with the observed share within its 95% interval"
            verdict = verdict if known else "there are no intervals"
            return opening(f"Calibrated {name} is off by at most {number(apart)}; {verdict}.")
        if self.chosen_view == "transfer":
            rows = frame.filter(frame["source"] != frame["target"]).drop_nulls("loss").sort("loss", descending=True)
            if rows.is_empty():
                return opening(f"There is no other evaluation set or domain to try a threshold of {name} on.")
            worst, mean = rows.row(0, named=True), fsum(rows["loss"]) / rows.height
            lost = number(mean) if mean > 0 else "no"
            return opening(
                f"A threshold of {name} loses {lost} MCC on average on another evaluation set or domain, at "
                f"most {number(worst['loss'])} ({worst['source']} to {worst['target']})."
            )
        if (top := answer.facts.get("best")) is None:
            return opening(f"No threshold of {name} separates good outputs from others.")
        share = (top.n_true + top.n_false) / answer.facts["n_outputs"]
        return opening(
            f"Threshold {_in_full(top.threshold)} of {name} separates good outputs best (MCC {number(top.mcc)}).",
            f"{share:.0%} pass; {top.precision:.0%} of these are good, and {top.recall:.0%} of all good ones pass.",
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.cutoff import decision_chart

        found = answer.result
        drawn = found.facts.get("curve") if self.chosen_view == "threshold" else found
        if drawn is None:
            raise QuestionError(f"this answer has no curve to draw; ask with {option('charted', True)}")
        return decision_chart(self.chosen_view, drawn, found.facts["metric"])


def _n_decimals(*thresholds: float | None) -> int:
    """Decimals that show all of the thresholds in full, at least 4."""
    written = [repr(one) for one in thresholds if one is not None]
    return max([4, *(len(one.partition(".")[2]) for one in written if "e" not in one)])


def _in_full(threshold: float) -> str:
    return f"{threshold:.{_n_decimals(threshold)}f}"
