"""Correlations of metrics: the matrix where it fits a terminal, else who agrees most and least with whom."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output
from cli.render import Format, format_for

if TYPE_CHECKING:
    import polars as pl

    from metaeval.answer import Answer

_COLUMN = 7  # of a number with its gap
_NAMES = 36  # characters for the number and name of a metric


def show(answer: "Answer", output: Output) -> None:
    """The matrix; on a terminal its columns are numbered as its rows are."""
    width = output.width
    is_table = format_for(output.format, output.output) is Format.TABLE
    if width is None or not is_table or answer.frame.columns[0] != "metric":
        output.show_answer(answer)
        return
    names = answer.frame["metric"].to_list()
    if len(names) * _COLUMN + _NAMES <= width:
        numbered = answer.frame.rename({name: f"{number}" for number, name in enumerate(names, start=1)})
        output.show_answer(replace(answer, frame=numbered.with_row_index("#", offset=1)))
        return
    output.show_answer(
        replace(answer, frame=_ends(answer.frame)), below=["the matrix is in --format csv or json, and in --chart FILE"]
    )


def _ends(frame: "pl.DataFrame") -> "pl.DataFrame":
    """For each metric the mean of its correlations with others, and the metrics that agree most and least with it."""
    import polars as pl

    rows: list[tuple[object, ...]] = []
    for row in frame.iter_rows(named=True):
        name = row.pop("metric")
        others = {other: value for other, value in row.items() if other != name and value is not None}
        if not others:
            rows.append((name, None, None, None, None, None))
            continue
        most, least = max(others, key=lambda one: others[one]), min(others, key=lambda one: others[one])
        mean = sum(others.values()) / len(others)
        rows.append((name, mean, most, others[most], least, others[least]))
    schema = {"metric": pl.String, "mean": pl.Float64, "most like": pl.String, "r": pl.Float64}
    schema |= {"least like": pl.String, " r": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("mean", descending=True, nulls_last=True)
