"""`scorehouse choose`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.completion import complete_metric
from cli.exit_codes import UsageError
from cli.options import Lps, Output, Seed, SliceFlags, Testsets, choice, folded, number, whole_number
from cli.options.beside import refuse_given
from cli.options.tests import UNITS
from cli.progress import progress
from cli.render import render

METHODS = ("metric_var", "metric_avg", "metric_cons", "diversity", "random")
SIMILARITIES = ("unigram", "chrf", "bleu")
AMONG = ("annotated", "all")
MOST_BUDGET = 10_000_000


@folded
def choose(
    context: typer.Context,
    testsets: Testsets,
    flags: SliceFlags,
    output: Output,
    lps: Lps = "all",
    method: Annotated[
        str | None,
        choice(METHODS, "--method", help="How segments are chosen.", show_default="metric_var; --evaluate: each"),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            help="Metric to choose by, or the human score.",
            show_default="the mean over all",
            autocompletion=complete_metric,
        ),
    ] = None,
    similarity: Annotated[
        str, choice(SIMILARITIES, "--similarity", help="Similarity of outputs, for diversity.")
    ] = "unigram",
    size: Annotated[
        int | None, whole_number("--size", least=1, most=MOST_BUDGET, help="Budget in segments.", show_default="all")
    ] = None,
    words: Annotated[
        int | None, whole_number("--words", least=1, most=MOST_BUDGET, help="Budget in words of the source.")
    ] = None,
    minutes: Annotated[
        int | None,
        whole_number("--minutes", least=1, most=MOST_BUDGET, help="Budget in minutes for the outputs of all systems."),
    ] = None,
    words_per_minute: Annotated[
        float | None, number("--words-per-minute", help="Words of the source that an annotator judges in a minute.")
    ] = None,
    unit: Annotated[str, choice(UNITS, "--unit", help="What is chosen: segments, or whole documents.")] = "segment",
    balance: Annotated[bool, typer.Option("--balance", help="Give each domain its share of the budget.")] = False,
    among: Annotated[
        str | None,
        choice(
            AMONG,
            "--among",
            help="Candidates: segments annotated for all systems, or all.",
            show_default="annotated where there are any",
        ),
    ] = None,
    texts: Annotated[
        Path | None, typer.Option("--texts", help="Also write source and outputs of what is chosen to this file.")
    ] = None,
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Show what such parts of past campaigns say, against random ones.")
    ] = False,
    each: Annotated[
        bool, typer.Option("--each", help="Show each evaluation set instead of the mean over several.")
    ] = False,
    clip: Annotated[
        float | None, number("--clip", help="Human scores below count as this, on a scale to 100 (MQM: -25).")
    ] = None,
    draws: Annotated[int, whole_number("--draws", least=2, most=10_000, help="Random parts to compare with.")] = 100,
    seed: Seed = 0,
) -> None:
    """Choose segments to annotate, from what metrics or outputs say, within a budget.

    Utility is metric_var: variance over systems, metric_avg: low means, metric_cons: agreement with the whole ranking,
    diversity: dissimilar outputs. Gains over random segments are small: look at --evaluate.

    Example: scorehouse choose sim24 en-de --method metric_var --size 20
    """
    from metaeval.choosing.choice import Asked
    from metaeval.choosing.choice import choose as chosen
    from metaeval.choosing.replay import replay
    from warehouse import Warehouse

    budgets: dict[str, float | None] = {"segments": size, "words": words, "minutes": minutes}
    given = [name for name, value in budgets.items() if value is not None]
    if len(given) > 1:
        raise UsageError("--size, --words and --minutes exclude each other")
    budget = given[0] if given else "segments"
    what: Any = {"method": method or "metric_var", "metric": metric, "size": budgets[budget], "budget": budget}
    what |= {"unit": unit, "balanced": balance, "similarity": similarity, "among": among, "seed": seed}
    how = Asked(**what, words_per_minute=words_per_minute)
    asked = flags.slice(testsets, lps)
    if not evaluate:
        refuse_given(context, ("each", "clip", "draws"), "needs --evaluate")
        with Warehouse.open(output.database) as warehouse, progress(output.quiet) as advance:
            found = chosen(warehouse, asked, how, with_texts=texts is not None, progress=advance)
        if texts is not None:
            render(found.texts, None, out=texts, quiet=output.quiet)
        output.show_table(found.table)
        return
    refuse_given(context, ("texts", "among"), "does not go with --evaluate")
    methods: Any = None if method is None else (method,)
    with Warehouse.open(output.database) as warehouse, progress(output.quiet) as advance:
        replayed = replay(warehouse, asked, how, methods, clip=clip, draws=draws, progress=advance)
    pooled = not each and replayed.n_sets > 1
    table = replayed.table(pooled=pooled)
    table = replace(table, frame=replayed.reading(pooled=pooled)) if output.is_for_reading else table
    output.show_table(table, json_shape=replayed.json)
