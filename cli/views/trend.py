"""Trends: on a terminal the latest years, and the pooled slope, come first."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output

if TYPE_CHECKING:
    from metaeval.answer import Answer

_FIRST = ("pooled", "kind", "protocol", "set")


def show(answer: "Answer", output: Output) -> None:
    """The rows, with what answers the question in front where it goes to a terminal."""
    import polars as pl

    if output.is_for_terminal and output.is_for_reading:
        view, frame = answer.question.view, answer.frame if answer.reading is None else answer.reading
        if view == "within":
            first = pl.col("what").replace_strict(dict(zip(_FIRST, range(4), strict=True)), default=4)
            answer = replace(answer, reading=frame.sort(first, maintain_order=True))
        elif view == "years" and frame.columns[0] == "group":
            answer = replace(answer, reading=frame.select("group", *reversed(frame.columns[1:])))
    output.show_answer(answer)
