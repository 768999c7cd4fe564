"""Power over sizes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """Power over sizes."""
    from cli.charts.plan import plan_chart

    return plan_chart(answer.found)
