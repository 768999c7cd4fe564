"""The questions, one module each; each is imported when it is first asked."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from metaeval.question import Question

QUESTIONS: Mapping[str, tuple[str, str]] = {
    "list": ("listing", "List"),
    "rank": ("rank", "Rank"),
    "compare": ("compare", "Compare"),
    "protocol": ("protocol", "Protocol"),
    "systems": ("systems", "Systems"),
    "autorank": ("autorank", "AutoRank"),
    "correlations": ("correlations", "Correlations"),
    "trend": ("trend", "Trend"),
    "show": ("show", "Show"),
    "segments": ("segments", "Segments"),
    "spans": ("spans", "SpansOf"),
    "scatter": ("scatter", "Scatter"),
    "counts": ("counts", "Counts"),
    "thresholds": ("thresholds", "Thresholds"),
    "means": ("means", "Means"),
    "deltas": ("deltas", "Deltas"),
    "noise": ("noise", "Noise"),
    "plan": ("plan", "Plan"),
    "decide": ("decide", "Decide"),
    "choose": ("choose", "Choose"),
    "annotators": ("annotators", "Annotators"),
    "audit": ("audit", "Audit"),
    "diff": ("diff", "Diff"),
    "paper": ("paper", "Paper"),
}
"""By the name of a question, its module and class."""


def question_named(name: str) -> type[Question[Any]]:
    """Raises KeyError: there is no such question."""
    module, kind = QUESTIONS[name]
    found: type[Question[Any]] = getattr(import_module(f"metaeval.questions.{module}"), kind)
    return found
