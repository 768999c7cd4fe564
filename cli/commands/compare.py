"""`scorehouse compare`."""

from dataclasses import replace
from typing import Annotated

import typer

from cli.completion import complete_measure, complete_metric
from cli.exit_codes import UsageError
from cli.options import ChartFlags, ComputeFlags, Fresh, Lp, Output, SliceFlags, TestFlags, Testset, choice, folded
from cli.progress import progress
from cli.render import Format, format_for

MOST_COLUMNS = 12  # metrics whose matrix fits a table for reading
RESAMPLES = ("inputs", "systems", "both")
INTERVALS = ("percentile", "bca", "normal")


@folded
def compare(
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    compute: ComputeFlags,
    tests: TestFlags,
    charted: ChartFlags,
    output: Output,
    metric: Annotated[
        list[str] | None,
        typer.Argument(
            help="Metrics (shell patterns); two are compared in depth.",
            show_default="all",
            autocompletion=complete_metric,
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option(
            "--measure", "-m", help="Measure, such as spa or acc_eq(by=item).", autocompletion=complete_measure
        ),
    ] = "spa",
    resample: Annotated[
        str, choice(RESAMPLES, "--resample", help="Two metrics: what is resampled for their intervals.")
    ] = "inputs",
    interval: Annotated[
        str | None,
        choice(
            INTERVALS,
            "--interval",
            help="Two metrics: type of confidence interval.",
            show_default="percentile; normal for pearson of systems",
        ),
    ] = None,
    fresh: Fresh = False,
) -> None:
    """Compare every pair of metrics: p-values and significance clusters.

    With exactly two metrics: their difference with its confidence interval, every applicable test, and the estimated
    power.

    Example: scorehouse compare sim24 en-de -m "acc_eq(by=item)"
    """
    from metaeval.measures import parse_measure
    from metaeval.significance.cached import compared

    asked = flags.slice(testset, lp)
    if metric:
        asked = replace(asked, metrics=(*asked.metrics, *metric))
    parsed, options = parse_measure(measure), compute.options()
    testing = replace(tests.options(), resample=resample, interval=interval)  # type: ignore[arg-type]
    with tests.cluster(testing) as testing, progress(output.quiet) as advance:
        found = compared(output.database, asked, parsed, options, testing, fresh=fresh, progress=advance)
    if found.pairwise is not None:
        from metaeval.significance.pair_tables import pair_frame, pair_json

        if charted.chart is not None:
            raise UsageError("--chart draws a matrix; two metrics have none")
        output.show(
            pair_frame(found.pairwise),
            least={"p": [row.least for row in found.pairwise.tests]},
            signature=[found.pairwise.signature],
            notes=[*found.pairwise.words, *found.pairwise.notes, *found.notes],
            json_shape=pair_json(found.pairwise),
        )
        return
    from metaeval.significance.comparison import as_json, matrix_frame

    assert found.comparison is not None
    frame = matrix_frame(found.comparison)
    chosen = format_for(output.format, output.output)
    notes = [found.comparison.summary, *found.comparison.notes, *found.notes]
    if chosen is Format.TABLE and len(found.comparison.metrics) > MOST_COLUMNS:
        frame = frame.select("rank", "metric", "value", "cluster")
        notes.append("the matrix of p-values is in --format csv, json or latex, and in --chart FILE")

    comparison = found.comparison
    if charted.chart:
        from cli.charts.significance import significance_matrix

        charted.draw(output, lambda: significance_matrix(comparison))
    output.show(
        frame,
        least={name: found.comparison.least[:, place] for place, name in enumerate(found.comparison.metrics)},
        signature=[found.comparison.signature],
        notes=notes,
        json_shape=as_json(found.comparison),
    )
