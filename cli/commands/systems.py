"""`scorehouse systems`."""

from typing import Annotated

import typer

from cli.completion import complete_metric
from cli.options import (
    Alpha,
    ChartFlags,
    Draws,
    Lp,
    Output,
    RoundHuman,
    Seed,
    SliceFlags,
    Testset,
    choice,
    compute_options,
    folded,
)
from cli.options.beside import OF_METRICS, refuse_given
from cli.options.tests import UNITS

TESTS = ("permutation", "bootstrap", "wilcoxon", "paired-t")
MEANS = ("mean", "judged-mean")


@folded
def systems(
    context: typer.Context,
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    charted: ChartFlags,
    output: Output,
    scorer: Annotated[
        str | None,
        typer.Option(
            "--scorer",
            help="Metric to score systems with.",
            show_default="the human score",
            autocompletion=complete_metric,
        ),
    ] = None,
    test: Annotated[str, choice(TESTS, "--test", help="Significance test, one-sided.")] = "permutation",
    draws: Draws = 1000,
    alpha: Alpha = 0.05,
    system_score: Annotated[
        str | None,
        choice(
            MEANS,
            "--system-score",
            help="A metric's mean over all segments that it scored, or over annotated segments.",
            show_default="mean",
        ),
    ] = None,
    unit: Annotated[
        str, choice(UNITS, "--unit", help="What is resampled and compared: segments, or whole documents.")
    ] = "segment",
    ranges: Annotated[
        bool, typer.Option("--ranges", help="Add rank ranges: over resamples, or what wilcoxon or paired-t leave open.")
    ] = False,
    seed: Seed = 0,
    round_human: RoundHuman = None,
) -> None:
    """Compare every pair of systems by one scorer: p-values and clusters of systems.

    Example: scorehouse systems sim24 en-de --test wilcoxon
    """
    from metaeval.significance.systems import compare_systems, systems_frame, systems_json
    from warehouse import Warehouse

    if test in ("wilcoxon", "paired-t"):
        refuse_given(context, ("draws", "seed"), f"does not go with --test {test}, which draws nothing")
    if scorer is None:
        refuse_given(context, ("system_score",), "needs --scorer: it is about a metric's scores")
    if not flags.intersection:
        refuse_given(context, OF_METRICS, "needs --intersection, whose metrics it selects; --scorer takes any metric")
    options = compute_options(system_score, seed, round_human=round_human)
    with Warehouse.open(output.database) as warehouse:
        asked = flags.slice(testset, lp)
        found = compare_systems(
            warehouse,
            asked,
            scorer,
            test,  # type: ignore[arg-type]
            options,
            draws=draws,
            alpha=alpha,
            whole_documents=unit == "document",
            ranges=ranges,
        )
    notes = [found.summary, *found.notes]
    if charted.chart:
        from cli.charts.significance import systems_matrix

        charted.draw(output, lambda: systems_matrix(found, alpha))
    output.show(
        systems_frame(found),
        signature=[found.signature],
        notes=notes,
        json_shape=systems_json(found),
        digits=3,
        least=dict.fromkeys(found.systems, [found.least] * len(found.systems)),
    )
