"""Listings: on a terminal the most wanted columns; the others are in files."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output

if TYPE_CHECKING:
    from metaeval.results.answer import Answer

_SHOWN = {
    "lps": ("testset", "lp", "standard_reference", "standard_human_seg", "n_systems", "n_metrics"),
    "metrics": ("testset", "lp", "metric", "family", "status", "levels"),
    "systems": ("testset", "lp", "system", "kind", "is_outlier", "n_metrics"),
    "sources": ("testset", "lp", "n_rows", "status", "licence", "path"),
}
_HEADINGS = {"standard_reference": "reference", "standard_human_seg": "human", "is_outlier": "outlier"}


def show(answer: "Answer[None]", output: Output) -> None:
    """Six columns on a terminal."""
    from metaeval.questions.listing import List
    from queries.listing import official_human

    asked = answer.question
    assert isinstance(asked, List)
    if output.is_for_terminal and output.is_for_reading and asked.what in _SHOWN:
        frame = answer.frame.with_columns(official_human("seg")) if asked.what == "lps" else answer.frame
        frame = frame.select(*_SHOWN[asked.what])
        answer = replace(answer, reading=frame.rename({k: v for k, v in _HEADINGS.items() if k in frame.columns}))
    output.show_answer(answer)
