"""Scores by a protocol: on a terminal the tasks that fit are numbered columns, with a legend below."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output
from cli.render import Format, format_for

if TYPE_CHECKING:
    import polars as pl

    from metaeval.results.answer import Answer
    from metaeval.studies.protocols.scoring import ProtocolScore

_DIGITS = 3


def show(answer: "Answer[ProtocolScore | None]", output: Output) -> None:
    """The rows; on a terminal values of tasks with their clusters raised."""
    from metaeval.studies.protocols.scoring import ProtocolScore
    from metaeval.studies.protocols.tables import task_name

    is_table = format_for(output.format, output.output) is Format.TABLE
    if not isinstance(answer.result, ProtocolScore) or not output.is_for_terminal or not is_table:
        output.show_answer(answer)
        return
    from cli.render.table import fitting_names

    frame = _numbered(answer.result)
    shown = set(fitting_names(frame, _DIGITS, output.width or 0))
    tasks = {f"[{number}]": task_name(task) for number, task in enumerate(answer.result.tasks, start=1)}
    legend = "; ".join(f"{number} {name}" for number, name in tasks.items() if number in shown)
    output.show_answer(replace(answer, reading=frame), below=[legend])


def _numbered(score: "ProtocolScore") -> "pl.DataFrame":
    """One row per metric: rank, metric, overall, and the tasks by their numbers."""
    import polars as pl

    from cli.render.wide import raised

    columns: dict[str, object] = {
        "rank": [int(rank) or None for rank in score.ranks],
        "metric": list(score.metrics),
        "overall": raised(score.overall, score.clusters, _DIGITS),
    }
    for number, task in enumerate(score.tasks, start=1):
        columns[f"[{number}]"] = raised(task.values, task.clusters, _DIGITS)
    return pl.DataFrame(columns)
