"""Comparisons: a matrix of p-values, or two metrics by every test."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cli.options.output import Output
from cli.render import DIGITS, Format, format_for

if TYPE_CHECKING:
    import polars as pl

    from metaeval.results.answer import Answer
    from metaeval.studies.significance.comparison import Comparison
    from metaeval.studies.significance.pairwise import PairwiseComparison

MOST_COLUMNS = 12  # metrics whose matrix fits a table for reading


def show(answer: "Answer[Comparison | PairwiseComparison]", output: Output) -> None:
    """The matrix if it fits, else clusters alone."""
    columns = [name for name in ("testset", "lp", "rank", "metric", "value", "cluster") if name in answer.frame.columns]
    is_matrix = "rank" in answer.frame.columns
    chosen = format_for(output.format, output.output)
    if chosen is Format.TABLE and is_matrix and len(answer.frame.columns) - len(columns) > MOST_COLUMNS:
        more = "the matrix of p-values is in --format csv, json or latex, and in --chart FILE"
        answer = replace(answer, reading=answer.frame.select(columns), notes=(*answer.notes, more))
    elif chosen is Format.TABLE and is_matrix:
        output.show_answer(answer, page=_below_each_other(answer, columns, output.width))
        return
    if output.is_for_reading and not is_matrix:
        answer = replace(answer, reading=answer.frame.drop("difference", "low", "high", "sentence"))
        if output.is_for_terminal and chosen is Format.TABLE:
            answer = replace(answer, reading=_tests(answer.frame))
    output.show_answer(answer)


def _below_each_other(answer: "Answer[Any]", columns: Sequence[str], width: int | None) -> str | None:
    """The metrics, and below them the matrix, with ranks for names; None if a terminal has room for both side by side.

    Also None for several evaluation sets, and if ranks are shared.
    """
    from cli.render.table import fitted_text, fitting_names

    frame = answer.frame
    metrics = [name for name in frame.columns if name not in columns]
    is_shared = frame["rank"].n_unique() < frame.height
    if width is None or columns[0] != "rank" or is_shared or {*metrics} <= {*fitting_names(frame, DIGITS, width)}:
        return None
    ranks = {name: str(rank) for name, rank in frame.select("metric", "rank").rows()}
    least = {ranks[name]: values for name, values in answer.least.items() if name in metrics}
    matrix = frame.select("rank", *metrics).rename({name: ranks[name] for name in metrics})
    above = fitted_text(frame.select(columns), DIGITS, width, every_row=True)
    return f"{above}\np-values, by rank\n{fitted_text(matrix, DIGITS, width, least=least, every_row=True)}"


def _tests(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The tests of two metrics: their results, and how far to trust them; the sentences say the rest."""
    places = [name for name in ("testset", "lp") if name in frame.columns]
    metrics = ["better", "other"] if places else []
    rest = [
        "population",
        "alternative",
        "resamples",
        "false_positive_rate",
        "false_positive_rate_exchangeable",
        "system_score",
    ]
    return frame.select(*places, *metrics, "test", "p", *rest)
