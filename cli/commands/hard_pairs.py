"""`scorehouse hard-pairs`."""

from typing import Annotated

import typer

from cli.options import (
    Alpha,
    ChartFlags,
    Lps,
    Output,
    RawTies,
    RoundHuman,
    SliceFlags,
    SystemScoreOption,
    Testsets,
    compute_options,
    folded,
    whole_number,
)
from cli.progress import progress


@folded
def hard_pairs(
    flags: SliceFlags,
    charted: ChartFlags,
    output: Output,
    testsets: Testsets = "all",
    lps: Lps = "all",
    at_most: Annotated[
        int, whole_number("--at-most", least=0, help="Pairs that at most N metrics order as people do.")
    ] = 1,
    least_metrics: Annotated[
        int, whole_number("--least-metrics", least=1, help="Only evaluation sets with at least N metrics.")
    ] = 5,
    significant: Annotated[
        bool,
        typer.Option("--significant", help="Only pairs that people tell apart (Wilcoxon's signed-rank test)."),
    ] = False,
    alpha: Alpha = 0.05,
    system_score: SystemScoreOption = None,
    raw_ties: RawTies = False,
    round_human: RoundHuman = None,
) -> None:
    """List pairs of systems that no metric, or only one, orders as people do.

    Example: scorehouse hard-pairs sim24 --primary --at-most 3
    """
    from metaeval.pairs.hard_pairs import Asked, reading
    from metaeval.pairs.hard_pairs import hard_pairs as found_in
    from warehouse import Warehouse

    what = Asked(at_most, least_metrics, alpha, significant)
    with Warehouse.open(output.database) as warehouse, progress(output.quiet) as advance:
        found = found_in(
            warehouse,
            flags.slice(testsets, lps),
            compute_options(system_score, raw_ties=raw_ties, round_human=round_human),
            what,
            advance,
        )
    if charted.chart:
        from cli.charts.hard_pairs import hard_pairs_chart

        charted.draw(output, lambda: hard_pairs_chart(found, at_most))
    frame = reading(found.frame) if output.is_for_reading else found.frame
    output.show(frame, signature=found.signature, notes=found.notes)
