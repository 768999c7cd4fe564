"""Values over thresholds, or tied pairs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """Values over thresholds, or tied pairs."""
    from cli.charts.pairs import tied_pairs
    from cli.charts.thresholds import calibration_curves

    if answer.question.ties:
        return tied_pairs(answer.frame, answer.signature)
    values, optima = answer.found
    return calibration_curves(values.frame, optima.frame, optima.signature)
