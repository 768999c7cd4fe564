"""`scorehouse site`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.completion import complete_testset
from cli.exit_codes import UsageError, check_extra
from cli.options.folding import folded
from cli.options.output import Output
from cli.render.output import progress


@folded
def site(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="New or empty folder, or that of an earlier site.")],
    output: Output,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="TESTSET...",
            help="Only these test sets; several by commas, or repeated.",
            show_default="all",
            autocompletion=complete_testset,
        ),
    ] = None,
    with_texts: Annotated[
        bool, typer.Option("--with-texts", help="Include sources, references and outputs; check their licences first.")
    ] = False,
    engine_file: Annotated[
        Path | None,
        typer.Option(
            "--engine",
            metavar="PATH",
            help="duckdb-wasm as npm packs it, or unpacked.",
            show_default="installed with npm into the user's cache",
        ),
    ] = None,
) -> None:
    """Write a site of static pages, with SQL over all scores.

    The pages show rankings, metrics, systems and years, and can be served by any web server. The scores are included as
    a DuckDB file, and duckdb-wasm, which is copied into the folder, runs SQL in the browser. No page contacts another
    host.

    Results are stored, which makes the next site fast.

    Example: scorehouse site --help
    """
    if output.output is not None or output.format is not None:
        raise UsageError("site writes a folder; --output and --format are for tables")
    check_extra("site needs", "site", "altair", "vl_convert", "jinja2")
    from cli.site.folder import check_folder
    from cli.site.writing import write_site
    from metaeval.results.run import Run
    from warehouse import Warehouse
    from warehouse.wording import counted

    check_folder(folder)
    database = output.database
    testsets = [name for text in only or () for one in text.split(",") if (name := one.strip())]
    with progress(output.quiet) as advance:
        run = Run(lambda: Warehouse.open(database), database, advance)
        done = write_site(run, database, folder, testsets, with_texts=with_texts, engine=engine_file)
    if done.n_own:
        output.note(f"{counted(done.n_own, 'metric')} added by users: in the data, but in no ranking")
    if done.why_no_engine:
        output.note(
            f"written without SQL in the browser: {done.why_no_engine}; --engine PATH takes duckdb-wasm from a file"
        )
    output.note(
        f"wrote {done.n_pages} pages, {done.n_bytes / 1e6:.0f} MB, in {done.seconds:.0f} s; look at them with "
        f"`python3 -m http.server -d {folder}`"
    )
