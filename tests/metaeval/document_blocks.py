"""Blocks whose segments are of documents, for tests of units."""

import numpy as np

from queries.blocks import Block
from queries.selection import MetricChoice, Selection
from queries.slices import Slice


def selection(documents: tuple[str | None, ...], n_metrics: int = 0) -> Selection:
    metrics = tuple(MetricChoice.made_up("ABCDEFGH"[place], place) for place in range(n_metrics))
    n = len(documents)
    return Selection(
        Slice("made", "xx-yy"), 0, "mqm", 0, None, (), metrics, tuple(range(n)), (None,) * n, documents, n
    )  # fmt: skip


def documents(n: int, size: int = 2) -> tuple[str, ...]:
    return tuple(f"d{place // size}" for place in range(n * size))


def block(documents: tuple[str | None, ...], n_systems: int = 6, n_metrics: int = 3) -> Block:
    rng = np.random.default_rng(len(documents))
    human = rng.normal(size=(n_systems, len(documents))) + np.arange(n_systems)[:, np.newaxis]
    scores = human + rng.normal(size=(n_metrics, n_systems, len(documents)))
    found = selection(documents, n_metrics)
    return Block(
        selection=found,
        systems=tuple(str(place) for place in range(n_systems)),
        segments=np.arange(len(documents)),
        metrics=found.metrics,
        human=human,
        scores=scores,
        human_submitted=np.full(n_systems, np.nan),
        submitted=np.full((n_metrics, n_systems), np.nan),
    )
