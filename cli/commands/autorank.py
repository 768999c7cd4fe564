"""`scorehouse autorank`."""

from typing import Annotated

from cli.options import ChartFlags, Lps, Output, SliceFlags, Testset, folded, number


@folded
def autorank(
    testset: Testset,
    flags: SliceFlags,
    charted: ChartFlags,
    output: Output,
    lps: Lps = "all",
    low: Annotated[float, number("--low", least=0, help="Lower percentile of the scale of each metric.")] = 25.0,
    high: Annotated[float, number("--high", least=0, help="Upper percentile of the scale of each metric.")] = 100.0,
) -> None:
    """Rank systems by several metrics, without human scores.

    Example: scorehouse autorank sim24 en-de --metrics "Kestrel*"
    """
    from metaeval.tables.autorank import autorank as ranked
    from warehouse import Warehouse

    with Warehouse.open(output.database) as warehouse:
        found = ranked(warehouse, flags.slice(testset, lps), low=low, high=high)
    if charted.chart:
        from cli.charts.autorank import autorank_chart

        charted.draw(output, lambda: autorank_chart(found))
    output.show_table(found.table, json_shape=found.as_json())
