"""Correlations of metrics: the matrix if it fits the terminal, else which metrics agree most and least."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output
from cli.render import Format, format_for

if TYPE_CHECKING:
    from metaeval.results.answer import Answer, Result

_COLUMN = 7  # of a number with its gap
_NAMES = 36  # characters for the number and name of a metric


def show(answer: "Answer[Result]", output: Output) -> None:
    """The matrix; on a terminal its columns are numbered as its rows are."""
    width = output.width
    is_table = format_for(output.format, output.output) is Format.TABLE
    is_matrix = answer.frame.columns[0] in ("metric", "human") and "metric" not in answer.facts
    if width is None or not is_table or not is_matrix:
        output.show_answer(answer)
        return
    names = answer.frame[:, 0].to_list()
    if len(names) * _COLUMN + _NAMES <= width:
        numbered = answer.frame.rename({name: f"{number}" for number, name in enumerate(names, start=1)})
        output.show_answer(replace(answer, reading=numbered.with_row_index("#", offset=1)))
        return
    from metaeval.studies.tables.agreement import extremes

    more = "the matrix is in --format csv or json, and in --chart FILE"
    output.show_answer(replace(answer, reading=extremes(answer.frame)), below=[more])
