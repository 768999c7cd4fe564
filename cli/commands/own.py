"""`scorehouse add` and `scorehouse remove`: the user's own metric."""

from pathlib import Path
from typing import Annotated

import typer

from cli.commands.load import language_pair, show_report
from cli.completion import complete_lp, complete_metric, complete_testset
from cli.exit_codes import UsageError
from cli.options import Output, folded
from cli.progress import progress
from cli.render import note


@folded
def add(
    paths: Annotated[list[str], typer.Argument(metavar="PATHS...", help="Files with scores, or folders of them.")],
    output: Output,
    metric: Annotated[str, typer.Option("--metric", help="The metric's name.")],
    reference: Annotated[
        str | None, typer.Option("--reference", "--ref", help="The reference that it compared with.")
    ] = None,
    reference_free: Annotated[bool, typer.Option("--reference-free", help="It saw no reference.")] = False,
    testset: Annotated[
        str | None,
        typer.Option("--testset", help="Test set of files that do not tell theirs.", autocompletion=complete_testset),
    ] = None,
    lp: Annotated[
        str | None,
        typer.Option("--lp", help="Language pair of files that do not tell theirs.", autocompletion=complete_lp),
    ] = None,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="It counts errors: scores are stored negated.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Name every skipped file and every fault.")] = False,
) -> None:
    """Bring in scores of your own metric, checked against the segments and systems that there are.

    Taken are .seg.score and .sys.score files as the organisers write them, and tables with named columns. --own puts
    the metric into rankings; the same command again replaces its scores; `scorehouse remove` takes it away.

    Example: scorehouse add own/en-de.MyMetric.seg.score --metric MyMetric --ref refA --testset sim24
    """
    if (reference is None) != reference_free:
        raise UsageError("name the reference with --ref, or say --reference-free; one of the two")
    places = [Path(path) for path in paths]
    for text, path in zip(paths, places, strict=True):
        if not text or not path.exists():
            raise UsageError(f"{path if text else 'an empty PATH'}: no such file or folder")
    from warehouse.own import add as add_metric

    with progress(output.is_quiet) as advance:
        report = add_metric(
            places,
            output.database,
            metric,
            reference=reference,
            testset=testset,
            lp=language_pair(lp),
            is_error_measure=lower_is_better,
            progress=advance,
        )
    show_report(report, output, verbose)


@folded
def remove(
    metric: Annotated[
        str,
        typer.Argument(help="Name of your metric, or of one variant (MyMetric-refA).", autocompletion=complete_metric),
    ],
    output: Output,
    testset: Annotated[
        str | None, typer.Option("--testset", help="Only in this test set.", autocompletion=complete_testset)
    ] = None,
    lp: Annotated[
        str | None, typer.Option("--lp", help="Only in this language pair.", autocompletion=complete_lp)
    ] = None,
) -> None:
    """Take your own metric away again, everywhere or in one test set or language pair.

    Example: scorehouse remove MyMetric
    """
    import polars as pl

    from warehouse.own import remove as remove_metric

    removed = remove_metric(output.database, metric, testset=testset, lp=language_pair(lp))
    rows = [(item.testset, item.lp, item.metric, item.n_scores) for item in removed]
    schema = {"testset": pl.String, "lp": pl.String, "metric": pl.String, "scores": pl.Int64}
    output.show(pl.DataFrame(rows, schema=schema, orient="row"))
    if not removed:
        note(f"nothing removed: {metric} has no scores there", quiet=output.is_quiet)
