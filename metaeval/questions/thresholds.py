"""`thresholds`: calibrated tie thresholds, and ties."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from metaeval.measures.options import Options, RoundHuman
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.errors import QuestionError
from warehouse.fields import Option
from warehouse.wording import are, ends, option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Thresholds(Slice, EvalsetQuestion["Result"], name="thresholds"):
    """Show each metric's calibrated tie threshold.

    Includes the interval of equally good thresholds. `--ties` shows the share of tied pairs instead.

    Example: scorehouse thresholds sim24 en-de -m "acc_eq(by=system)"
    """

    measure: Annotated[str, Option("acc_eq or tau_eq, with its groups.", ("measure", "m"), names="measure")] = (
        "acc_eq(by=item)"
    )
    curve: Annotated[bool, Option("Show the value at each tie threshold.")] = False
    points: Annotated[
        int, Option("Number of points of the curve.", least=2, most=10_000, needs=("curve", "charted"))
    ] = 100
    ties: Annotated[
        bool,
        Option(
            "Count the tied pairs of the human score (also those tied at 0) and of every metric.",
            excludes=("curve",),
        ),
    ] = False
    round_human: RoundHuman = None

    def check_fields(self) -> None:
        if self.ties and self.differs_from_default("measure"):
            raise QuestionError(f"{option('measure')} and {option('ties')} cannot be combined")

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.tables import thresholds as tables
        from metaeval.studies.tables.thresholds import ties

        measure, asked, options = parse_measure(self.measure), self.part(Slice), self.part(Options)
        with run.opened() as warehouse:
            if self.ties:
                return answer_of(self, ties(warehouse, asked, self.round_human))
            n_points = self.points if self.curve else min(self.points, _CHART_POINTS)
            curve = self.curve or self.charted
            values = (
                tables.curve(warehouse, asked, measure, options, n_points, progress=run.progress) if curve else None
            )
            optima = (
                tables.thresholds(warehouse, asked, measure, options, progress=run.progress)
                if not self.curve or self.charted
                else None
            )
        shown = values if self.curve else optima
        assert shown is not None
        return answer_of(self, replace(shown, facts={"curve": values, "optima": optima}), digits=6)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.evaluation import without_value
        from metaeval.results.sentences import either, highest, named, number, opening

        frame = answer.frame
        if self.ties:
            tied = frame.drop_nulls("share_tied")
            of_items = tied.filter(by="item")
            tied, pairs = (of_items, "pairs of a segment") if of_items.height else (tied.filter(by="none"), "all pairs")
            people, metrics = tied.filter(kind="human"), tied.filter(kind="metric")["share_tied"].to_list()
            if people.is_empty():
                return "Human scores form no pairs."
            said = f"; metrics tie in {ends(f'{min(metrics):.1%}', f'{max(metrics):.1%}')}" if metrics else ""
            return opening(
                f"Human scores ({people['scorer'][0]}) tie in {float(people['share_tied'][0]):.1%} of {pairs}{said}."
            )
        rows = (
            frame.with_columns(frame["value"].fill_nan(None))
            .drop_nulls("value")
            .sort("value", descending=True, maintain_order=True)
        )
        if rows.is_empty():
            return without_value(self.measure, answer.notes)
        first = highest(rows, "value")
        best, has = first.row(0, named=True), are(first.height, have=True)
        most = f"the highest {self.measure} of {rows.height} metrics" if rows.height > 1 else str(self.measure)
        at = f", at tie threshold {number(best['epsilon'], 4)}" if first["epsilon"].n_unique() == 1 else ""
        lead = either(*(f"{named(first['metric'], n)} {has} {most} ({number(best['value'])}){at}." for n in (3, 1)))
        if self.curve:
            return lead
        gains = rows.with_columns((rows["value"] - rows["value_at_zero"]).alias("gain")).sort("gain", descending=True)
        helped, gain = gains.select("metric", "gain").row(0)
        if not gain > 0:
            return opening(lead, "No threshold is better than 0.")
        extent = " most" if rows.height > 1 else ""
        return opening(lead, f"A threshold helps {helped}{extent} (+{number(gain)} over a threshold of 0).")

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.pairs import tied_pairs
        from metaeval.charts.thresholds import calibration_curves

        if self.ties:
            return tied_pairs(answer.frame, answer.signature)
        values, optima = map(answer.result.facts.get, ("curve", "optima"))
        if values is None or optima is None:
            raise QuestionError(f"this answer has no curve to draw; ask with {option('charted', True)}")
        return calibration_curves(values.frame, optima.frame, optima.signature)


_CHART_POINTS = 60  # of a curve in a small panel
