"""Counts of pairs: on a terminal one row per metric, with all groups together."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output

if TYPE_CHECKING:
    from metaeval.results.answer import Answer


def show(answer: "Answer[None]", output: Output) -> None:
    """The rows; rows of single groups are only in files, or on a terminal with --all."""
    if not output.is_for_terminal or not output.is_for_reading or output.every_row:
        output.show_answer(answer)
        return
    from metaeval.studies.tables.counts import together

    frame = together(answer.frame)
    if frame.height == answer.frame.height:
        output.show_answer(answer)
        return
    more = "all groups together; --all and --format csv have each"
    output.show_answer(replace(answer, reading=frame), digits=3, below=[more])
