"""`scorehouse paper`."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.completion import complete_human, complete_lp, complete_metric, complete_testset
from cli.exit_codes import ExitCode, UsageError
from cli.options import ChartFlags, Fresh, Output, Seed, folded, language_pair, pairs_called, whole_number
from cli.options.beside import refuse_given
from cli.progress import progress
from metaeval.limits import LEAST, MOST

if TYPE_CHECKING:
    from metaeval.papers.items import Item, Paper
    from metaeval.papers.running import Outcome

ALL = "all"


@folded
def paper(
    context: typer.Context,
    charted: ChartFlags,
    output: Output,
    name: Annotated[
        str | None, typer.Argument(help="A paper, or all of them: all.", show_default="the list of papers")
    ] = None,
    item: Annotated[
        str | None, typer.Argument(help="A table or figure, such as table-1.", show_default="the list of its items")
    ] = None,
    testset: Annotated[
        str | None,
        typer.Option(
            "--testset",
            help="Test sets, joined by commas.",
            show_default="the paper's",
            autocompletion=complete_testset,
        ),
    ] = None,
    lp: Annotated[
        str | None,
        typer.Option(
            "--lp",
            help="Language pairs, joined by commas.",
            show_default="the paper's",
            autocompletion=complete_lp,
            callback=pairs_called,
        ),
    ] = None,
    human: Annotated[
        str | None, typer.Option(help="Human score.", show_default="the paper's", autocompletion=complete_human)
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...",
            help="Metrics of a figure that shows one or two (repeatable).",
            show_default="the paper's",
            autocompletion=complete_metric,
        ),
    ] = None,
    draws: Annotated[
        int | None,
        whole_number(
            "--draws", least=LEAST["draws"], most=MOST["draws"], help="Number of resamples.", show_default="the paper's"
        ),
    ] = None,
    seed: Seed = 0,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="End with code 1 if a printed value whose inputs are loaded is neither met nor explained."
        ),
    ] = False,
    fresh: Fresh = False,
) -> None:
    """Recompute the tables and figures of papers, and lay each value beside the printed one.

    Without a name: the papers; with one: its tables and figures, and what of them can be computed here. Any item runs
    on other test sets, language pairs and human scores, too.

    Example: scorehouse paper deutsch-2023 figure-2 --check
    """
    from metaeval.papers import PAPERS, item_named, paper_named
    from metaeval.papers.items import Request
    from metaeval.papers.running import loaded, run
    from metaeval.papers.tables import items_table, papers_table, results_table
    from warehouse import Warehouse

    def opened() -> Warehouse:
        return Warehouse.open(output.database)

    if name is None or (name != ALL and item is None and not check):
        _refuse_options(item, testset, lp, human, metrics, charted.chart)
        refuse_given(context, ("check", "draws", "seed", "fresh"), "needs a paper, or all, to recompute")
        output.show_table(papers_table(opened) if name is None else items_table(opened, paper_named(name)))
        return
    wanted = _wanted(list(PAPERS.values()) if name == ALL else [paper_named(name)], item, item_named)
    if len(wanted) > 1:
        _refuse_options(None, testset, lp, human, metrics, charted.chart)
    if charted.chart is not None:
        from cli.charts.papers import check_item, item_chart

        check_item(wanted[0][1])
    outcomes = []
    with progress(output.quiet) as advance:
        request = Request(opened, seed, draws, tuple(metrics or ()), advance)
        states = loaded(request) if len(wanted) > 1 else None
        for place, (one, part) in enumerate(wanted):
            advance(f"{one.name} {part.name}", place, len(wanted))
            outcomes.append(
                run(
                    request,
                    one,
                    part,
                    testset,
                    language_pairs(lp),
                    human,
                    database=output.database,
                    fresh=fresh,
                    states=states,
                )
            )
    charted.draw(output, lambda: item_chart(outcomes[0]))
    output.show_table(
        results_table(outcomes, summary=len(wanted) > 1 and output.is_for_reading, for_reading=output.is_for_reading)
    )
    if check and (places := _places_that_differ(outcomes)):
        more = f" and {len(places) - 3} more" if len(places) > 3 else ""
        output.note(f"neither met nor explained: {'; '.join(places[:3])}{more}")
        raise typer.Exit(ExitCode.NO)


def language_pairs(text: str | None) -> str | None:
    """What `--lp` says, each language pair as they are written; "all" stays.

    Raises UsageError: one is none.
    """
    if text is None or text == ALL:
        return text
    return ",".join(str(language_pair(one)) for one in text.split(","))


def _wanted(found: "list[Paper]", item: str | None, item_named: object) -> "list[tuple[Paper, Item]]":
    if item is None:
        return [(one, part) for one in found for part in one.items]
    if len(found) > 1:
        raise UsageError("an item is one of a paper; name the paper in place of all")
    return [(found[0], item_named(found[0], item))]  # type: ignore[operator]


def _refuse_options(item: str | None, *given: object) -> None:
    if item is None and any(one is not None and one != [] for one in given):
        raise UsageError("--testset, --lp, --human, --metrics and --chart go with one item of a paper")


def _places_that_differ(outcomes: "list[Outcome]") -> list[str]:
    return [
        f"{one.paper.name} {one.item.name} ({row.cell.row}, {row.cell.column})"
        for one in outcomes
        for row in one.rows
        if row.verdict == "differs"
    ]
