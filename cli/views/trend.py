"""Trends: on a terminal the pooled slope comes first."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cli.options.output import Output

if TYPE_CHECKING:
    from metaeval.answer import Answer

_FIRST = ("pooled", "kind", "protocol", "set")


def show(answer: "Answer[Any]", output: Output) -> None:
    """The rows, with what answers the question in front where it goes to a terminal."""
    import polars as pl

    from metaeval.questions.trend import Trend

    asked = answer.question
    assert isinstance(asked, Trend)
    if asked.view == "within" and output.is_for_terminal and output.is_for_reading:
        first = pl.col("what").replace_strict(dict(zip(_FIRST, range(4), strict=True)), default=4)
        frame = answer.frame if answer.reading is None else answer.reading
        answer = replace(answer, reading=frame.sort(first, maintain_order=True))
    output.show_answer(answer)
