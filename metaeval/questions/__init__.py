"""The questions, one module each; a module is imported when its question is first used."""

import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from metaeval.questions.question import Question

# Names instead of classes, so that a command imports its own question and no other.
QUESTIONS: Mapping[str, tuple[str, str]] = {
    "list": ("listing", "List"),
    "rank": ("rank", "Rank"),
    "compare": ("compare", "Compare"),
    "advise": ("advise", "Advise"),
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
    "cutoff": ("cutoff", "Cutoff"),
    "sample": ("sample", "Sample"),
    "annotators": ("annotators", "Annotators"),
    "judges": ("judges", "Judges"),
    "audit": ("audit", "Audit"),
    "diff": ("diff", "Diff"),
    "paper": ("paper", "Paper"),
}
"""By the name of a question, its module and class."""


RENAMED = {"choose": "sample", "decide": "cutoff"}
"""Questions by their names of the version before, which are still understood and answered with the new one."""


def current_name(name: str) -> str:
    """The current name of a question; a former name is replaced by the new one, with a warning."""
    if name in RENAMED:
        warnings.warn(f"{name} is now called {RENAMED[name]}", FutureWarning, stacklevel=3)
    return RENAMED.get(name, name)


def question_named(name: str) -> type[Question[Any]]:
    """Raises KeyError: there is no such question."""
    module, kind = QUESTIONS[name]
    found: type[Question[Any]] = getattr(import_module(f"metaeval.questions.{module}"), kind)
    return found
