"""`scorehouse counts`."""

from typing import Annotated

from cli.options import ChartFlags, EngineFlags, Lp, Output, RoundHuman, SliceFlags, Testset, choice, folded, number
from cli.progress import progress

GROUPS = ("none", "item", "system")


@folded
def counts(
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    engines: EngineFlags,
    charted: ChartFlags,
    output: Output,
    by: Annotated[str, choice(GROUPS, "--by", help="Grouping: none, by segment (item) or by system.")] = "item",
    epsilon: Annotated[float, number("--epsilon", least=0, help="Tie threshold ε on the metric.")] = 0.0,
    round_human: RoundHuman = None,
) -> None:
    """Count concordant, discordant and tied pairs for each metric and group.

    Example: scorehouse counts sim24 en-de --by system
    """
    from metaeval.tables.counts import pair_counts, totals

    with engines.data(output.database) as data, progress(output.quiet) as advance:
        found = pair_counts(
            data,
            flags.slice(testset, lp),
            by,  # type: ignore[arg-type]
            epsilon,
            round_human,
            engine=engines.engine,  # type: ignore[arg-type]
            progress=advance,
        )
    if charted.chart:
        from cli.charts.pairs import pair_kinds

        charted.draw(output, lambda: pair_kinds(totals(found.frame), by, found.signature))
    output.show_table(found)
