"""`scorehouse hard-pairs`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.completion import complete_lp, complete_testset
from cli.options import ComputeFlags, Output, SliceFlags, folded
from cli.progress import progress


@folded
def hard_pairs(
    flags: SliceFlags,
    compute: ComputeFlags,
    output: Output,
    testsets: Annotated[
        str, typer.Argument(help="Test sets, joined by commas.", autocompletion=complete_testset)
    ] = "all",
    lps: Annotated[str, typer.Argument(help="Language pairs, joined by commas.", autocompletion=complete_lp)] = "all",
    at_most: Annotated[
        int, typer.Option("--at-most", metavar="N", min=0, help="Pairs that at most N metrics order as people do.")
    ] = 1,
    least_metrics: Annotated[
        int, typer.Option("--least-metrics", metavar="N", min=1, help="Only evaluation sets with at least N metrics.")
    ] = 5,
    significant: Annotated[
        bool,
        typer.Option("--significant", help="Only pairs that people tell apart (Wilcoxon's signed-rank test)."),
    ] = False,
    alpha: Annotated[float, typer.Option(help="Significance level.")] = 0.05,
    chart: Annotated[
        Path | None,
        typer.Option(help="Draw all pairs of systems: FILE.svg, .png or .html (needs the report extra)."),
    ] = None,
) -> None:
    """List pairs of systems that no metric, or only one, orders as people do.

    Example: scorehouse hard-pairs sim24 --primary --at-most 3
    """
    from metaeval.pairs.hard_pairs import Asked, reading
    from metaeval.pairs.hard_pairs import hard_pairs as found_in
    from warehouse import Warehouse

    if chart is not None:
        from cli.charts import check_chart

        check_chart(chart)
    what = Asked(at_most, least_metrics, alpha, significant)
    with Warehouse.open(output.database) as warehouse, progress(output.quiet) as advance:
        found = found_in(warehouse, flags.slice(testsets, lps), compute.options(), what, advance)
    if chart is not None:
        from cli.charts import draw
        from cli.hard_pairs_chart import hard_pairs_chart

        draw(hard_pairs_chart(found, at_most), chart)
        output.note(f"chart written to {chart}")
    frame = reading(found.frame) if output.is_for_reading else found.frame
    output.show(frame, signature=found.signature, notes=found.notes)
