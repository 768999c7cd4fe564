"""A protocol's tasks as small multiples, beside the overall score."""

from typing import TYPE_CHECKING

from cli.charts.small_multiples import dot_panels
from cli.charts.specification import Rows, Spec

if TYPE_CHECKING:
    from metaeval.protocols.scoring import ProtocolScore


def task_panels(found: "ProtocolScore") -> Spec:
    """One panel for the overall score and one a task, metrics in the order of the overall score."""
    from metaeval.protocols.tables import task_name

    titles = ["overall", *(f"{number}. {task_name(task)}" for number, task in enumerate(found.tasks, start=1))]
    columns = [(found.overall, found.clusters), *((task.values, task.clusters) for task in found.tasks)]
    rows: Rows = [
        {
            "panel": title,
            "name": name,
            "value": None if values[place] != values[place] else float(values[place]),
            "cluster": int(clusters[place]) or None,
        }
        for title, (values, clusters) in zip(titles, columns, strict=True)
        for place, name in enumerate(found.metrics)
    ]
    lines = ["metrics by the overall score; a metric without a point has no value in the task"]
    if found.clusters.any():
        lines.append("circled: in the first significance cluster")
    return dot_panels(
        rows,
        found.metrics,
        titles,
        title=f"{found.testset} by the rules of {found.protocol}: {len(found.tasks)} tasks",
        signature=found.signature.splitlines(),
        lines=lines,
    )
