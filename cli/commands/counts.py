"""`scorehouse counts`."""

from typing import Annotated

import typer

from cli.options import Lp, Output, RoundHuman, SliceFlags, Testset, choice, folded

GROUPS = ("none", "item", "system")


@folded
def counts(
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    output: Output,
    by: Annotated[str, choice(GROUPS, "--by", help="Grouping: none, by segment (item) or by system.")] = "item",
    epsilon: Annotated[float, typer.Option(min=0.0, help="Tie threshold ε on the metric.")] = 0.0,
    round_human: RoundHuman = None,
) -> None:
    """Count concordant, discordant and tied pairs for each metric and group.

    Example: scorehouse counts sim24 en-de --by system
    """
    from metaeval.tables.counts import pair_counts
    from warehouse import Warehouse

    with Warehouse.open(output.database) as warehouse:
        found = pair_counts(warehouse, flags.slice(testset, lp), by, epsilon, round_human)  # type: ignore[arg-type]
    output.show_table(found)
