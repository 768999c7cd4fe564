"""Worlds of error spans: gold spans, and the spans of two metrics that are exchangeable or equally good.

Segments and systems differ in how many errors they have. Each metric finds some of the errors, with bounds up to three
characters off and a wrong severity in three of ten, and marks others. How much it finds and marks depends on the
segment, so its spans in the outputs of one segment are correlated. `pool` has many segments; a world draws segments
from it with replacement, so the expected sums of a world are the pool's.

- `exchangeable`: metrics of two kinds; a coin for each segment says which of them is called A.
- `equal`: A finds and marks many spans, B few; just enough false spans of A are kept to give both metrics the same F in
  the pool.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.null_worlds import DOCUMENT, N_SEGMENTS, N_SYSTEMS, Bools, Floats, Ints, Pair, block_of, options_of
from metaeval.measures.measure import Measure
from metaeval.studies.significance.metric_tests import Null
from queries.blocks import HUMAN_SCORER, Block, Spans

POOL_SEGMENTS = 900
LENGTH, LONGEST = 120, 25  # characters of a text; of a span
#: Share of the errors that a metric finds, and false spans an output.
KINDS = ((0.75, 2.0), (0.4, 0.1))
STEPS = 14


@dataclass(frozen=True)
class Marked:
    """Spans of one scorer. chance: the order in which false spans are removed; correctly found spans have 0."""

    system: Ints
    segment: Ints
    start: Ints
    end: Ints
    is_major: Bools
    chance: Floats

    def only(self, chosen: Bools | Ints) -> Marked:
        """Some of the spans."""
        return Marked(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


def drawn_spans(n_of_outputs: Ints, rng: np.random.Generator) -> Marked:
    """Spans anywhere. n_of_outputs: (N, S)."""
    system, segment = (
        np.repeat(place, n_of_outputs.ravel()) for place in map(np.ravel, np.indices(n_of_outputs.shape))
    )
    start = rng.integers(0, LENGTH, len(system))
    length = rng.integers(2, LONGEST, len(system))
    return Marked(system, segment, start, start + length, rng.random(len(system)) < 0.35, rng.random(len(system)))


def _predicted(gold: Marked, share: float, n_false: float, n_segments: int, rng: np.random.Generator) -> Marked:
    of_segment = np.clip(share + rng.normal(0, 0.25, n_segments), 0.02, 0.98)
    found = gold.only(rng.random(len(gold.start)) < of_segment[gold.segment])
    n = len(found.start)
    start = np.maximum(found.start + rng.integers(-3, 4, n), 0)
    end = np.maximum(found.end + rng.integers(-3, 4, n), start + 1)
    is_major = found.is_major ^ (rng.random(n) < 0.3)
    found = replace(found, start=start, end=end, is_major=is_major, chance=np.zeros(n))
    rate = n_false * np.exp(rng.normal(0, 0.5, n_segments) - 0.125)
    false = drawn_spans(np.minimum(rng.poisson(rate, (N_SYSTEMS, n_segments)), 6), rng)
    return Marked(*(np.concatenate([getattr(one, name) for one in (found, false)]) for name in Marked.__annotations__))


@dataclass(frozen=True)
class Pool:
    """Spans of gold (first) and two metrics in outputs of many segments."""

    marked: tuple[Marked, Marked, Marked]
    n_segments: int

    def block(self, places: Ints, exchanged: Bools) -> Block:
        """Some segments, each as often as it occurs in `places`, with the metrics exchanged in the selected ones."""
        outputs = np.indices((3, N_SYSTEMS, len(places))).reshape(3, -1)
        parts = []
        for scorer, marked in enumerate(self.marked):
            order = np.argsort(marked.segment, kind="stable")
            first, last = (np.searchsorted(marked.segment[order], places, side=side) for side in ("left", "right"))
            n = last - first
            column = np.repeat(np.arange(len(places)), n)
            chosen = order[np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + np.repeat(first, n)]
            one = marked.only(chosen)
            row = np.where(exchanged[column], 3 - scorer, scorer) if scorer else np.zeros(len(column), dtype=np.int64)
            parts.append((((row * N_SYSTEMS + one.system) * len(places) + column), one))
        annotation = np.concatenate([place for place, _ in parts])
        order = np.argsort(annotation, kind="stable")
        start, end, is_major = (
            np.concatenate([getattr(one, name) for _, one in parts])[order] for name in ("start", "end", "is_major")
        )
        shape = N_SYSTEMS, len(places)
        block = block_of(Pair(np.zeros(shape), np.zeros((2, *shape)), np.arange(len(places)) // DOCUMENT))
        scorers = np.array([HUMAN_SCORER, *(choice.scorer_id for choice in block.metrics)])
        spans = Spans(
            systems=block.systems,
            scorer=scorers[outputs[0]],
            system=outputs[1],
            segment=block.segments[outputs[2]],
            annotation=annotation[order],
            start=start,
            end=end,
            is_in_source=np.zeros(len(order), dtype=np.bool_),
            is_major=is_major,
            category=np.full(len(order), "", dtype=np.object_),
        )
        return replace(block, spans=spans)

    def with_false(self, share: float) -> Pool:
        """The pool with a share of the first metric's false spans."""
        gold, first, second = self.marked
        return replace(self, marked=(gold, first.only((first.chance < share) | (first.chance == 0)), second))

    def world(self, null: Null, rng: np.random.Generator) -> Block:
        """Segments drawn with replacement."""
        places = rng.integers(0, self.n_segments, N_SEGMENTS)
        coins = rng.random(N_SEGMENTS) < 0.5
        return self.block(places, coins & (null == "exchangeable"))

    def values(self, measure: Measure) -> Floats:
        """(2,) F of the metrics in the whole pool."""
        whole = self.block(np.arange(self.n_segments), np.zeros(self.n_segments, dtype=np.bool_))
        return np.asarray(measure.value(whole, options_of(measure)).value)


def pool(measure: Measure, null: Null, number: int, n_segments: int = POOL_SEGMENTS) -> Pool:
    """A new pool, with metrics that are equal by this measure if one is named."""
    rng = np.random.default_rng([number, 0, 0, 6])
    while True:
        difficulty = np.exp(rng.normal(-0.4, 0.8, n_segments))
        rate = difficulty * np.exp(0.4 * np.linspace(-1.5, 1.5, N_SYSTEMS))[:, np.newaxis]
        gold = drawn_spans(np.minimum(rng.poisson(rate), 6), rng)
        first, second = (_predicted(gold, share, n_false, n_segments, rng) for share, n_false in KINDS)
        found = Pool((gold, first, second), n_segments)
        if null == "exchangeable":
            return found
        equal = _made_equal(found.with_false, measure)
        if equal is not None:
            return equal


def _made_equal(with_false: Callable[[float], Pool], measure: Measure) -> Pool | None:
    """The pool with just enough false spans of the first metric to make F equal; None if no share does."""
    low, high = 0.0, 1.0
    if not _is_better(with_false(low), measure) or _is_better(with_false(high), measure):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _is_better(with_false(middle), measure) else (low, middle)
    return with_false(low)


def _is_better(found: Pool, measure: Measure) -> bool:
    first, second = found.values(measure)
    return bool(first > second)
