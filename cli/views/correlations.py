"""A matrix of metrics."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """A matrix of metrics."""
    from cli.charts.correlations import correlation_matrix
    from metaeval.tables.agreement import clustered

    found = answer.found
    return correlation_matrix(found.frame, clustered(found), answer.question.measure, found.signature)
