"""`trend`: a measure over the years."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from metaeval.measures.options import Options, Recompute, Resamples, TestOptions, UnitOption
from metaeval.questions.fields import requires
from metaeval.questions.question import Question
from metaeval.results.run import Run
from metaeval.studies.trends.settings import TrendSettings
from queries.slices import Slice
from warehouse.fields import Argument, Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result
    from metaeval.studies.trends.history import History


_NOT_WITHIN = ("view=years", "view=over-years", "view=bridges")


@dataclass(frozen=True, kw_only=True)
class Trend(Slice, Options, TrendSettings, Question["tuple[History, Result]"], name="trend"):
    """Compare metrics over the years on the same data.

    Shows each metric's value in each year, and its gap to an anchor on the same data.

    Values from different years are not comparable (different systems, different annotation). Compare gaps, slopes
    within one evaluation set, and bridges between human protocols.

    Example: scorehouse trend all en-de -m pearson --anchor simBLEU
    """

    by_evalset = True
    needs = requires(
        ("published", "without_contaminated", "generalise_to", "kinds"),
        "within",
        pool=("view=years", "view=over-years", "charted"),
        alpha=("view=years",),
        by=_NOT_WITHIN,
        anchor=_NOT_WITHIN,
    )

    important = (
        "group",
        "n_years",
        "slope",
        "p",
        "least_p",
        "reason",
        "human",
        "other_human",
        "value",
        "step",
        "agreement",
        "kind",
        "name",
        "estimate",
        "low",
        "high",
    )

    testset: Annotated[str, Argument("Test set; several by commas, or all.", names="testset")] = "all"
    measure: Annotated[str, Option("Measure, such as pa or pearson.", ("measure", "m"), names="measure")] = "pa"
    anchor: Annotated[
        str, Option("Anchor: the metric that others are compared with on the same data.", names="metric")
    ] = "BLEU"
    recompute: Recompute = field(default=False, compare=False)
    resamples: Resamples = 1000
    unit: UnitOption = None

    def _has_none(self, run: Run) -> bool:
        """Whether intervals and standard errors of single evaluation sets are neither shown nor used."""
        is_wide = self.view == "years" and run.for_reading and not self.charted and self.pool in (None, "mean")
        return is_wide or self.view == "bridges"

    def answer(self, run: Run) -> "Answer[tuple[History, Result]]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.trends.history import HistorySettings, history
        from metaeval.studies.trends.views import show, slice_of_view, within_json

        settings = HistorySettings(
            asked=slice_of_view(self.part(Slice), self.view),
            measure=parse_measure(self.measure),
            options=self.part(Options),
            testing=self.part(TestOptions),
            anchor=self.anchor,
            bridged=self.bridges,
            intervals=not self._has_none(run),
        )
        found = history(run, settings, fresh=self.recompute)
        shown = show(found, self.part(TrendSettings))
        if (slopes := shown.facts.get("slopes")) is not None:
            return answer_of(self, shown, (found, shown), shape=within_json(slopes), digits=_OF_SLOPES)
        if (reading := shown.facts.get("reading")) is None:
            return answer_of(self, shown, (found, shown))
        return answer_of(self, shown, (found, shown), reading=reading.frame, reading_notes=reading.notes)

    def headline(self, answer: "Answer[tuple[History, Result]]") -> str:
        from metaeval.studies.trends.headlines import of_bridges, of_slopes, of_trends, of_years

        history, shown = answer.result
        if (slopes := shown.facts.get("slopes")) is not None:
            return of_slopes(slopes)
        if self.view == "years":
            return of_years(history, shown.facts["rows"], self.pool or "mean")
        return (of_trends if self.view == "over-years" else of_bridges)(history, answer.frame)

    def chart(self, answer: "Answer[tuple[History, Result]]") -> "alt.VConcatChart":
        from metaeval.charts.history import history_chart
        from metaeval.studies.trends.gaps import pooled_by_year
        from metaeval.studies.trends.views import show

        history, shown = answer.result
        years = shown if self.view == "years" else show(history, self.part(TrendSettings), "years")
        rows = years.facts["rows"]
        by_year = pooled_by_year(rows, history.measure, self.pool or "mean")
        return history_chart(rows, by_year, history.anchor, years.signature)


_OF_SLOPES = dict.fromkeys(
    ("estimate", "low", "high", "left_out_low", "left_out_high", "metric_out_low", "metric_out_high", "tau2"), 5
)
