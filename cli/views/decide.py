"""Decisions over thresholds."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """Decisions over thresholds."""
    from cli.charts.decide import decision_chart

    drawn, name = answer.found
    return decision_chart(answer.question.view, drawn, name)
