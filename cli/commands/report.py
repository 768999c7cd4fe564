"""`scorehouse report`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.completion import complete_lp, complete_testset
from cli.exit_codes import UsageError, check_extra
from cli.options.data import Draws, Fresh, Measures, Seed, language_pair, pairs_called
from cli.options.folding import as_stored
from cli.options.output import Db, Output, Quiet
from cli.options.values import choice, number
from cli.render.output import check_target, is_file, progress, write

SECTIONS = (
    *("overview", "rankings", "significance", "correlations", "calibration", "deltas", "trends", "protocols"),
    *("hard-pairs", "spans", "audit", "methods"),
)
_FILE = Path("report.html")


def report(
    context: typer.Context,
    testset: Annotated[
        list[str] | None,
        typer.Argument(help="Test sets, and language pairs.", show_default="all", autocompletion=complete_testset),
    ] = None,
    lp: Annotated[
        list[str] | None,
        typer.Option(
            "--lp",
            metavar="TEXT...",
            help="Only this language pair (repeatable).",
            autocompletion=complete_lp,
            callback=pairs_called,
        ),
    ] = None,
    section: Annotated[
        list[str] | None, choice(SECTIONS, "--section", help="Only this section (repeatable).", show_default="all")
    ] = None,
    measure: Measures = None,
    details: Annotated[
        int,
        number(
            int, "--details", least=0, help="Number of evaluation sets with charts; of the others there is a table."
        ),
    ] = 6,
    static: Annotated[
        bool, typer.Option("--static", help="A page without JavaScript: charts drawn, tables as they are.")
    ] = False,
    draws: Draws = 1000,
    seed: Seed = 0,
    fresh: Fresh = False,
    db: Db = None,
    file: Annotated[Path | None, typer.Option("--output", "-o", help="The page.", show_default="report.html")] = None,
    quiet: Quiet = False,
    safe_cells: Annotated[
        bool,
        typer.Option(
            "--safe-cells",
            help="In the CSV that tables and charts offer, put ' before texts that spreadsheets take for formulas.",
        ),
    ] = False,
) -> None:
    """Write everything about test sets on one page.

    The page has rankings, matrices, curves and findings, and needs no network.

    Results are stored, so that the next report is quick.

    Example: scorehouse report sim24 --lp ja-en --section rankings --section audit -o report.html --draws 20
    """
    check_extra("the report needs", "report", "altair", "jinja2", "vl_convert")
    before = context.find_root().obj
    if before["format"]:
        raise UsageError("--format is for tables; the report is a page")
    output = Output(db or before["db"], quiet=quiet or before["quiet"])
    target = file or before["output"] or _FILE
    check_target(target)
    stored = as_stored({"testset": testset, "lp": lp}, {"testset": "testset", "lp": "lp"}, output.database)
    from cli.report.desk import Settings, desk
    from cli.report.making import made
    from cli.report.page import MOST_BYTES, page
    from cli.report.sections import SECTIONS as KNOWN
    from metaeval.question import apart
    from warehouse.names import is_language_pair
    from warehouse.wording import counted

    names = [one for part in stored.get("testset", testset) or [] for one in part.split(",")]
    pairs = [one for part in stored.get("lp", lp) or [] for one in part.split(",")]
    pairs += [one for one in names if is_language_pair(one)]
    settings = Settings(
        ",".join(one for one in names if not is_language_pair(one)) or "all",
        ",".join(str(language_pair(one)) for one in pairs) or "all",
        tuple(dict.fromkeys(part for one in measure or [] for part in apart(one))),
        draws,
        seed,
        details,
        fresh,
    )
    wanted = [one for name, one in KNOWN.items() if name in (section or SECTIONS)]
    with progress(output.quiet) as advance:
        laid = desk(output.database, settings, advance)
        laid.testing.check()
        sections, notes = made(laid, wanted)
        what = "all test sets" if settings.testsets == "all" else settings.testsets.replace(",", ", ")
        safe_cells = safe_cells or before["safe_cells"]
        text = page(sections, f"Meta-evaluation of metrics: {what}", static=static, safe_cells=safe_cells)
    write(text, target)
    for note in notes:
        output.note(note)
    n_bytes = len(text.encode("utf-8", "backslashreplace"))
    if is_file(target):
        output.note(f"wrote {counted(len(sections), 'section')} to {target}, {n_bytes / 1e6:.1f} MB")
    if n_bytes > MOST_BYTES:
        output.note(
            f"the page is larger than {MOST_BYTES / 1e6:.0f} MB; fewer --details, test sets or sections make it smaller"
        )
