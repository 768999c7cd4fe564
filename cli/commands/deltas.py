"""`scorehouse deltas`."""

from typing import Annotated

import typer

from cli.completion import complete_metric
from cli.options import ChartFlags, ComputeFlags, DataFlags, Draws, Lps, Output, Testsets, folded, number
from cli.progress import progress


@folded
def deltas(
    metric: Annotated[str, typer.Argument(help="Metric, such as BLEU or BLEU-refA.", autocompletion=complete_metric)],
    flags: DataFlags,
    compute: ComputeFlags,
    charted: ChartFlags,
    output: Output,
    testsets: Testsets = "all",
    lps: Lps = "all",
    agreement: Annotated[
        list[float] | None,
        number(
            "--agreement",
            metavar="SHARE...",
            help="Agreement with people to be reached, from 0.5 to below 1; repeatable.",
            show_default="0.8, 0.9 and 0.95",
        ),
    ] = None,
    human_alpha: Annotated[
        float | None,
        number(
            "--human-alpha",
            metavar="P",
            help="Only pairs that people tell apart at this level (Wilcoxon's signed-rank test over segments).",
            show_default="all pairs",
        ),
    ] = None,
    percent: Annotated[
        bool,
        typer.Option(
            "--percent", help="Multiply scores between 0 and 1 by 100 where other evaluation sets have a scale to 100."
        ),
    ] = False,
    draws: Draws = 1000,
) -> None:
    """Show how large a metric's difference between two systems must be for people to agree with it.

    All pairs of systems that people scored, by human protocol and direction; agreement is fitted by isotonic
    regression, its intervals come from resampled evaluation sets and systems.

    Example: scorehouse deltas simBLEU --human mqm --draws 200
    """
    from metaeval.pairs.delta_tables import deltas_reading, deltas_table
    from metaeval.pairs.deltas import LEVELS, Asked
    from metaeval.pairs.deltas import deltas as computed
    from warehouse import Warehouse

    levels = tuple(sorted(set(agreement or LEVELS)))
    what = Asked(levels, human_alpha, percent, draws, compute.seed)
    with Warehouse.open(output.database) as warehouse, progress(output.quiet) as advance:
        found = computed(warehouse, flags.slice(testsets, lps), metric, compute.options(), what, advance)
    table = deltas_table(found)
    if charted.chart:
        from cli.charts.deltas import deltas_chart

        charted.draw(output, lambda: deltas_chart(found))
    if output.is_for_reading:
        output.show(deltas_reading(found), signature=table.signature, notes=table.notes)
    else:
        output.show_table(table)
