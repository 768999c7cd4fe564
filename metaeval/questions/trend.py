"""`trend`: a measure over the years."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.fields import AlphaField, ComputeFields, DrawsField, FreshField, SliceFields, UnitField, needing
from metaeval.options import Run
from metaeval.question import Argument, Option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer
    from metaeval.trends.history import History
    from metaeval.trends.views import Asked, Shown, View


_NOT_WITHIN = ("view=years", "view=over-years", "view=bridges")


@dataclass(frozen=True, kw_only=True)
class Trend(SliceFields, ComputeFields, UnitField, DrawsField, AlphaField, FreshField, name="trend"):
    """Compare metrics over the years on the same data.

    Each metric has its value in each year, and its gap to an anchor on the same data.

    Values of different years stand on other systems and other human scores, so gaps, slopes within one evaluation set,
    and bridges between human protocols are what can be compared.

    Example: scorehouse trend all en-de -m pearson --anchor simBLEU
    """

    needs = needing(
        ("published", "without_contaminated", "slope_of", "kinds"),
        "within",
        pool=("view=years", "view=over-years", "charted"),
        alpha=("view=years",),
        by=_NOT_WITHIN,
        anchor=_NOT_WITHIN,
    )

    testset: Annotated[str, Argument("Test set; several by commas, or all.", names="testset")] = "all"
    measure: Annotated[str, Option("Measure, such as pa or pearson.", ("measure", "m"), names="measure")] = "pa"
    by: Annotated[
        tuple[Literal["family", "version", "kind", "best"], ...],
        Option("Groups of metrics: families, versions, the best of each kind, or the best of all; repeatable."),
    ] = ("family", "kind")
    anchor: Annotated[str, Option("Metric that gaps on the same data are measured from.", names="metric")] = "BLEU"
    pool: Annotated[
        Literal["mean", "hunter-schmidt", "random-effects"] | None,
        Option("Pool the language pairs of a year.", default="tables take the mean, other formats list each"),
    ] = None
    within: Annotated[
        bool,
        Option(
            "Instead, progress on the same data: slopes over the years in which metrics were published.",
            excludes=("over_years", "bridges"),
        ),
    ] = False
    over_years: Annotated[
        bool, Option("Instead, test the yearly gaps for a trend by permuting years.", excludes=("bridges",))
    ] = False
    bridges: Annotated[bool, Option("Instead, compare human protocols that judged the same systems.")] = False
    published: Annotated[
        tuple[str, ...], Option("Publication year of a metric (shell pattern, repeatable).", metavar="NAME=YEAR")
    ] = ()
    without_contaminated: Annotated[
        bool, Option("Exclude metrics known to be trained on human scores of the year.")
    ] = False
    slope_of: Annotated[
        Literal["new-metrics", "these-metrics"],
        Option("Pool slopes as those of new metrics, of which these are a sample, or of these alone."),
    ] = "new-metrics"
    kinds: Annotated[
        Literal["separate", "pooled"],
        Option("Slopes of reference-based and of reference-free metrics: separate, or pooled as one population."),
    ] = "separate"

    @property
    def view(self) -> "View":
        """What is shown."""
        return "within" if self.within else "over-years" if self.over_years else "bridges" if self.bridges else "years"

    def _has_none(self, run: Run) -> bool:
        """Whether no interval or standard error of a single evaluation set is shown or used."""
        is_wide = self.view == "years" and run.for_reading and not self.charted and self.pool in (None, "mean")
        return is_wide or self.view == "bridges"

    def answer(self, run: Run) -> "Answer":
        from metaeval.answer import answer_of
        from metaeval.measures import parse_measure
        from metaeval.significance.options import TestOptions
        from metaeval.trends.history import history
        from metaeval.trends.views import Asked, parse_published, show, slice_of_view, within_json

        asked = Asked(
            view=self.view,
            by=self.by,
            pool=self.pool,
            published=parse_published(self.published),
            without_contaminated=self.without_contaminated,
            slope_of=self.slope_of,
            kinds=self.kinds,
            alpha=self.alpha,
            seed=self.seed,
        )
        found = history(
            run.opened,
            slice_of_view(self.slice(), self.view),
            parse_measure(self.measure),
            self.computing(),
            TestOptions(draws=self.draws, alpha=self.alpha, unit=self.unit),
            self.anchor,
            bridged=self.bridges,
            database=run.database,
            fresh=self.fresh,
            progress=run.progress,
            intervals=not self._has_none(run),
        )
        shown = show(found, asked)
        kept = Trends(found, asked, shown)
        if shown.slopes is not None:
            shape = within_json(shown.slopes)
            return answer_of(self, shown.table, found=kept, shape=shape, digits=_OF_SLOPES)
        reading = shown.reading
        return answer_of(self, shown.table, found=kept, reading=reading.frame, reading_notes=reading.notes)

    def chart(self, answer: "Answer") -> "alt.VConcatChart":
        from dataclasses import replace

        from metaeval.charts.history import history_chart
        from metaeval.trends.gaps import pooled_by_year
        from metaeval.trends.views import show

        history, asked, shown = answer.found.history, answer.found.asked, answer.found.shown
        years = shown if asked.view == "years" else show(history, replace(asked, view="years"))
        by_year = pooled_by_year(years.rows, history.measure, asked.pool or "random-effects")
        return history_chart(years.rows, by_year, history.anchor, years.reading.signature)


@dataclass(frozen=True)
class Trends:
    """What a chart of the years is made of: the history, what was asked of it, and what was shown."""

    history: "History"
    asked: "Asked"
    shown: "Shown"


_OF_SLOPES = dict.fromkeys(
    ("estimate", "low", "high", "left_out_low", "left_out_high", "metric_out_low", "metric_out_high", "tau2"), 5
)
