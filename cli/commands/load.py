"""`scorehouse load`."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from cli.exit_codes import UsageError
from cli.load_report import show_report
from cli.options.data import AllowUnterminated, FilesLp, FirstSegment, InclusiveEnds, SkipBroken
from cli.options.folding import folded
from cli.options.output import Output
from cli.options.values import choice
from cli.render.output import progress
from warehouse.names import Numbering


@folded
def load(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATHS", help="Score files in any known format, or folders that contain them."),
    ],
    output: Output,
    testset: Annotated[str | None, typer.Option("--testset", help="Test set of files that do not name one.")] = None,
    lp: FilesLp = None,
    human: Annotated[str | None, typer.Option("--human", help="Human score of files that do not name one.")] = None,
    numbering: Annotated[
        Numbering | None,
        choice(
            get_args(Numbering),
            "--numbering",
            help="Whether files that do not say so number segments within a document or within the test set.",
        ),
    ] = None,
    first_segment: FirstSegment = 1,
    inclusive_ends: InclusiveEnds = False,
    skip_broken: SkipBroken = False,
    allow_unterminated: AllowUnterminated = False,
) -> None:
    """Check and load score files.

    Finds and checks all score files below PATHS. Each evaluation set is loaded whole or not at all.

    Example: scorehouse load shared-task/sim24
    """
    if not all(paths):
        raise UsageError("an empty PATH: expected files or folders")
    places = [Path(path) for path in paths]
    for path in places:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
    from warehouse import LoadHints
    from warehouse import load as load_files

    given = LoadHints(
        testset=testset,
        lp=lp,
        human=human,
        numbering=numbering,
        first_segment=first_segment,
        has_inclusive_ends=inclusive_ends,
        may_lack_end=allow_unterminated,
    )
    with progress(output.quiet) as advance:
        report = load_files(places, output.database, given=given, skip_broken=skip_broken, progress=advance)
    show_report(report, output, output.verbose)
