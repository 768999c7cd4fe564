"""`scorehouse show`."""

from typing import Annotated

import typer

from cli.completion import complete_human, complete_metric, complete_system
from cli.options import ChartFlags, Lp, Output, Testset, folded


@folded
def show(
    testset: Testset,
    lp: Lp,
    segment: Annotated[int, typer.Argument(help="Segment number, from 1.")],
    charted: ChartFlags,
    output: Output,
    human: Annotated[
        list[str] | None,
        typer.Option(
            help="Human scores to show (shell pattern, repeatable).",
            show_default="the official one",
            autocompletion=complete_human,
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            help="Metrics to show (shell pattern, repeatable).", show_default="none", autocompletion=complete_metric
        ),
    ] = None,
    systems: Annotated[
        list[str] | None,
        typer.Option(help="Only outputs of these systems (shell pattern, repeatable).", autocompletion=complete_system),
    ] = None,
) -> None:
    """Show one segment: source, references and every system's output, best first, with their scores.

    Example: scorehouse show sim24 en-de 12 --metrics "Kestrel*" --systems "[A-D]*"
    """
    from cli.charts.segment import segment_scores
    from queries.segment import read_segment
    from warehouse import Warehouse

    with Warehouse.open(output.database) as warehouse:
        found = read_segment(
            warehouse, testset, lp, segment, humans=human or (), metrics=metrics or (), systems=systems or ()
        )
    charted.draw(output, lambda: segment_scores(found))
    output.show(found.frame(), title=found.place, json_shape=found.as_json())
