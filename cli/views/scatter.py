"""Three views of a metric against humans."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """Three views of a metric against humans."""
    from cli.charts.scatter import scatter_panels

    return scatter_panels(answer.found)
