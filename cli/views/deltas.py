"""Agreement over differences, or hard pairs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """Agreement over differences, or hard pairs."""
    from cli.charts.deltas import deltas_chart
    from cli.charts.hard_pairs import hard_pairs_chart

    asked = answer.question
    return hard_pairs_chart(answer.found, asked.at_most) if asked.hard else deltas_chart(answer.found)
