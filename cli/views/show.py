"""A segment with the errors marked in its texts."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output

if TYPE_CHECKING:
    from metaeval.results.answer import Answer
    from queries.segment import Segment


def show(answer: "Answer[Segment]", output: Output) -> None:
    """Errors in brackets, or by style on a terminal."""
    import polars as pl

    from cli.render.marks import in_colour, marked_texts, plain, styled

    if not output.is_for_reading:
        output.show_answer(answer)
        return
    pieces = marked_texts(answer.result.texts)
    plain_texts = [plain(one) if one else None for one in pieces]
    frame = answer.frame.drop("errors").with_columns(pl.Series("text", plain_texts, dtype=pl.String))
    dressed = None
    if answer.notes and output.is_for_terminal:
        dressed = {"text": [styled(in_colour(one)) for one in pieces]}
    output.show_answer(replace(answer, reading=frame), dressed=dressed)
