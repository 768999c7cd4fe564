"""Meta-evaluation: the statistics that say which metric to trust.

Each question of the command line is a function that takes an open warehouse, a test set and a language pair, and
returns a `Table`; `metaeval.kernels` holds the same statistics on plain arrays.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaeval import kernels
    from metaeval.measures import Measure, parse_measure
    from metaeval.questions.analyses import deltas, diff, hard_pairs, noise, oracles, paper, plan, trend
    from metaeval.questions.people import annotators
    from metaeval.questions.rankings import compare, protocol, rank, systems
    from metaeval.questions.tables import (
        audit,
        autorank,
        correlations,
        counts,
        means,
        scatter,
        segments,
        thresholds,
        ties,
    )
    from metaeval.table import Table

__all__ = [
    "Measure",
    "Table",
    "annotators",
    "audit",
    "autorank",
    "compare",
    "correlations",
    "counts",
    "deltas",
    "diff",
    "hard_pairs",
    "kernels",
    "means",
    "noise",
    "oracles",
    "paper",
    "parse_measure",
    "plan",
    "protocol",
    "rank",
    "scatter",
    "segments",
    "systems",
    "thresholds",
    "ties",
    "trend",
]

_HOMES = {
    **dict.fromkeys(("Measure", "parse_measure"), "metaeval.measures"),
    "Table": "metaeval.table",
    "annotators": "metaeval.questions.people",
    **dict.fromkeys(("compare", "protocol", "rank", "systems"), "metaeval.questions.rankings"),
    **dict.fromkeys(
        ("deltas", "diff", "hard_pairs", "noise", "oracles", "paper", "plan", "trend"), "metaeval.questions.analyses"
    ),
    **dict.fromkeys(
        ("audit", "autorank", "correlations", "counts", "means", "scatter", "segments", "thresholds", "ties"),
        "metaeval.questions.tables",
    ),
}


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that `import metaeval` stays light."""
    if name in __all__:
        from importlib import import_module

        if name == "kernels":
            return import_module("metaeval.kernels")
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'metaeval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
