"""`scorehouse compute`."""

from typing import Annotated

import typer

from cli.options import Lp, Output, Testset, choice_argument, folded
from cli.options.beside import refuse_given
from cli.progress import progress

METRICS = ("bleu", "chrf", "ter")


@folded
def compute(
    context: typer.Context,
    metrics: Annotated[list[str], choice_argument(METRICS, "METRICS", help="Some of these.")],
    testset: Testset,
    lp: Lp,
    output: Output,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference",
            "--ref",
            metavar="TEXT...",
            help="Reference to use; repeatable.",
            show_default="the official one",
        ),
    ] = None,
    tokenize: Annotated[
        str | None, typer.Option(help="BLEU's tokenizer.", show_default="sacreBLEU's for the language")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the scores, store nothing.")] = False,
) -> None:
    """Score system outputs with sacreBLEU, segments and systems, and store the scores as your own metric.

    It is ranked with --own, as other metrics that users added. TER takes minutes where segments are paragraphs.

    Example: scorehouse compute bleu chrf sim24 en-de --dry-run
    """
    import polars as pl

    from warehouse.own.sacrebleu import compute as score

    if "bleu" not in metrics:
        refuse_given(context, ("tokenize",), "needs bleu: other metrics have no tokenizer")
    with progress(output.quiet) as advance:
        found = score(
            output.database,
            testset,
            lp,
            metrics,
            references=reference or (),
            tokenize=tokenize,
            dry_run=dry_run,
            progress=advance,
        )
    rows = [
        (testset, lp, item.metric, system, value, item.n_segments, item.status)
        for item in found
        for system, value in item.systems.items()
    ]
    schema = {
        "testset": pl.String,
        "lp": pl.String,
        "metric": pl.String,
        "system": pl.String,
        "score": pl.Float64,
        "n_segments": pl.Int64,
        "status": pl.String,
    }
    notes = [
        f"{item.metric}: {system} excluded: {why}"
        for item in found
        for system, why in item.excluded.items()
        if why != "the reference itself"
    ]
    notes += [f"{item.metric}: {item.status}" for item in found]
    output.show(
        pl.DataFrame(rows, schema=schema, orient="row"),
        signature=[f"{item.metric}: {item.signature}" for item in found],
        notes=notes,
    )
