"""Measures over noise, or oracles."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """Measures over noise, or oracles."""
    from cli.charts.noise import noise_chart, oracles_chart

    return (oracles_chart if answer.question.oracles else noise_chart)(answer.frame, answer.signature)
