"""Trends: the rows that answer the question come first."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cli.options.output import Output
from warehouse.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from metaeval.results.answer import Answer

_FIRST = ("pooled", "kind", "protocol", "set")


def show(answer: "Answer[Any]", output: Output) -> None:
    """The rows; for reading, those that have a slope, on a terminal with the pooled ones first."""
    import polars as pl

    from metaeval.questions.trend import Trend

    asked = answer.question
    assert isinstance(asked, Trend)
    if not output.is_for_reading:
        output.show_answer(answer)
        return
    read = answer.for_reading()
    frame, notes = read.frame, read.notes
    if asked.view == "within" and output.is_for_terminal:
        first = pl.col("what").replace_strict(dict(zip(_FIRST, range(4), strict=True)), default=4)
        place = pl.when(pl.col("kind").is_null()).then(pl.col("name")).otherwise(pl.format("{}: {}", "kind", "name"))
        frame = frame.sort(first, maintain_order=True).with_columns(name=place).drop("kind")
    if asked.view == "over-years":
        frame, more = _with_slope(frame)
        notes = (*more, *notes)
    output.show_answer(replace(answer, reading=frame, reading_notes=notes))


def _with_slope(frame: "pl.DataFrame") -> "tuple[pl.DataFrame, list[str]]":
    """The rows with a slope, tested ones first, and the number of other rows; all rows if none has a slope."""
    import polars as pl

    sloped = frame.filter(pl.col("slope").is_not_null()).sort("p", nulls_last=True, maintain_order=True)
    n_others = frame.height - sloped.height
    if sloped.is_empty() or not n_others:
        return frame, []
    return sloped, [f"{counted(n_others, 'row')} with fewer than 2 years and no slope: --format csv"]
