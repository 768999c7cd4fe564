"""`scorehouse unload`."""

from typing import Annotated

import typer

from cli.completion import complete_lp, complete_testset
from cli.options import Output, folded, language_pair, pairs_called


@folded
def unload(
    testset: Annotated[
        str,
        typer.Argument(
            metavar="PATH|SOURCE|TESTSET",
            help="A file or folder that was loaded, a source as `list sources` names it, or a test set.",
            autocompletion=complete_testset,
        ),
    ],
    output: Output,
    lp: Annotated[
        str | None,
        typer.Argument(
            metavar="LP", help="Only this language pair.", autocompletion=complete_lp, callback=pairs_called
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
) -> None:
    """Remove what a file, a folder or a whole test set brought in; all of it, or nothing.

    Scores, judgements and texts go with their files; an evaluation set goes once no file of it is left. Loading the
    same files again brings the same back. Systems and segments that stay keep the names and lines that the removed
    files gave them; no score depends on them. For a metric of your own there is `scorehouse remove`.

    Example: scorehouse unload sim24 en-de --dry-run
    """
    import polars as pl

    from warehouse import unload as unload_sources

    unloaded = unload_sources(output.database, testset, language_pair(lp), dry_run=dry_run)
    schema = {
        "testset": pl.String,
        "lp": pl.String,
        "files": pl.Int64,
        "scores": pl.Int64,
        "judgements": pl.Int64,
        "texts": pl.Int64,
        "is_gone": pl.Boolean,
    }
    rows = [
        (one.testset, one.lp, one.n_files, one.n_scores, one.n_judgements, one.n_texts, one.is_gone) for one in unloaded
    ]
    output.show(pl.DataFrame(rows, schema=schema, orient="row"))
    done = "nothing was changed: a dry run" if dry_run else f"taken out of {output.database}"
    output.note(done)
