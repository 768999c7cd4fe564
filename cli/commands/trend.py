"""`scorehouse trend`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cli.completion import complete_measure, complete_metric
from cli.exit_codes import UsageError
from cli.options import Alpha, ChartFlags, ComputeFlags, Draws, Fresh, Lps, Output, SliceFlags, Testsets, choice, folded
from cli.options.beside import refuse_given
from cli.progress import progress

if TYPE_CHECKING:
    from metaeval.trends.views import View

GROUPS = ("family", "version", "kind", "best")
POOLINGS = ("mean", "hunter-schmidt", "random-effects")
SLOPES_OF = ("new-metrics", "these-metrics")


@folded
def trend(
    context: typer.Context,
    flags: SliceFlags,
    compute: ComputeFlags,
    charted: ChartFlags,
    output: Output,
    testsets: Testsets = "all",
    lps: Lps = "all",
    measure: Annotated[
        str,
        typer.Option("--measure", "-m", help="Measure, such as pa or pearson.", autocompletion=complete_measure),
    ] = "pa",
    by: Annotated[
        list[str] | None,
        choice(
            GROUPS,
            "--by",
            help="Groups of metrics: families, versions, the best of each kind, or the best of all; repeatable.",
            show_default="family and kind",
        ),
    ] = None,
    anchor: Annotated[
        str,
        typer.Option(help="Metric that gaps on the same data are measured from.", autocompletion=complete_metric),
    ] = "BLEU",
    pool: Annotated[
        str | None,
        choice(
            POOLINGS,
            "--pool",
            help="Pool the language pairs of a year.",
            show_default="tables take the mean, other formats list each",
        ),
    ] = None,
    within: Annotated[
        bool,
        typer.Option(
            "--within",
            help="Instead, progress on the same data: slopes over the years in which metrics were published.",
        ),
    ] = False,
    over_years: Annotated[
        bool, typer.Option("--over-years", help="Instead, test the yearly gaps for a trend by permuting years.")
    ] = False,
    bridges: Annotated[
        bool, typer.Option("--bridges", help="Instead, compare human protocols that judged the same systems.")
    ] = False,
    published: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=YEAR...", help="With --within: publication year of a metric (shell pattern, repeatable)."
        ),
    ] = None,
    without_contaminated: Annotated[
        bool,
        typer.Option(
            "--without-contaminated",
            help="With --within: exclude metrics known to be trained on human scores of the year.",
        ),
    ] = False,
    slope_of: Annotated[
        str,
        choice(
            SLOPES_OF,
            "--slope-of",
            help="With --within: pool slopes as those of new metrics, of which these are a sample, or of these alone.",
        ),
    ] = "new-metrics",
    draws: Draws = 1000,
    alpha: Alpha = 0.05,
    fresh: Fresh = False,
) -> None:
    """Follow a measure over the years: each metric's value, and its gap to an anchor on the same data.

    Values of different years stand on other systems and other human scores, so gaps, slopes within one evaluation set,
    and bridges between human protocols are what can be compared.

    Example: scorehouse trend all en-de -m pearson --anchor simBLEU
    """
    from metaeval.measures import parse_measure
    from metaeval.significance.options import TestOptions
    from metaeval.trends.history import history
    from metaeval.trends.views import Asked, parse_published, show, slice_of_view
    from warehouse import Warehouse

    view = _view(within, over_years, bridges)
    if view != "within":
        if published or without_contaminated:
            raise UsageError("--published and --without-contaminated go with --within")
        refuse_given(context, ("slope_of",), "goes with --within")
    if view in ("within", "bridges") and charted.chart is None:
        refuse_given(context, ("pool",), f"does not go with --{view}")
    if view == "within":
        refuse_given(context, ("by", "anchor"), "does not go with --within, which has slopes over all metrics")
    if view != "years":
        refuse_given(context, ("alpha",), f"does not go with --{view}: it marks gaps of years")
    asked = Asked(
        view=view,
        by=tuple(dict.fromkeys(by or ("family", "kind"))),  # type: ignore[arg-type]
        pool=pool,  # type: ignore[arg-type]
        published=parse_published(published or ()),
        without_contaminated=without_contaminated,
        slope_of=slope_of,  # type: ignore[arg-type]
        alpha=alpha,
        seed=compute.seed,
    )
    with progress(output.quiet) as advance:
        found = history(
            lambda: Warehouse.open(output.database),
            slice_of_view(flags.slice(testsets, lps), view),
            parse_measure(measure),
            compute.options(),
            TestOptions(draws=draws, alpha=alpha),
            anchor,
            bridged=view == "bridges",
            database=output.database,
            fresh=fresh,
            progress=advance,
        )
    shown = show(found, asked)
    if charted.chart is not None:
        from cli.charts.history import history_chart
        from metaeval.trends.gaps import pooled_by_year

        years = shown if view == "years" else show(found, replace(asked, view="years"))
        by_year = pooled_by_year(years.rows, found.measure, asked.pool or "random-effects")
        specification = history_chart(years.rows, by_year, found.anchor, years.reading.signature)
        charted.draw(output, lambda: specification)
    if shown.slopes is not None:
        from metaeval.trends.within_tables import within_json

        output.show_table(shown.table, digits=DIGITS_OF_SLOPES, json_shape=within_json(shown.slopes))
    else:
        output.show_table(shown.reading if output.is_for_reading else shown.table)


DIGITS_OF_SLOPES = dict.fromkeys(
    ("estimate", "low", "high", "left_out_low", "left_out_high", "metric_out_low", "metric_out_high", "tau2"), 5
)


def _view(within: bool, over_years: bool, bridges: bool) -> "View":
    """Raises UsageError: several views at once."""
    chosen: list[View] = []
    chosen += ["within"] if within else []
    chosen += ["over-years"] if over_years else []
    chosen += ["bridges"] if bridges else []
    if len(chosen) > 1:
        raise UsageError("--within, --over-years and --bridges exclude each other")
    return chosen[0] if chosen else "years"
