"""Statistics that say which metric to trust.

Each question of the command line is a function that takes an open warehouse, a test set and a language pair, and
returns an `Answer`; `metaeval.kernels` holds the same statistics on plain arrays.
"""

from typing import Any

from metaeval.questions import QUESTIONS, RENAMED, current_name

_CLASSES = {
    "Answer": "metaeval.results.answer",
    "Measure": "metaeval.measures.measure",
    "Result": "metaeval.results.answer",
    "parse_measure": "metaeval.measures.registry",
}
__all__ = ["kernels", *_CLASSES, *QUESTIONS]


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that `import metaeval` stays light."""
    from importlib import import_module

    if name == "kernels":
        return import_module("metaeval.kernels")
    if name in _CLASSES:
        return getattr(import_module(_CLASSES[name]), name)
    if name in QUESTIONS or name in RENAMED:
        return import_module("metaeval.python_api").function(current_name(name))
    raise AttributeError(f"module 'metaeval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
