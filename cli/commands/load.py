"""`scorehouse load`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cli.exit_codes import UsageError
from cli.load_report import show_report
from cli.options.data import AllowUnterminated, FilesLp, InclusiveEnds, SkipBroken
from cli.options.folding import folded
from cli.options.output import Output
from cli.options.values import number
from cli.progress import progress

MaxUnpacked = Annotated[
    float | None,
    number(
        float, "--max-unpacked", least=0, help="Gigabytes that one packed file may hold (4, and 200 times its size)."
    ),
]


class Numbering(StrEnum):
    """What the numbers of segments count within."""

    document = "document"
    testset = "testset"


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
        typer.Option("--numbering", help="What segment numbers count within, for files that leave it open."),
    ] = None,
    inclusive_ends: InclusiveEnds = False,
    skip_broken: SkipBroken = False,
    allow_unterminated: AllowUnterminated = False,
    max_unpacked: MaxUnpacked = None,
) -> None:
    """Find, check and load the score files below PATHS; all or nothing for each evaluation set.

    Example: scorehouse load shared-task/sim24
    """
    if not all(paths):
        raise UsageError("an empty PATH: expected files or folders")
    places = [Path(path) for path in paths]
    for path in places:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
    from warehouse import Given
    from warehouse import load as load_files

    given = Given(
        testset=testset,
        lp=lp,
        human=human,
        numbering=None if numbering is None else numbering.value,
        has_inclusive_ends=inclusive_ends,
        may_lack_end=allow_unterminated,
        most_unpacked=None if max_unpacked is None else int(max_unpacked * 1e9),
    )
    with progress(output.quiet) as advance:
        report = load_files(places, output.database, given=given, skip_broken=skip_broken, progress=advance)
    show_report(report, output, output.verbose)
