"""Systems by AutoRank."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """Systems by AutoRank."""
    from cli.charts.autorank import autorank_chart

    return autorank_chart(answer.found)
