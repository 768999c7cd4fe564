"""`scorehouse protocols`."""

from typing import Annotated

import typer

from cli.completion import complete_measure
from cli.exit_codes import UsageError
from cli.options import ComputeFlags, Fresh, Output, Testsets, folded
from cli.options.beside import refuse_given
from cli.progress import progress


@folded
def protocols(
    context: typer.Context,
    compute: ComputeFlags,
    output: Output,
    testsets: Testsets = "all",
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Every protocol on every test set that has its inputs: who wins.")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Instead, the rank correlation of every two protocols.")
    ] = False,
    thresholds: Annotated[
        bool,
        typer.Option(
            "--thresholds", help="Instead, tie thresholds over the years, and what one from an earlier year loses."
        ),
    ] = False,
    measure: Annotated[
        str,
        typer.Option(
            "--measure", "-m", help="With --thresholds: the calibrated measure.", autocompletion=complete_measure
        ),
    ] = "acc_eq(by=item)",
    fresh: Fresh = False,
) -> None:
    """Apply old rules to new data: every protocol on every test set, how far their rankings agree, and tie thresholds.

    Example: scorehouse protocols sim24 --matrix
    """
    from metaeval.measures import parse_measure
    from warehouse import Warehouse

    if [matrix, agreement, thresholds].count(True) != 1:
        raise UsageError(
            "name one of --matrix, --agreement and --thresholds; `scorehouse list protocols` lists the rules"
        )
    if not thresholds:
        refuse_given(context, ("measure",), "needs --thresholds")
    else:
        refuse_given(context, ("fresh",), "does not go with --thresholds, which are not stored")
        refuse_given(context, ("seed",), "does not go with --thresholds, which are not drawn")
    options = compute.options()
    if thresholds:
        from metaeval.tables.carried import carried_thresholds

        output.show_table(
            carried_thresholds(lambda: Warehouse.open(output.database), testsets, parse_measure(measure), options)
        )
        return
    from metaeval.protocols import matrix as rules

    with progress(output.quiet) as advance:
        found = rules.matrix(
            lambda: Warehouse.open(output.database),
            testsets,
            options,
            database=output.database,
            fresh=fresh,
            progress=advance,
        )
    if agreement:
        frame, what = rules.agreement_frame(found), "agreement"
    else:
        frame, what = rules.winners_frame(found), "matrix"
        if output.is_for_reading:
            frame = rules.wide_winners(found)
    if frame.is_empty() or not any(cell.score for cell in found.cells):
        raise UsageError(
            "no protocol has its inputs: " + "; ".join(rules.matrix_table(found, frame, what, options).notes)
        )
    table = rules.matrix_table(found, frame, what, options)
    output.show_table(table)
    if what == "matrix" and output.is_for_reading:
        output.note(
            "cells: the winner, of how many metrics with every task, and Kendall's tau of the ranking with that by the "
            "rules of the test set's own year"
        )
