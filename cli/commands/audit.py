"""`scorehouse audit`."""

from typing import Annotated

import typer

from cli.exit_codes import ExitCode
from cli.options import Output, choice, folded
from cli.options.slice import OnlyLp, OnlyTestset

LEVELS = ("error", "warning", "info")


@folded
def audit(
    output: Output,
    testset: OnlyTestset = None,
    lp: OnlyLp = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 1 if there is an error or a warning (notes don't count).")
    ] = False,
    severity: Annotated[str, choice(LEVELS, "--severity", help="Show findings of at least this severity.")] = "info",
    check: Annotated[
        list[str] | None, typer.Option("--check", metavar="TEXT...", help="Only this check; repeatable.")
    ] = None,
    queries: Annotated[
        bool, typer.Option("--queries", help="Show each finding's SQL in tables too; other formats always have it.")
    ] = False,
) -> None:
    """Look for errors and oddities in the data: duplicates, shifted files, wrong signs, gaps, noise, known issues.

    Example: scorehouse audit sim24 en-de
    """
    from queries.audit import audit as find
    from queries.findings import SEVERITIES, at_least, findings_frame
    from warehouse import Warehouse
    from warehouse.wording import counted

    with Warehouse.open(output.database) as warehouse:
        found = find(warehouse, testset, lp, check or ())
    frame = findings_frame(at_least(severity, found))  # type: ignore[arg-type]
    counts = {name: sum(item.severity == name for item in found) for name in SEVERITIES}
    notes = [", ".join(counted(n, "note" if name == "info" else name) for name, n in counts.items())]
    if output.is_for_reading and not queries:
        frame = frame.drop("query")
        notes.append("--queries, or --format json, gives the SQL that shows each finding")
    output.show(frame, notes=notes)
    if strict and (counts["error"] or counts["warning"]):
        raise typer.Exit(ExitCode.NO)
