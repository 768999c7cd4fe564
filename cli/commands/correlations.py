"""`scorehouse correlations`."""

from typing import Annotated

import typer

from cli.exit_codes import UsageError
from cli.options import ChartFlags, Lp, Output, SliceFlags, SystemScoreOption, Testset, compute_options, folded


@folded
def correlations(
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    charted: ChartFlags,
    output: Output,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="pearson, spearman or kendall; with by=... on segments.")
    ] = "pearson(by=none)",
    system_score: SystemScoreOption = None,
) -> None:
    """Correlate every pair of metrics over annotated segments, or over all segments where there are no human scores.

    Example: scorehouse correlations sim24 en-de -m pearson --primary
    """
    from metaeval.measures import parse_measure
    from metaeval.tables.agreement import agreement, clustered
    from warehouse import Warehouse

    parsed, options = parse_measure(measure), compute_options(system_score)
    if system_score is not None and parsed.level != "sys":
        raise UsageError(f"--system-score goes with a measure of systems, such as pearson, not with {parsed}")
    with Warehouse.open(output.database) as warehouse:
        found = agreement(warehouse, flags.slice(testset, lp), parsed, options)
    if charted.chart:
        from cli.charts.correlations import correlation_matrix

        charted.draw(output, lambda: correlation_matrix(found.frame, clustered(found), str(parsed), found.signature))
    output.show_table(found, digits=2)
