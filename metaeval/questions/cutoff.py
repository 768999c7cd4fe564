"""`cutoff`: the score above which translations can be published without review."""

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import Resamples, Seed, UnitOption
from metaeval.measures.parameters import number, shortest
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

    def check_fields(self) -> None:
        if self.good != "error_free" and not isfinite(number(self.good)):
            wanted = "a number, the lowest human score that counts as good (-1 for example), or error_free"
            raise QuestionError(f"{option('good')} {self.good!r}: expected {wanted}")

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
        facts: dict[str, object] = {**found.facts, "metric": one.name, "good": one.rule_in_words}
        if self.chosen_view == "threshold" and self.charted:
            facts["curve"] = curve(one, points=50)
        found = replace(found, facts=facts, notes=(*found.notes, *one.remarks))
        shown = found.frame if reading is None else reading
        thresholds = shown["threshold"] if self.chosen_view in ("curve", "cost", "threshold") else ()
        return answer_of(self, found, digits={"threshold": _n_decimals(*thresholds)}, reading=reading)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import interval, opening
        from metaeval.results.sentences import number as short

        frame, name, good = answer.frame, answer.facts["metric"], answer.facts["good"]
        if self.chosen_view == "threshold":
            return self._of_threshold(answer)
        if self.chosen_view == "cost":
            best = frame.filter(is_best=True).row(0, named=True)
            if best["threshold"] is None:
                return opening(
                    f"No threshold of {name} is cheaper than reviewing every output ({short(best['cost'])} each; bad "
                    f"output {self.error_cost:g}; good: {good})."
                )
            return opening(
                f"Threshold {_in_full(best['threshold'])} of {name} is cheapest: "
                f"{short(best['cost'])}{interval(best, 'low', 'high')} per output (review {self.review_cost:g}, bad "
                f"output {self.error_cost:g}; good: {good}); {best['share']:.1%} pass."
            )
        if self.chosen_view == "reliability":
            apart = max((frame["observed"] - frame["probability"]).abs().to_list())
            outside = frame.filter(
                (frame["probability"] < frame["low"]) | (frame["probability"] > frame["high"])
            ).height
            known = frame.drop_nulls(["low", "high"]).height
            agree = "agrees" if known - outside == 1 else "agree"
            verdict = f"{known - outside} of {known} bins {agree} with the observed share within its 95% interval"
            verdict = verdict if known else "there are no intervals"
            return opening(f"Calibrated {name} is off by at most {short(apart)} (good: {good}); {verdict}.")
        if self.chosen_view == "transfer":
            from metaeval.studies.cutoffs.carried import in_a_sentence

            return opening(*in_a_sentence(frame, name, good))
        if (top := answer.facts.get("best")) is None:
            return opening(f"No threshold of {name} separates good outputs ({good}) from others.")
        share = (top.n_true + top.n_false) / answer.facts["n_outputs"]
        return opening(
            f"Threshold {_in_full(top.threshold)} of {name} separates good outputs ({good}) best (MCC "
            f"{short(top.mcc)}).",
            f"{share:.0%} pass; {top.precision:.0%} of these are good, and {top.recall:.0%} of all good ones pass.",
        )

    def _of_threshold(self, answer: "Answer[Result]") -> str:
        """Whether a threshold is safe, and its costs; or the one that reaches the precision on these data."""
        from metaeval.results.sentences import either, interval
        from metaeval.results.sentences import number as short

        name, precision = answer.facts["metric"], f"{shortest(round(100 * self.precision, 9))}%"
        wanted = f"{precision} of published outputs are good ({answer.facts['good']})"
        observed, safe = answer.frame.row(0, named=True), answer.frame.row(1, named=True)
        if safe["threshold"] is not None:
            start = f"At threshold {_in_full(safe['threshold'])} of {name}, it is 97.5% certain that {wanted}"
            passing = f"{start}; {safe['share']:.1%} pass"
            price = f"(review {self.review_cost:g}, bad output {self.error_cost:g})"
            return either(f"{passing}. Cost per output: {short(safe['cost'])} {price}.", f"{passing}.", f"{start}.")
        start = f"No: at no threshold of {name} is it 97.5% certain that {wanted}"
        if observed["threshold"] is None:
            return either(f"{start}; on these data at most {answer.facts['highest']:.1%} are.", f"{start}.")
        n_passed = counted(observed["n_passed"], "output passes", "outputs pass")
        passing = f"{start}; {n_passed} ({observed['share']:.1%}) at {_in_full(observed['threshold'])}"
        ends = interval(observed, "precision_low", "precision_high", 2)
        return either(f"{passing}, {observed['precision']:.0%} of them good{ends}.", f"{passing}.", f"{start}.")

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
