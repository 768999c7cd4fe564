"""`scorehouse ties`."""

from cli.options import ChartFlags, Lp, Output, RoundHuman, SliceFlags, Testset, folded


@folded
def ties(
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    charted: ChartFlags,
    output: Output,
    round_human: RoundHuman = None,
) -> None:
    """Count tied pairs of the human score and of every metric, and pairs tied at a human score of 0.

    Example: scorehouse ties sim24 en-de --primary
    """
    from metaeval.tables.ties import ties as count_ties
    from warehouse import Warehouse

    with Warehouse.open(output.database) as warehouse:
        found = count_ties(warehouse, flags.slice(testset, lp), round_human)
    if charted.chart:
        from cli.charts.pairs import tied_pairs

        charted.draw(output, lambda: tied_pairs(found.frame, found.signature))
    output.show_table(found)
