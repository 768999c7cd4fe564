"""`scorehouse thresholds`."""

from typing import Annotated

import typer

from cli.options import ChartFlags, Lp, Output, RoundHuman, SliceFlags, Testset, compute_options, folded, whole_number
from cli.options.beside import refuse_given
from metaeval.limits import MOST

CHART_POINTS = 60  # of a curve in a small panel


@folded
def thresholds(
    context: typer.Context,
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    charted: ChartFlags,
    output: Output,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="acc_eq or tau_eq, with its groups.")
    ] = "acc_eq(by=item)",
    curve: Annotated[
        bool, typer.Option("--curve", help="Instead, show the value at each tie threshold, for plotting.")
    ] = False,
    points: Annotated[
        int, whole_number("--points", least=2, most=MOST["points"], help="Number of points of the curve.")
    ] = 200,
    round_human: RoundHuman = None,
) -> None:
    """Show each metric's calibrated tie threshold, and the interval of thresholds that are as good.

    Example: scorehouse thresholds sim24 en-de -m "acc_eq(by=system)"
    """
    from metaeval.measures import parse_measure
    from metaeval.tables import thresholds as tables
    from warehouse import Warehouse

    if not curve and charted.chart is None:
        refuse_given(context, ("points",), "needs --curve or --chart")
    asked, options, parsed = flags.slice(testset, lp), compute_options(round_human=round_human), parse_measure(measure)
    with Warehouse.open(output.database) as warehouse:
        n_points = points if curve else min(points, CHART_POINTS)
        values = tables.curve(warehouse, asked, parsed, options, n_points) if curve or charted.chart else None
        optima = tables.thresholds(warehouse, asked, parsed, options) if not curve or charted.chart else None
    if values is not None and optima is not None:
        from cli.charts.thresholds import calibration_curves

        specification = calibration_curves(values.frame, optima.frame, optima.signature)
        charted.draw(output, lambda: specification)
    found = values if curve else optima
    assert found is not None
    output.show_table(found, digits=6)
