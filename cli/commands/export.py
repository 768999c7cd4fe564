"""`scorehouse export`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.exit_codes import UsageError
from cli.options.data import OnlyLp, OnlyTestset
from cli.options.folding import as_stored
from cli.options.output import Db, Output, Quiet
from cli.options.values import choice
from cli.render.output import progress
from warehouse.wording import are, counted, first_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.export import ExportedEvalset

LAYOUTS = ("parquet", "csv", "mtme", "subset2evaluate", "texts", "spans")


def export(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write to.")],
    testset: OnlyTestset = None,
    lp: OnlyLp = None,
    form: Annotated[
        str,
        choice(
            LAYOUTS,
            "--format",
            help="parquet: for other engines and for loading again, partitioned by test set and language pair; csv; "
            "mtme: the organisers' layout; subset2evaluate: items for that tool; texts: source, references and "
            "outputs, one segment per line, for running a metric; spans: error spans in the format of WMT25's task 2.",
        ),
    ] = "parquet",
    db: Db = None,
    quiet: Quiet = False,
) -> None:
    """Write scores or texts to files for other programs.

    Example: scorehouse export scores sim24 --format parquet
    """
    import polars as pl

    from warehouse.export import export as write

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: a file, expected a folder")
    output = Output.of(context, db=db, quiet=quiet)
    names = {"testset": testset, "lp": lp}
    names |= as_stored(names, {"testset": "testset", "lp": "lp"}, output.database)
    with progress(output.quiet) as advance:
        done = write(output.database, folder, form, names["testset"], names["lp"], progress=advance)
    columns = {"testset": pl.String, "lp": pl.String, "files": pl.Int64, "rows": pl.Int64, "bytes": pl.Int64}
    rows = [(item.testset, item.lp, item.n_files, item.n_rows, item.n_bytes) for item in done]
    n_files, n_rows = (sum(getattr(item, name) for item in done) for name in ("n_files", "n_rows"))
    said = (
        f"{counted(len(done), 'evaluation set')} {are(len(done))} exported: {counted(n_files, 'file')} with "
        f"{counted(n_rows, 'row')}."
    )
    output.show(
        pl.DataFrame(rows, columns, orient="row"), summary=said, notes=[*_notes(done), f"wrote {form} to {folder}"]
    )


def _notes(done: "Sequence[ExportedEvalset]") -> list[str]:
    """Notes on what the format could not hold; a note on many evaluation sets becomes one line that counts them."""
    places: dict[str, list[str]] = {}
    for item in done:
        for note in item.notes:
            places.setdefault(note, []).append(f"{item.testset} {item.lp}")
    lines = []
    for note, where in places.items():
        which = where[0] if len(where) == 1 else f"{counted(len(where), 'evaluation set')} ({first_names(where)})"
        lines.append(f"{which}: {note}")
    return lines
