"""`scorehouse annotators`."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from cli.completion import complete_human, complete_lp, complete_testset
from cli.options import Draws, Output, Seed, choice, folded, pairs_called
from cli.options.beside import refuse_given
from cli.options.tests import UNITS

VIEWS = ("sets", "annotators", "pairs")
HALVES = ("annotators", "judgements")


@folded
def annotators(
    context: typer.Context,
    output: Output,
    testset: Annotated[
        str, typer.Argument(help="Test set, several joined by commas, or all.", autocompletion=complete_testset)
    ] = "all",
    lp: Annotated[
        str,
        typer.Argument(
            help="Language pair, several joined by commas, or all.", autocompletion=complete_lp, callback=pairs_called
        ),
    ] = "all",
    human: Annotated[
        str | None,
        typer.Option(help="Human score.", show_default="all with judgements on file", autocompletion=complete_human),
    ] = None,
    view: Annotated[
        str | None,
        choice(
            VIEWS,
            "--view",
            help="A row a human score, an annotator, or a pair of annotators with outputs in common.",
            show_default="annotators where one human score has judgements, else sets",
        ),
    ] = None,
    halves: Annotated[
        str | None,
        choice(
            HALVES,
            "--halves",
            help="What is split at random for reliability.",
            show_default="annotators where at least 4 are known",
        ),
    ] = None,
    unit: Annotated[str, choice(UNITS, "--unit", help="What is resampled for the interval of alpha.")] = "segment",
    draws: Draws = 1000,
    seed: Seed = 0,
) -> None:
    """Show how much annotators judged and how, whether they drift, how well they agree, and how reliable scores are.

    Agreement is Krippendorff's alpha; reliability is that of split halves, as it is and by Spearman-Brown. Judgements
    that count are valid ones of systems, human translations included.

    Example: scorehouse annotators sim24 en-de
    """
    from metaeval.people.annotator_tables import reading
    from metaeval.people.annotators import annotators as find
    from metaeval.people.judgements import Settings
    from warehouse import Warehouse

    if view == "pairs":
        unused = ("draws", "seed", "halves", "unit")
        refuse_given(context, unused, "does not go with --view pairs, which has no interval")
    chosen: Any = view
    settings: Any = {"halves": halves, "unit": unit, "draws": draws, "seed": seed}
    with Warehouse.open(output.database) as warehouse:
        found = find(warehouse, testset, lp, human, chosen, Settings(**settings))
    if output.is_for_reading:
        digits = dict.fromkeys(found.frame.columns, 3) | {"n_systems": 1, "n_halved": 1}
        output.show_table(replace(found, frame=reading(found.frame)), digits=digits)
        return
    output.show_table(found)
