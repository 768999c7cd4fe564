"""`scorehouse compute`."""

from typing import Annotated, Any

import typer

from cli.completion import completion_of
from cli.exit_codes import UsageError
from cli.options.data import Lp, Testset
from cli.options.folding import folded
from cli.options.output import Output
from cli.render.output import progress

METRICS = ("bleu", "chrf", "chrf++", "ter")


@folded
def compute(
    metrics: Annotated[
        list[str],
        typer.Argument(
            metavar="|".join(METRICS), help="Metrics to compute.", autocompletion=completion_of(None, METRICS)
        ),
    ],
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
    """Score system outputs with sacreBLEU.

    Segment and system scores are stored as your own metric.

    The language pair may be all, or several joined by commas. `rank --user-metrics` includes these metrics. TER takes
    minutes if segments are paragraphs.

    Example: scorehouse compute bleu chrf sim24 en-de --dry-run
    """
    import polars as pl

    from queries.evalsets import language_pairs
    from warehouse import QuestionError, Warehouse
    from warehouse.own.sacrebleu import compute as score

    if tokenize is not None and "bleu" not in metrics:
        raise UsageError("--tokenize needs bleu: other metrics have no tokenizer")
    with Warehouse.open(output.database) as warehouse:
        lps = language_pairs(warehouse, testset, lp)
    rows: list[tuple[object, ...]] = []
    signature: dict[str, None] = {}
    notes: list[str] = []
    failed: list[QuestionError] = []
    with progress(output.quiet) as advance:
        for one in lps:
            try:
                found = score(
                    output.database,
                    testset,
                    one,
                    metrics,
                    references=reference or (),
                    tokenize=tokenize,
                    dry_run=dry_run,
                    progress=advance,
                )
            except QuestionError as error:
                failed.append(error)
                continue
            at = f"{one} " if len(lps) > 1 else ""
            for item in found:
                rows += [
                    (testset, one, item.scorer, system, value, len(item.segments), item.status)
                    for system, value in item.system_scores.items()
                ]
                signature[f"{item.scorer}: {item.signature}"] = None
                notes += [
                    f"{at}{item.scorer}: {system} excluded: {why}"
                    for system, why in item.excluded.items()
                    if why != "the reference itself"
                ]
                notes.append(f"{at}{item.scorer}: {item.status}")
    if len(failed) == len(lps):
        raise failed[0]
    schema: dict[str, Any] = dict.fromkeys(("testset", "lp", "metric", "system"), pl.String)
    schema |= {"score": pl.Float64, "n_segments": pl.Int64, "status": pl.String}
    output.show(
        pl.DataFrame(rows, schema=schema, orient="row"), signature=list(signature), notes=[*notes, *map(str, failed)]
    )
