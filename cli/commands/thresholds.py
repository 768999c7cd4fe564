"""`scorehouse thresholds`."""

from typing import Annotated

import typer

from cli.options import Lp, Output, RoundHuman, SliceFlags, Testset, compute_options, folded


@folded
def thresholds(
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    output: Output,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="acc_eq or tau_eq, with its groups.")
    ] = "acc_eq(by=item)",
    curve: Annotated[
        bool, typer.Option("--curve", help="Instead, show the value at each tie threshold, for plotting.")
    ] = False,
    points: Annotated[int, typer.Option(min=2, help="Number of points of the curve.")] = 200,
    round_human: RoundHuman = None,
) -> None:
    """Show each metric's calibrated tie threshold, and the interval of thresholds that are as good.

    Example: scorehouse thresholds sim24 en-de -m "acc_eq(by=system)"
    """
    from metaeval.measures import Measure
    from metaeval.tables import thresholds as tables
    from warehouse import Warehouse

    asked, options, parsed = flags.slice(testset, lp), compute_options(round_human=round_human), Measure.parse(measure)
    with Warehouse.open(output.database) as warehouse:
        if curve:
            found = tables.curve(warehouse, asked, parsed, options, points)
        else:
            found = tables.thresholds(warehouse, asked, parsed, options)
    output.show_table(found, digits=6)
