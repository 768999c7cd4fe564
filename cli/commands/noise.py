"""`scorehouse noise`."""

from typing import Annotated

import typer

from cli.completion import complete_metric
from cli.exit_codes import UsageError
from cli.options import (
    ChartFlags,
    DataFlags,
    Lp,
    Measures,
    Output,
    RoundHuman,
    Seed,
    Testset,
    choice,
    folded,
    number,
    whole_number,
)
from cli.options.beside import refuse_given
from cli.progress import progress
from metaeval.limits import LEAST, MOST

KINDS = ("independent", "segment", "system", "outliers")


@folded
def noise(
    context: typer.Context,
    testset: Testset,
    lp: Lp,
    flags: DataFlags,
    charted: ChartFlags,
    output: Output,
    metric: Annotated[
        str | None,
        typer.Argument(
            help="Metric that noise goes into.", show_default="the human score itself", autocompletion=complete_metric
        ),
    ] = None,
    measure: Measures = None,
    kind: Annotated[
        list[str] | None,
        choice(
            KINDS,
            "--kind",
            help="Noise on each score, a bias of each segment or of each system, or outliers; repeatable.",
            show_default="all of them",
        ),
    ] = None,
    strength: Annotated[
        list[float] | None,
        number(
            "--strength",
            metavar="SD...",
            help="Standard deviation of the noise, in standard deviations of the metric; repeatable.",
            show_default="0.25, 0.5, 1, 2 and 4",
        ),
    ] = None,
    share: Annotated[
        list[float] | None,
        number(
            "--share",
            metavar="SHARE...",
            help="Share of scores that become outliers, 10 standard deviations from the mean; repeatable.",
            show_default="0.001, 0.005, 0.01, 0.05 and 0.1",
        ),
    ] = None,
    oracles: Annotated[
        bool,
        typer.Option(
            "--oracles",
            help="Instead, metrics made of people's own errors under other weights, and further human scores.",
        ),
    ] = False,
    draws: Annotated[
        int, whole_number("--draws", least=LEAST["draws"], most=MOST["draws"], help="Number of draws of the noise.")
    ] = 20,
    seed: Seed = 0,
    round_human: RoundHuman = None,
) -> None:
    """Disturb a metric, and show what rising noise does to each measure; or how measures order oracles.

    Example: scorehouse noise sim24 en-de Kestrel-24 -m pdp -m "acc_eq(by=item)" --draws 5
    """
    from metaeval.measures import parse_measure
    from metaeval.options import Options
    from metaeval.robustness import noise as injection
    from metaeval.robustness import oracles as made_of_errors
    from warehouse import Warehouse

    if oracles and (metric or kind or strength or share):
        raise UsageError("--oracles are made of human scores: no METRIC, --kind, --strength or --share goes with it")
    if oracles:
        refuse_given(context, ("draws",), "does not go with --oracles, which draw nothing")
    if kind and "outliers" not in kind:
        refuse_given(context, ("share",), "needs --kind outliers")
    if kind and set(kind) == {"outliers"}:
        refuse_given(context, ("strength",), "needs another --kind than outliers")
    measures = [parse_measure(text) for text in measure or injection.DEFAULT_MEASURES]
    asked, options = flags.slice(testset, lp), Options(seed=seed, round_human=round_human)
    with Warehouse.open(output.database) as warehouse, progress(output.quiet) as advance:
        if oracles:
            found, reading = made_of_errors.oracles(warehouse, asked, measures, options), made_of_errors.reading
        else:
            what = injection.Asked(
                tuple(kind or KINDS),  # type: ignore[arg-type]
                tuple(strength or injection.STRENGTHS),
                tuple(share or injection.SHARES),
                draws,
                seed,
            )
            found = injection.noise(warehouse, asked, metric, measures, options, what, advance)
            reading = injection.reading
    if charted.chart:
        from cli.charts.noise import noise_chart, oracles_chart

        charted.draw(output, lambda: (oracles_chart if oracles else noise_chart)(found.frame, found.signature))
    if output.is_for_reading:
        output.show(reading(found.frame), signature=found.signature, notes=found.notes)
    else:
        output.show_table(found)
