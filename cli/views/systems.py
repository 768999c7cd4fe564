"""A matrix of systems."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """A matrix of systems."""
    from cli.charts.significance import systems_matrix

    return systems_matrix(answer.found, answer.question.alpha)
