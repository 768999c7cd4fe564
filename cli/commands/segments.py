"""`scorehouse segments`."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from cli.completion import complete_metric
from cli.options import Lp, Output, RoundHuman, SliceFlags, Testset, choice, folded, whole_number
from cli.render import DIGITS

BYS = ("segment", "system", "document", "domain", "length")
SCALES = ("scores", "ranks")


@folded
def segments(
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    output: Output,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...",
            help="Metric to compare with people; two to compare with each other.",
            show_default="the mean of all included ones",
            autocompletion=complete_metric,
        ),
    ] = None,
    by: Annotated[
        str | None,
        choice(BYS, "--by", help="List groups of outputs instead; length: quarters by characters of the source."),
    ] = None,
    scale: Annotated[
        str, choice(SCALES, "--scale", help="What is standardised: scores, or their ranks among the outputs.")
    ] = "scores",
    n: Annotated[int, whole_number("-n", least=1, help="Number of rows.")] = 20,
    round_human: RoundHuman = None,
) -> None:
    """List the outputs on which a metric and people, or two metrics, disagree most, with texts and marked errors.

    The residual is the difference of both standardised scores, in standard deviations of that difference.

    Example: scorehouse segments sim24 en-de --metric simBLEU -n 3
    """
    from cli.render.outputs import for_reading, groups_for_reading, outputs_page
    from metaeval.tables.disagreements import disagreements
    from warehouse import Warehouse

    how: Any = {"by": by, "scale": scale, "n": n, "round_human": round_human}
    with Warehouse.open(output.database) as warehouse:
        found = disagreements(warehouse, flags.slice(testset, lp), metric or (), **how)
    table = found.table
    if not output.is_for_reading:
        output.show_table(table)
        return
    if by is not None:
        output.show_table(replace(table, frame=groups_for_reading(table.frame)))
        return
    page = outputs_page(table.frame, found.outputs, DIGITS, is_terminal=output.is_for_terminal)
    output.show_table(replace(table, frame=for_reading(table.frame, found.outputs)), page=page)
