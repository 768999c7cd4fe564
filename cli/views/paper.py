"""An item of a paper."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """An item of a paper."""
    from cli.charts.papers import item_chart

    return item_chart(answer.found[0])
