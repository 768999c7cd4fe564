"""Comparisons: a matrix of p-values, or two metrics by every test."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output
from cli.render import Format, format_for

if TYPE_CHECKING:
    from metaeval.answer import Answer

MOST_COLUMNS = 12  # metrics whose matrix fits a table for reading


def show(answer: "Answer", output: Output) -> None:
    """The matrix where it fits, else clusters alone."""
    columns = [name for name in ("testset", "lp", "rank", "metric", "value", "cluster") if name in answer.frame.columns]
    is_matrix = "rank" in answer.frame.columns
    chosen = format_for(output.format, output.output)
    if chosen is Format.TABLE and is_matrix and len(answer.frame.columns) - len(columns) > MOST_COLUMNS:
        more = "the matrix of p-values is in --format csv, json or latex, and in --chart FILE"
        answer = replace(answer, frame=answer.frame.select(columns), notes=(*answer.notes, more))
    output.show_answer(answer)
