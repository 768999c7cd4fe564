"""`scorehouse diff`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.completion import complete_lp, complete_testset
from cli.exit_codes import ExitCode, UsageError
from cli.options import Measures, Output, folded, language_pair, pairs_called
from cli.progress import progress
from warehouse.wording import counted

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 10  # metrics of one ranking in a table


@folded
def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A warehouse file.")],
    output: Output,
    after: Annotated[
        Path | None,
        typer.Argument(metavar="AFTER", help="The warehouse to compare it with.", show_default="that of --db"),
    ] = None,
    testset: Annotated[
        str | None, typer.Option("--testset", help="Only this test set.", autocompletion=complete_testset)
    ] = None,
    lp: Annotated[
        str | None,
        typer.Option("--lp", help="Only this language pair.", autocompletion=complete_lp, callback=pairs_called),
    ] = None,
    measure: Measures = None,
    no_rankings: Annotated[
        bool, typer.Option("--no-rankings", help="Compare what is stored; compute no rankings.")
    ] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with code 0 also where something differs.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="A row for each source, system, scorer and result, and every metric.")
    ] = False,
) -> None:
    """Show what differs between two warehouses: sources, scores, systems, metrics, results, and rankings.

    Names and content are compared, not where files lie or when they were loaded. Exit code 0: nothing differs; 1:
    something does.

    Example: scorehouse diff before.duckdb after.duckdb
    """
    from metaeval.differences import warehouse_differences
    from metaeval.measures import parse_measure
    from metaeval.ranking import DEFAULT_MEASURES
    from warehouse import Warehouse

    if after is not None and output.db is not None:
        raise UsageError("name the second warehouse as an argument or with --db, not both")
    if measure and no_rankings:
        raise UsageError("--measure and --no-rankings exclude each other")
    measures = [] if no_rankings else [parse_measure(text) for text in measure or DEFAULT_MEASURES]
    with (
        Warehouse.open(before) as old,
        Warehouse.open(after or output.database) as new,
        progress(output.quiet) as advance,
    ):
        found = warehouse_differences(old, new, measures, testset=testset, lp=language_pair(lp), progress=advance)
    frame = found.frame(each=verbose)
    notes = list(found.notes)
    if output.is_for_reading and not verbose:
        frame, n_more = _first_metrics(frame)
        notes += (
            [f"{counted(n_more, 'more metric')} whose value or rank differs; --verbose shows all"] if n_more else []
        )
    if found.is_equal:
        notes.append("nothing differs")
    shape = {"before": str(old.path), "after": str(new.path), **found.as_json()}
    output.show(frame, json_shape=shape, signature=found.signature, notes=notes)
    if not found.is_equal and not exit_zero:
        raise typer.Exit(ExitCode.NO)


def _first_metrics(frame: "pl.DataFrame") -> "tuple[pl.DataFrame, int]":
    """The frame with the first metrics of each ranking, and how many more there are."""
    import polars as pl

    place = pl.int_range(pl.len()).over("testset", "lp", "what")
    kept = frame.filter(~pl.col("what").str.starts_with("ranking by ") | (place < _SHOWN))
    return kept, frame.height - kept.height
