"""A measure over the years."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval.answer import Answer


def chart(answer: "Answer") -> Any:
    """A measure over the years."""
    from dataclasses import replace

    from cli.charts.history import history_chart
    from metaeval.trends.gaps import pooled_by_year
    from metaeval.trends.views import show

    history, asked, shown = answer.found.history, answer.found.asked, answer.found.shown
    years = shown if asked.view == "years" else show(history, replace(asked, view="years"))
    by_year = pooled_by_year(years.rows, history.measure, asked.pool or "random-effects")
    return history_chart(years.rows, by_year, history.anchor, years.reading.signature)
