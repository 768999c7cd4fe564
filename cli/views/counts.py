"""Kinds of pairs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """Kinds of pairs."""
    from cli.charts.pairs import pair_kinds
    from metaeval.tables.counts import totals

    return pair_kinds(totals(answer.frame), answer.question.by, answer.signature)
