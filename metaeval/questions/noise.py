"""`noise`: metrics with added noise, and oracles."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.measures.options import Options, RoundHuman
from metaeval.questions.fields import Measures
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from metaeval.studies.robustness.settings import NoiseSettings
from queries.slices import METRIC_FIELDS, Slice
from warehouse.errors import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import every, option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Noise(Slice, NoiseSettings, EvalsetQuestion["Result"], name="noise"):
    """Show how noise in a metric changes each measure.

    `--oracles` shows how measures rank metrics of known quality. `--languages` shows whether a metric gives outputs of
    the same quality, such as those with one injected error, similar scores in all language pairs.

    Example: scorehouse noise sim24 en-de Kestrel-24 -m pdp -m "acc_eq(by=item)" --simulations 5
    """

    without = METRIC_FIELDS

    metric: Annotated[
        str | None,
        Argument(
            "Metric to add noise to.",
            ("metric",),
            names="metric",
            default="the human score itself",
            excludes={"oracles": "they are made of human scores"},
        ),
    ] = None
    measures: Measures = ("pdp", "pearson(by=none)", "pearson(by=item)", "acc_eq(by=item)")
    oracles: Annotated[
        bool, Option("Rank oracles: metrics built from the marked errors with other weights, and other human scores.")
    ] = False
    languages: Annotated[
        bool,
        Option(
            "Compare scores of equal quality between language pairs.",
            excludes={"oracles": "it compares languages, not measures", "metric": "all metrics are compared"},
        ),
    ] = False
    round_human: RoundHuman = None

    def answer(self, run: Run) -> "Answer[Result]":
        if not self.languages:
            return super().answer(run)
        from metaeval.results.answer import answer_of
        from metaeval.studies.robustness.languages import languages

        with run.opened() as warehouse:
            return answer_of(self, languages(warehouse, self.part(Slice)), digits=3)

    def check_fields(self) -> None:
        if self.differs_from_default("shares") and "outliers" not in self.kinds:
            raise QuestionError(f"{option('shares')} needs {option('kinds', 'outliers')}")
        if self.differs_from_default("strengths") and set(self.kinds) == {"outliers"}:
            raise QuestionError(f"{option('strengths')} needs another {option('kinds')} than outliers")

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.robustness import noise as injection
        from metaeval.studies.robustness import oracles as made_of_errors

        measures = [parse_measure(text) for text in self.measures]
        asked, options = self.part(Slice), self.part(Options)
        with run.opened() as warehouse:
            if self.oracles:
                found = made_of_errors.oracles(warehouse, asked, measures, options)
                return answer_of(self, found, reading=made_of_errors.reading(found.frame))
            what = self.part(NoiseSettings)
            found = injection.noise(warehouse, asked, self.metric, measures, options, what, run.progress)
        return answer_of(self, found, reading=injection.reading(found.frame))

    @property
    def answer_columns(self) -> tuple[str, ...]:
        from metaeval.measures.registry import parse_measure

        return tuple(str(parse_measure(text)) for text in self.measures)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.kernels.arrays.checks import EQUAL
        from metaeval.results.sentences import either, named, number, opening
        from metaeval.studies.robustness.noise import HUMAN

        frame = answer.frame
        if self.languages:
            rows = frame.drop_nulls("bias")
            if rows.is_empty():
                return "No metric rises with quality, so no bias has a unit."
            worst = max(rows.iter_rows(named=True), key=lambda row: abs(row["bias"]))
            side = "more" if worst["bias"] < 0 else "fewer"
            return opening(
                f"{worst['metric']} is most biased: it scores {worst['lp']} as if outputs of equal quality had "
                f"{number(abs(worst['bias']), 2)} errors {side} than on average; {worst['wrong']:.0%} of pairs across "
                "languages are in the wrong order."
            )
        if self.oracles:
            measure = frame["measure"][0]
            rows = frame.filter(kind="oracle", measure=measure).drop_nulls("value")
            if rows.is_empty():
                return f"No oracle has a value of {measure}."
            first, last = (rows.filter(rank=end) for end in (min(rows["rank"]), max(rows["rank"])))
            if first.height == rows.height:
                return f"{measure} of {every(rows.height, 'oracle')} is {number(first['value'][0])}."
            names = [named(map(repr, one["name"])) for one in (first, last)]
            return opening(
                f"Of {rows.height} oracles, {measure} ranks {names[0]} first ({number(first['value'][0])}), "
                f"{names[1]} last ({number(last['value'][0])})."
            )
        rows = frame.filter(frame["strength"] > 0).drop_nulls("lost")
        if rows.is_empty():
            return "No measure has a value with noise."
        kind, metric = rows["kind"][0], rows["metric"][0]
        rows = rows.filter(kind=kind)
        said: list[str] = []
        for strength in sorted({min(rows["strength"]), max(rows["strength"])}):
            here = rows.filter(strength=strength)
            lost = max(here["lost"])
            top = here.filter(here["lost"] >= lost - EQUAL)
            value, of = top["value"][0], "" if said else f" of {here.height} measures"
            change = f"from {number(value + lost)} to {number(value)}" if abs(lost) > EQUAL else f"at {number(value)}"
            if here.height == 1:
                verb = "falls" if lost > EQUAL else "rises" if lost < -EQUAL else "stays"
                change = f"{'it' if said else top['measure'][0]} {verb} {change}"
            elif lost <= EQUAL:
                change = f"none of {here.height} measures falls"
            elif top.height == 1:
                change = f"{top['measure'][0]} falls most{of}, {change}"
            else:
                change = f"{named(top['measure'])} fall most{of}, by {number(lost)}"
            size = f"{100 * strength:g}% outliers" if kind == "outliers" else f"{strength:g} SD"
            noise = size if kind == "outliers" else f"{kind} noise of {size}"
            start = f"with {size}" if said else f"With {noise} in {'the ' * (metric == HUMAN)}{metric}"
            said.append(f"{start}, {change}")
        return either(f"{'; '.join(said)}.", f"{said[0]}.")

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.noise import noise_chart, oracles_chart

        if self.languages:
            raise QuestionError(f"no chart goes with {option('languages')}")
        return (oracles_chart if self.oracles else noise_chart)(answer.frame, answer.signature)
