"""`scorehouse list`."""

from typing import Annotated

import typer

from cli.completion import complete_lp, complete_testset
from cli.exit_codes import UsageError
from cli.options import Output, choice_argument, folded, pairs_called

LISTINGS = (
    *("testsets", "lps", "metrics", "humans", "systems", "sources", "results", "issues"),
    *("measures", "protocols"),
)


@folded
def list_(
    what: Annotated[str, choice_argument(LISTINGS, "WHAT", help="What to list.")],
    output: Output,
    testset: Annotated[
        str | None, typer.Argument(help="Only this test set.", show_default="all", autocompletion=complete_testset)
    ] = None,
    lp: Annotated[
        str | None,
        typer.Argument(
            help="Only this language pair.", show_default="all", autocompletion=complete_lp, callback=pairs_called
        ),
    ] = None,
) -> None:
    """List what is in the warehouse, or the available measures.

    Example: scorehouse list metrics sim24 en-de
    """
    if what in ("measures", "protocols"):
        if testset is not None:
            raise UsageError(f"{what} are the same for all test sets: `scorehouse list {what}`")
        from metaeval.catalogue import measures, protocol_table

        output.show(measures() if what == "measures" else protocol_table())
        return
    from queries.listing import listing
    from warehouse import Warehouse

    if what == "testsets" and lp is not None:
        raise UsageError("testsets are listed without a language pair; `scorehouse list lps TESTSET` has those")
    with Warehouse.open(output.database) as warehouse:
        output.show(listing(warehouse, what, testset, lp))
