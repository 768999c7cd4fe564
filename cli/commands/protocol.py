"""`scorehouse protocol`."""

from typing import Annotated

import typer

from cli.completion import complete_lp, complete_protocol, complete_testset
from cli.exit_codes import UsageError
from cli.options import ChartFlags, ComputeFlags, Fresh, Human, Output, Reference, TestFlags, folded, pairs_called
from cli.options.beside import OF_TESTS, refuse_given
from cli.progress import progress


@folded
def protocol(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="Whose rules to apply: wmt23, wmt24, wmt25, or an earlier year such as wmt14.",
            autocompletion=complete_protocol,
        ),
    ],
    compute: ComputeFlags,
    tests: TestFlags,
    charted: ChartFlags,
    output: Output,
    on: Annotated[
        str | None,
        typer.Option(
            "--on", help="Test set to score.", show_default="the protocol's own", autocompletion=complete_testset
        ),
    ] = None,
    lp: Annotated[
        list[str] | None,
        typer.Option(
            "--lp",
            metavar="TEXT...",
            help="Only this language pair (repeatable).",
            show_default="official ones",
            autocompletion=complete_lp,
            callback=pairs_called,
        ),
    ] = None,
    human: Human = None,
    reference: Reference = None,
    all_metrics: Annotated[bool, typer.Option("--all-metrics", help="Include contrastive metrics.")] = False,
    significance: Annotated[
        bool,
        typer.Option(
            "--significance", help="Add p-values and significance clusters for every task and the overall score."
        ),
    ] = False,
    versus: Annotated[
        str | None,
        typer.Option(
            "--versus",
            help="Instead, show the rank correlation with this protocol's ranking.",
            autocompletion=complete_protocol,
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="List excluded metrics.")] = False,
    fresh: Fresh = False,
) -> None:
    """Score metrics by a shared task's own rules: every task, the overall score, ranks and clusters.

    Example: scorehouse protocol wmt24 --on sim24 --lp en-de
    """
    from metaeval.protocols import protocol_named
    from metaeval.protocols.cached import scored
    from metaeval.protocols.tables import as_json, lines_on, rank_correlation, score_frame

    if tests.test is not None or tests.correction != "none" or tests.early_stop:
        raise UsageError("a protocol brings its own tests: --test, --correction and --early-stop do not go with it")
    if not significance:
        refuse_given(context, (*OF_TESTS, "draws"), "needs --significance")
    if versus is not None:
        refuse_given(context, ("significance",), "does not go with --versus, which tests nothing")
    if versus is not None and charted.chart is not None:
        raise UsageError("--chart draws a protocol's tasks; --versus has one number")
    chosen = protocol_named(name)
    testset = on or name
    options, testing = compute.options(), tests.options()
    lps = [one for part in lp or [] for one in part.split(",")] or None
    with tests.cluster(testing) as testing, progress(output.quiet) as advance:
        found, notes = scored(
            output.database,
            chosen,
            testset,
            lps,
            human,
            reference,
            all_metrics,
            significance and versus is None,
            options,
            testing,
            fresh=fresh,
            progress=advance,
        )
        if versus is not None:
            other, more = scored(
                output.database,
                protocol_named(versus),
                testset,
                lps,
                human,
                reference,
                all_metrics,
                False,
                options,
                testing,
            )
            notes = [*notes, *more]
    if versus is None:
        if charted.chart:
            from cli.charts.small_multiples import task_panels

            charted.draw(output, lambda: task_panels(found))
        output.show(
            score_frame(found),
            signature=[found.signature],
            notes=[*found.notes, *lines_on(found, verbose), *notes],
            json_shape=as_json(found),
        )
        return
    import polars as pl

    kendall, spearman, n = rank_correlation(found, other)
    frame = pl.DataFrame(
        {
            "protocol": [found.protocol],
            "versus": [other.protocol],
            "testset": [testset],
            "n_metrics": [n],
            "kendall": [kendall],
            "spearman": [spearman],
        }
    ).fill_nan(None)
    output.show(frame, signature=[found.signature, other.signature], notes=[*found.notes, *other.notes, *notes])
