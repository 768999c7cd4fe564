"""`scorehouse show`."""

from typing import Annotated

import typer

from cli.completion import complete_human, complete_metric, complete_system
from cli.options import ChartFlags, Lp, Number, Output, Testset, folded


@folded
def show(
    testset: Testset,
    lp: Lp,
    segment: Annotated[
        int, typer.Argument(parser=Number("segment", is_whole=True, least=1), help="Segment number, from 1.")
    ],
    charted: ChartFlags,
    output: Output,
    human: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...",
            help="Human scores to show (shell pattern, repeatable).",
            show_default="the official one",
            autocompletion=complete_human,
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...",
            help="Metrics to show (shell pattern, repeatable).",
            show_default="none",
            autocompletion=complete_metric,
        ),
    ] = None,
    systems: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...",
            help="Only outputs of these systems (shell pattern, repeatable).",
            autocompletion=complete_system,
        ),
    ] = None,
) -> None:
    """Show one segment: source, references and every system's output, best first, with scores and marked errors.

    Errors that people marked are in brackets with their severity; the source has those of all outputs that lie in it.

    Example: scorehouse show sim24 en-de 12 --metrics "Kestrel*" --systems "[A-D]*"
    """
    import polars as pl

    from cli.render.marks import marked, plain, styled
    from queries.segment import read_segment
    from warehouse import Warehouse

    with Warehouse.open(output.database) as warehouse:
        found = read_segment(
            warehouse, testset, lp, segment, humans=human or (), metrics=metrics or (), systems=systems or ()
        )
    if charted.chart:
        from cli.charts.small_multiples import segment_scores

        charted.draw(output, lambda: segment_scores(found))
    notes = [f"errors are those marked for {found.errors_of}"] if found.errors_of is not None else []
    frame = found.frame()
    if not output.is_for_reading:
        output.show(frame, title=found.place, notes=notes, json_shape=found.as_json())
        return
    every = [error for text in found.texts for error in text.errors]
    pieces = [
        marked(text.text or "", every, in_source=True)
        if text.kind == "source"
        else marked(text.text or "", text.errors)
        for text in found.texts
    ]
    texts = [plain(one) if one else None for one in pieces]
    shown = frame.drop("errors").with_columns(pl.Series("text", texts, dtype=pl.String))
    dressed = {"text": [styled(one) for one in pieces]} if notes and output.is_for_terminal else None
    output.show(shown, title=found.place, notes=notes, dressed=dressed)
