"""A panel a task."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """A panel a task."""
    from cli.charts.small_multiples import task_panels

    return task_panels(answer.found)
