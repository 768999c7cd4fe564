"""`scorehouse plan`."""

from typing import Annotated

import typer

from cli.completion import complete_measure, complete_metric
from cli.options import (
    ChartFlags,
    DataFlags,
    Lp,
    Output,
    RoundHuman,
    Seed,
    SystemScoreOption,
    Testset,
    choice,
    folded,
    number,
    whole_number,
)
from cli.options.beside import refuse_given
from cli.progress import progress
from metaeval.limits import LEAST_SIMULATED, MOST

UNITS = ("segments", "systems", "judgements")
TELL = ("metrics", "systems")


@folded
def plan(
    context: typer.Context,
    testset: Testset,
    lp: Lp,
    first: Annotated[str, typer.Argument(help="Metric, or system.", autocompletion=complete_metric)],
    second: Annotated[str, typer.Argument(help="Metric, or system.", autocompletion=complete_metric)],
    flags: DataFlags,
    charted: ChartFlags,
    output: Output,
    tell: Annotated[str, choice(TELL, "--tell", help="What is to be told apart: two metrics, or two systems.")] = (
        "metrics"
    ),
    unit: Annotated[
        str,
        choice(UNITS, "--unit", help="What is simulated in other numbers; systems only for two metrics."),
    ] = "segments",
    measure: Annotated[
        str,
        typer.Option("--measure", "-m", help="Measure that compares two metrics.", autocompletion=complete_measure),
    ] = "acc_eq(by=item)",
    power: Annotated[
        float, number("--power", help="Share of simulated data sets in which the difference is significant.")
    ] = 0.8,
    alpha: Annotated[float, number("--alpha", help="Significance level, two-sided.")] = 0.05,
    simulations: Annotated[
        int,
        whole_number(
            "--simulations",
            least=LEAST_SIMULATED,
            most=MOST["simulations"],
            help="Simulated data sets for each size that is tried.",
        ),
    ] = 100,
    draws: Annotated[
        int,
        whole_number(
            "--draws",
            least=LEAST_SIMULATED,
            most=MOST["draws"],
            help="Number of resamples of the test of two metrics on each data set.",
        ),
    ] = 500,
    system_score: SystemScoreOption = None,
    seed: Seed = 0,
    round_human: RoundHuman = None,
) -> None:
    """Plan how many segments, systems or judgements are needed to tell two metrics, or two systems, apart.

    Data sets of other sizes are simulated from what is loaded, and the test that holds its level is run on each.

    Example: scorehouse plan sim24 en-de Oriole Embermatch -m "pearson(by=none)" --simulations 20 --draws 100
    """
    from metaeval.measures import parse_measure
    from metaeval.options import Options
    from metaeval.planning.metrics import plan_metrics
    from metaeval.planning.plans import Asked, reading
    from metaeval.planning.systems import plan_systems
    from warehouse import Warehouse

    if tell == "systems":
        refuse_given(context, ("measure", "draws", "system_score"), "does not go with --tell systems")
    what = Asked(unit, power, alpha, simulations, draws, seed)  # type: ignore[arg-type]
    asked = flags.slice(testset, lp)
    options = Options(system_score, seed, round_human=round_human)  # type: ignore[arg-type]
    with Warehouse.open(output.database) as warehouse, progress(output.quiet) as advance:
        if tell == "systems":
            found = plan_systems(warehouse, asked, (first, second), options, what, advance)
        else:
            parsed = parse_measure(measure)
            found = plan_metrics(warehouse, asked, (first, second), parsed, options, what, advance)
    if charted.chart:
        from cli.charts.plan import plan_chart

        charted.draw(output, lambda: plan_chart(found))
    if output.is_for_reading:
        output.show(reading(found.table.frame), signature=found.table.signature, notes=found.table.notes)
    else:
        output.show_table(found.table)
