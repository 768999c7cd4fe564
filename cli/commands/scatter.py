"""`scorehouse scatter`."""

from typing import Annotated

import typer

from cli.completion import complete_metric
from cli.options import (
    ChartFlags,
    Lp,
    Output,
    RoundHuman,
    SliceFlags,
    SystemScoreOption,
    Testset,
    choice,
    compute_options,
    folded,
)
from cli.options.beside import OF_METRICS, refuse_given

VIEWS = ("systems", "pairs", "segments")


@folded
def scatter(
    context: typer.Context,
    testset: Testset,
    lp: Lp,
    metric: Annotated[str, typer.Argument(help="Metric, such as BLEU-refA or BLEU.", autocompletion=complete_metric)],
    flags: SliceFlags,
    charted: ChartFlags,
    output: Output,
    view: Annotated[
        str,
        choice(VIEWS, "--view", help="Systems, differences of system pairs, or bins of segment scores, as a table."),
    ] = "systems",
    system_score: SystemScoreOption = None,
    round_human: RoundHuman = None,
) -> None:
    """Lay one metric against humans: systems, differences of system pairs, and segments.

    The chart shows all three views, the table one.

    Example: scorehouse scatter sim24 en-de simBLEU
    """
    from metaeval.tables.scatter import scatter as laid
    from warehouse import Warehouse

    if not flags.intersection:
        refuse_given(context, OF_METRICS, "needs --intersection, whose metrics it selects")
    with Warehouse.open(output.database) as warehouse:
        options = compute_options(system_score, round_human=round_human)
        found = laid(warehouse, flags.slice(testset, lp), metric, options)
    if charted.chart:
        from cli.charts.scatter import scatter_panels

        charted.draw(output, lambda: scatter_panels(found))
    output.show(found.view(view), signature=[found.signature], notes=[*found.words, *found.notes])  # type: ignore[arg-type]
