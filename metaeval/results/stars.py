"""The user's own metrics have a star in charts."""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

PLAIN = "datum.label"
"""The expression of a label as it is."""
_OWN: ContextVar[frozenset[str]] = ContextVar("own", default=frozenset())
_STARRED: ContextVar[set[str] | None] = ContextVar("starred", default=None)


@contextmanager
def marking(own: Collection[str]) -> Iterator[None]:
    """While a chart is made, these metrics have a star, even if they are written without their reference."""
    names = _OWN.set(frozenset([*own, *(name.rpartition("-")[0] for name in own)]) - {""})
    found = _STARRED.set(set())
    try:
        yield
    finally:
        _OWN.reset(names)
        _STARRED.reset(found)


def is_own(label: str) -> bool:
    """Whether a name, perhaps after its rank or before its kind, is that of a user's own metric."""
    return not _OWN.get().isdisjoint((label, label.partition(". ")[2], label.partition(" (")[0]))


def is_starred() -> bool:
    """Whether a name in the chart that is being made has a star."""
    return bool(_STARRED.get())


def starred(label: str) -> str:
    """A name as charts write it: a star before one's own metric."""
    if not is_own(label):
        return label
    if (found := _STARRED.get()) is not None:
        found.add(label)
    return f"★ {label}"


def star(labels: Sequence[str]) -> str:
    """The expression of a label on an axis, in a legend or above a panel, with a star where `starred` puts one."""
    own = [label for label in labels if starred(label) != label]
    return f"(indexof({json.dumps(own)}, {PLAIN}) < 0 ? '' : '★ ') + ({PLAIN})" if own else PLAIN
