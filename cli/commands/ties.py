"""`scorehouse ties`."""

from cli.options import Lp, Output, RoundHuman, SliceFlags, Testset, folded


@folded
def ties(testset: Testset, lp: Lp, flags: SliceFlags, output: Output, round_human: RoundHuman = None) -> None:
    """Count tied pairs of the human score and of every metric, and pairs tied at a human score of 0.

    Example: scorehouse ties sim24 en-de --primary
    """
    from metaeval.tables.ties import ties as count_ties
    from warehouse import Warehouse

    with Warehouse.open(output.database) as warehouse:
        found = count_ties(warehouse, flags.slice(testset, lp), round_human)
    output.show_table(found)
