"""`scorehouse add` and `scorehouse remove`: the user's own metric."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.completion import complete_metric, complete_testset
from cli.exit_codes import UsageError
from cli.load_report import show_report
from cli.options.data import AllowUnterminated, FilesLp, FirstSegment, InclusiveEnds, OnlyLp, language_pair
from cli.options.folding import folded
from cli.options.output import Output
from cli.render.output import progress
from warehouse.wording import are, counted, without_lp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.loading.unloading import RemovedEvalset


@folded
def add(
    paths: Annotated[list[str], typer.Argument(metavar="PATHS", help="Score files, or folders of them.")],
    output: Output,
    metric: Annotated[str, typer.Option("--metric", help="The metric's name.")],
    system: Annotated[
        str | None, typer.Option("--system", help="System that all scores belong to, if the files do not name one.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", "--ref", help="Reference that the metric used.")
    ] = None,
    reference_free: Annotated[bool, typer.Option("--reference-free", help="The metric is reference-free.")] = False,
    testset: Annotated[
        str | None,
        typer.Option("--testset", help="Test set of files that do not name one.", autocompletion=complete_testset),
    ] = None,
    lp: FilesLp = None,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Lower is better: scores are stored negated.")
    ] = False,
    first_segment: FirstSegment = 1,
    inclusive_ends: InclusiveEnds = False,
    allow_unterminated: AllowUnterminated = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check the files; store nothing.")] = False,
) -> None:
    """Add the scores of your own metric.

    Scores are checked against the loaded segments and systems.

    Accepted are .seg.score and .sys.score files as the organisers write them, tables with named columns, the output of
    COMET and MetricX, and lists of scores, one per line in segment order. `rank --user-metrics` includes the metric.
    Adding it again replaces its scores; `scorehouse remove` removes it.

    Example: scorehouse add own/en-de.MyMetric.seg.score --metric MyMetric --ref refA --testset sim24
    """
    if (reference is None) != reference_free:
        raise UsageError("give either --ref NAME or --reference-free")
    places = [Path(path) for path in paths]
    for text, path in zip(paths, places, strict=True):
        if not text or not path.exists():
            raise UsageError(f"{path if text else 'an empty PATH'}: no such file or folder")
    from warehouse.own.scores import add as add_metric
    from warehouse.own.scores import trial

    with (
        trial(output.database) if dry_run else nullcontext(output.database) as database,
        progress(output.quiet) as advance,
    ):
        report = add_metric(
            places,
            database,
            metric,
            system=system,
            reference=reference,
            testset=testset,
            lp=lp,
            is_error_measure=lower_is_better,
            first_segment=first_segment,
            has_inclusive_ends=inclusive_ends,
            may_lack_end=allow_unterminated,
            progress=advance,
        )
    show_report(report, output, output.verbose, is_trial=dry_run)


@folded
def remove(
    what: Annotated[
        str,
        typer.Argument(
            metavar="METRIC|PATH|SOURCE|TESTSET",
            help="Your own metric, or one variant of it (MyMetric-refA); a loaded file or folder; "
            "a source as named by `list sources`; or a test set.",
            autocompletion=complete_metric,
        ),
    ],
    output: Output,
    lp: OnlyLp = None,
    testset: Annotated[
        str | None, typer.Option("--testset", help="Only in this test set.", autocompletion=complete_testset)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
) -> None:
    """Remove your own metric, a file, a folder or a test set.

    All of its data is removed, or none.

    Removing a file removes its scores, judgements and texts; an evaluation set is removed with its last file. Loading
    the same files again restores everything. Systems and segments that remain may keep names and lines from the removed
    files; no score depends on them.

    Example: scorehouse remove sim24 en-de --dry-run
    """
    import polars as pl

    from warehouse import unload

    unloaded = unload(output.database, what, language_pair(lp), testset=testset, dry_run=dry_run)
    schema: dict[str, Any] = dict.fromkeys(("testset", "lp"), pl.String)
    schema |= dict.fromkeys(("files", "scores", "judgements", "texts"), pl.Int64)
    schema |= {"is_gone": pl.Boolean}
    rows = [
        (one.testset, one.lp, one.n_files, one.n_scores, one.n_judgements, one.n_texts, one.is_gone) for one in unloaded
    ]
    done = "nothing was changed: a dry run" if dry_run else f"removed from {output.database}"
    said = _sentence(unloaded, is_trial=dry_run)
    output.show(pl.DataFrame(rows, schema=schema, orient="row"), summary=said, notes=[done])


def _sentence(removed: "Sequence[RemovedEvalset]", *, is_trial: bool) -> str:
    """What was removed, and from how many files and evaluation sets."""
    from metaeval.results.sentences import named

    nouns = {"n_scores": "score", "n_judgements": "judgement", "n_texts": "text"}
    totals = {noun: sum(getattr(one, name) for one in removed) for name, noun in nouns.items()}
    parts = [counted(n, noun) for noun, n in totals.items() if n] or ["0 scores"]
    place = f"{removed[0].testset} {removed[0].lp}" if len(removed) == 1 else counted(len(removed), "evaluation set")
    verb = "would be" if is_trial else "are" if len(parts) > 1 else are(max(totals.values()))
    n_files = counted(sum(one.n_files for one in removed), "file")
    return without_lp(f"{named(parts)} from {n_files} of {place} {verb} removed.")
