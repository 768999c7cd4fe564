"""Blocks: the only conversion from tables to arrays, in the order (system name, segment position)."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from queries.catalog import questions
from queries.evalsets import together
from queries.preferences import Preferences
from queries.reasons import Exclusion, Reason, some_missing
from queries.selection import MetricChoice, Selection
from warehouse import QuestionError, Warehouse

T = TypeVar("T")
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
HUMAN_SCORER = 0  # in a scorer's place; scorers are numbered from 1
_UNUSED_SCORER = -2


@dataclass(frozen=True, eq=False)
class Spans:
    """Annotations of a slice and their spans, regardless of a block's systems and segments.

    scorer: (A,) of each annotation, `HUMAN_SCORER` or the metric's identifier. system, segment: (A,) the output, system
    as index in `systems`. annotation: (K,) index of each span's annotation, ascending; start, end: half-open, in
    characters; is_in_source: side; is_major: severity, also true for critical; category: empty if unknown.
    """

    systems: tuple[str, ...]
    scorer: Ints
    system: Ints
    segment: Ints
    annotation: Ints
    start: Ints
    end: Ints
    is_in_source: Bools
    is_major: Bools
    category: npt.NDArray[np.object_]

    def spans_of(self, annotations: Ints) -> tuple[Ints, Ints]:
        """Indices of the spans of some annotations, and for each span the index of its annotation among these."""
        first, last = (np.searchsorted(self.annotation, annotations, side=side) for side in ("left", "right"))
        n = last - first
        rows = np.repeat(np.arange(len(n)), n)
        return np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + np.repeat(first, n), rows

    def only(self, chosen: Bools) -> "Spans":
        """All annotations, restricted to some of their spans."""
        of_spans = ("annotation", "start", "end", "is_in_source", "is_major", "category")
        return replace(self, **{name: getattr(self, name)[chosen] for name in of_spans})

    def with_gold_of(self, other: "Spans", scorer: int) -> "Spans":
        """These annotations, plus the gold annotations of other spans as those of this scorer."""
        both = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("segment", "start", "end", "is_in_source", "is_major", "category")
        }
        gold = other.scorer == HUMAN_SCORER
        return Spans(
            systems=(*self.systems, *other.systems),
            scorer=np.concatenate([self.scorer, np.where(gold, scorer, _UNUSED_SCORER)]),
            system=np.concatenate([self.system, other.system + len(self.systems)]),
            annotation=np.concatenate([self.annotation, other.annotation + len(self.scorer)]),
            **both,
        )


Floats = npt.NDArray[np.float64]
_NO_SCORER = 0  # scorers are numbered from 1
_SCORES = 2**18  # read at once, which bounds the memory beside the arrays
_KEPT = 2**21  # scores of an evaluation set at most that are kept for its next block


@dataclass(frozen=True)
class Block:
    """The scores of a slice as arrays; missing is NaN.

    systems (N names), segments (S numbers), metrics (M choices) name the axes, in canonical order.
    human: (N, S), NaN = not judged; all NaN without a human score. scores: (M, N, S), NaN for metrics without segment
        scores. human_submitted: (N,), submitted: (M, N): submitted system scores, NaN if there are none.
        counted: (N, S), only without a human score: the outputs that count as judged.
        is_cut: an intersection removed judged segments of some system, so submitted scores no longer match the block.
        marked_errors: (N, S) errors that annotators marked, NaN = not known; None = not requested, or the human score
        has none. elsewhere: blocks of another test set that a measure calibrates on.
    spans: marked and predicted errors, if scores are computed from these (see `span_blocks`).
    preferences: of the human score, in the block's numbering of systems and segments, if requested.
    excluded: metric -> why it is excluded from segment-level measures although it is selected.
    """

    selection: Selection
    systems: tuple[str, ...]
    segments: npt.NDArray[np.int64]
    metrics: tuple[MetricChoice, ...]
    human: Floats
    scores: Floats
    human_submitted: Floats
    submitted: Floats
    counted: Bools | None = None
    is_cut: bool = False
    marked_errors: Floats | None = None
    elsewhere: "tuple[Block, ...]" = ()
    spans: Spans | None = None
    preferences: Preferences | None = None

    @property
    def without_scores(self) -> "Block":
        """The selection alone."""
        empty = replace(self.take(systems=[], metrics=[]), elsewhere=(), spans=None, preferences=None)
        return replace(empty, segments=empty.segments[:0])

    @cached_property
    def judged(self) -> Bools:
        """(N, S): whether an output has a human score; without a human score, `counted`."""
        return ~np.isnan(self.human) if self.counted is None else self.counted

    @cached_property
    def n_judged_segments(self) -> int:
        """Segments judged for at least one system."""
        return int(self.judged.any(axis=0).sum())

    @cached_property
    def n_missing(self) -> int:
        """Number of missing (system, segment) human scores."""
        return int(self.human.size - self.judged.sum())

    @cached_property
    def human_means(self) -> Floats:
        """(N,): mean human score of each system's judged segments."""
        return _means(self.human)

    @cached_property
    def means(self) -> Floats:
        """(M, N): mean of each metric's segment scores of a system."""
        return self._of_metrics(lambda scores: scores)

    @cached_property
    def judged_means(self) -> Floats:
        """(M, N): the same over the segments judged for the system."""
        return self._of_metrics(lambda scores: np.where(self.judged, scores, np.nan))

    def _of_metrics(self, of: Callable[[Floats], Floats]) -> Floats:
        found = np.empty(self.scores.shape[:2])
        step = max(1, _AT_ONCE // max(1, self.human.size))
        for start in range(0, len(found), step):
            found[start : start + step] = _means(of(self.scores[start : start + step]))
        return found

    @cached_property
    def excluded(self) -> dict[str, Exclusion]:
        reasons = {}
        for choice, scores in zip(self.metrics, self.scores, strict=True):
            if choice.segment_gap is not None:
                reasons[choice.name] = choice.segment_gap
            elif n := int(np.isnan(scores[self.judged]).sum()):
                reasons[choice.name] = some_missing(n, "document" if self.selection.slice.level == "doc" else "segment")
        return reasons

    @property
    def with_segments(self) -> Bools:
        """(M,): whether the metric has a score for every judged output."""
        return np.array([choice.name not in self.excluded for choice in self.metrics], dtype=bool)

    def once(self, question: Hashable, compute: Callable[[], T]) -> T:
        """What `compute` returns, kept per question, as several measures and protocols need it; do not modify it."""
        if question not in self._computed:
            self._computed[question] = compute()
        answer: T = self._computed[question]
        return answer

    @cached_property
    def _computed(self) -> dict[Hashable, Any]:
        return {}

    def take(
        self,
        *,
        systems: npt.ArrayLike | None = None,
        segments: npt.ArrayLike | None = None,
        metrics: npt.ArrayLike | None = None,
    ) -> "Block":
        """The block with some of its systems, segments or metrics: masks, or indices, which may repeat.

        Submitted system scores belong to all segments, so they become NaN if segments are selected.
        """
        rows, columns, kept = map(_places, (systems, segments, metrics))
        has_all_metrics = isinstance(kept, slice) or np.array_equal(kept, np.arange(len(self.metrics)))
        if systems is None and segments is None and has_all_metrics:
            return self  # as most measures rank all metrics: to copy scores takes longer than to correlate them
        selection, preferences = self.selection, self.preferences
        if preferences is not None:
            for axis, places, n in (("first", rows, 0), ("second", rows, 0), ("segment", columns, 1)):
                if not isinstance(places, slice):
                    preferences = preferences.renumbered(axis, places, self.human.shape[n])
            preferences = replace(preferences, systems=_chosen(preferences.systems, rows))
        of_systems = (self.human_submitted[rows], self.submitted[kept][:, rows])
        if segments is not None:
            selection = replace(
                selection,
                segments=_chosen(selection.segments, columns),
                domains=_chosen(selection.domains, columns),
                documents=_chosen(selection.documents, columns),
            )
            of_systems = (np.full_like(of_systems[0], np.nan), np.full_like(of_systems[1], np.nan))
        return replace(
            self,
            selection=selection,
            systems=_chosen(self.systems, rows),
            segments=self.segments[columns],
            metrics=_chosen(self.metrics, kept),
            human=self.human[rows][:, columns],
            scores=self.scores[kept][:, rows][:, :, columns],
            human_submitted=of_systems[0],
            submitted=of_systems[1],
            counted=None if self.counted is None else self.counted[rows][:, columns],
            marked_errors=None if self.marked_errors is None else self.marked_errors[rows][:, columns],
            preferences=preferences,
        )


def _means(scores: Floats) -> Floats:
    """Mean of each row without missing values, (..., S) -> (...); NaN for an empty row."""
    there = ~np.isnan(scores)
    n = there.sum(axis=-1)
    return np.where(n > 0, np.where(there, scores, 0.0).sum(axis=-1) / np.maximum(n, 1), np.nan)


_AT_ONCE = 1 << 16  # scores of several metrics whose means are computed together


Places = Ints | slice


def _places(chosen: npt.ArrayLike | None) -> Places:
    if chosen is None:
        return slice(None)
    places = np.asarray(chosen)
    return np.flatnonzero(places) if places.dtype == np.bool_ else places.astype(np.int64)


def _chosen(values: tuple[T, ...], places: Places) -> tuple[T, ...]:
    return values[places] if isinstance(places, slice) else tuple(values[place] for place in places)


def fetch_block(warehouse: Warehouse, selection: Selection) -> Block:
    """The arrays of a selection.

    With `intersection` in the slice, outputs without a score of some metric count as not judged, and systems without
    any remaining output are excluded; if other systems lose judged segments, submitted system scores are removed,
    because they cover more segments.
    Raises QuestionError: nothing is left.
    """
    systems = selection.chosen_systems
    metrics = selection.chosen_metrics
    segments = np.array(selection.segments, dtype=np.int64)
    system_row = [choice.system_id for choice in systems]
    scorers = [choice.scorer_id for choice in metrics]
    human_id = _NO_SCORER if selection.human_id is None else selection.human_id
    scorer_row = [human_id, *scorers]
    human_scores, *of_metrics = _segment_scores(warehouse, selection, scorer_row)
    numbers = [int(segment) for segment in segments]
    flat = np.full((len(metrics) + 1, len(systems)), np.nan)
    if selection.slice.is_whole:
        submitted = by_evalset(warehouse, "submitted", together(warehouse, selection.evalset_id))
        _fill(flat, submitted[selection.evalset_id], scorer_id=scorer_row, system_id=system_row)
    if selection.is_by_annotator:
        parameters: dict[str, object] = {"evalset": selection.evalset_id, "human": human_id}
        found = warehouse.columns(questions()["standardised_judgements"].text, parameters)
        human_scores, flat[0] = np.full(human_scores.shape, np.nan), np.nan
        _fill(human_scores, found, system_id=system_row, segment=numbers)
    block = Block(
        selection=selection,
        systems=tuple(choice.name for choice in systems),
        segments=segments,
        metrics=metrics,
        human=human_scores,
        scores=np.array(of_metrics).reshape(len(metrics), *human_scores.shape),
        human_submitted=flat[0],
        submitted=flat[1:],
        counted=np.ones(human_scores.shape, dtype=np.bool_) if selection.human_id is None else None,
    )
    return narrowed(block)


def _segment_scores(warehouse: Warehouse, selection: Selection, scorers: Sequence[int]) -> Iterator[Floats]:
    """(systems, segments) scores of each scorer, read only once for slices that differ only in systems."""
    every = [choice.system_id for choice in selection.systems]
    rows = [place for place, choice in enumerate(selection.systems) if choice.reason is None]
    if len(scorers) * len(every) * len(selection.segments) > _KEPT:
        yield from _read_scores(warehouse, selection, scorers, [every[row] for row in rows])
        return
    held: dict[int, Floats] = warehouse.once(
        (Block, selection.evalset_id, selection.slice.level, selection.segments), dict
    )
    missing = [scorer for scorer in scorers if scorer not in held]
    held.update(zip(missing, _read_scores(warehouse, selection, missing, every), strict=True))
    for scorer in scorers:
        yield held[scorer][rows]


def _read_scores(warehouse: Warehouse, selection: Selection, scorers: Sequence[int], systems: Sequence[int]) -> Floats:
    """(scorers, systems, segments)."""
    segments = list(selection.segments)
    parameters: dict[str, object]
    parameters = {"evalset": selection.evalset_id, "systems": list(systems), "segments": segments}
    query = "slice_scores"
    if selection.slice.level == "doc":
        query, parameters = "slice_documents", {**parameters, "documents": list(selection.documents)}
    scores = np.full((len(scorers), len(systems), len(segments)), np.nan)
    evalsets = together(warehouse, selection.evalset_id)
    if query == "slice_scores" and len(evalsets) > 1:
        found = by_evalset(warehouse, "scores", evalsets)[selection.evalset_id]
        _fill(scores, found, scorer_id=scorers, system_id=systems, segment=segments)
        return scores
    n_at_once = max(1, _SCORES // max(1, len(systems) * len(segments)))
    for first in range(0, len(scorers), n_at_once):
        asked = {**parameters, "scorers": list(scorers[first : first + n_at_once])}
        found = warehouse.columns(questions()[query].text, asked)
        _fill(scores, found, scorer_id=scorers, system_id=systems, segment=segments)
    return scores


Columns = dict[str, npt.NDArray[Any]]


def by_evalset(warehouse: Warehouse, what: str, evalsets: tuple[int, ...]) -> dict[int, Columns]:
    """The columns of a question about several evaluation sets, for each of them; NULL is NaN."""

    def ask() -> dict[int, Columns]:
        found = warehouse.columns(questions()[what].text, {"evalsets": list(evalsets)})
        order = np.argsort(found["evalset_id"], kind="stable")
        ends = [np.searchsorted(found["evalset_id"], evalsets, side, order) for side in ("left", "right")]
        return {
            number: {name: column[order[first:last]] for name, column in found.items()}
            for number, first, last in zip(evalsets, *ends, strict=True)
        }

    return warehouse.once((what, evalsets), ask)


def _fill(values: Floats, found: Columns, **axes: Sequence[int]) -> None:
    """Put the values found into an array, where the columns named are among the identifiers of its axes, in order."""
    places = [_place_of(known, found[name]) for name, known in axes.items()]
    kept = np.logical_and.reduce([place >= 0 for place in places])
    values[tuple(place[kept] for place in places)] = found["value"][kept]


def narrowed(block: Block) -> Block:
    """The block narrowed as the slice requests: to the intersection of metrics, to systems judged in the part.

    Raises QuestionError: nothing is left.
    """
    block = _intersection(block) if block.selection.slice.intersection else block
    selection = block.selection
    return block if selection.slice.is_whole and not selection.is_by_annotator else _judged_systems(block)


def with_marked_errors(warehouse: Warehouse, block: Block) -> Block:
    """The block with the number of errors marked in each output, by the valid judgements of its human score."""
    parameters = {"evalset": block.selection.evalset_id, "human": block.selection.human}
    found = warehouse.columns(questions()["marked_errors"].text, parameters)
    n_errors = np.asarray(found["n_weighted"] + found["n_without_weight"], dtype=np.float64)
    if not n_errors.any():
        return block
    places = places_of(block, found["system"], found["segment"])
    there = places >= 0
    errors = np.full(block.human.size, np.nan)
    errors[places[there]] = 0.0
    np.add.at(errors, places[there], n_errors[there])
    return replace(block, marked_errors=errors.reshape(block.human.shape))


def output_lengths(warehouse: Warehouse, block: Block) -> Floats:
    """(N, S) characters of the outputs; NaN where no text is loaded."""
    found = warehouse.columns(
        "SELECT name, segment, length(text) AS n FROM segment_text WHERE evalset_id = $evalset AND kind = 'output'",
        {"evalset": block.selection.evalset_id},
    )
    places = places_of(block, list(found["name"]), list(found["segment"]))
    lengths = np.full(block.human.size, np.nan)
    lengths[places[places >= 0]] = np.asarray(found["n"], dtype=np.float64)[places >= 0]
    return lengths.reshape(block.human.shape)


def _judged_systems(block: Block) -> Block:
    """The block of a part of a test set without systems that were not judged there.

    Raises QuestionError: no system is left.
    """
    kept: Bools = np.asarray(block.judged.any(axis=1))
    if not kept.any():
        raise QuestionError(f"{block.selection.human} judged nothing in this part of the test set")
    return with_systems(block, kept, Exclusion(Reason.NOT_JUDGED_HERE, (block.selection.human,)))


def with_systems(block: Block, kept: Bools, reason: Exclusion) -> Block:
    """The block with some of its systems; the others are excluded with this reason."""
    if kept.all():
        return block
    gone = {block.systems[place] for place in np.flatnonzero(~kept)}
    choices = tuple(
        replace(choice, reason=reason) if choice.name in gone else choice for choice in block.selection.systems
    )
    return replace(block.take(systems=kept), selection=replace(block.selection, systems=choices))


def places_of(block: Block, systems: Iterable[str], segments: Iterable[int]) -> npt.NDArray[np.int64]:
    """Positions of (system, segment) scores in a block: row · S + column of each; -1 if not in the block."""
    row_of = {name: row for row, name in enumerate(block.systems)}
    column_of = {int(number): column for column, number in enumerate(block.segments)}
    rows = np.array([row_of.get(name, -1) for name in systems], dtype=np.int64)
    columns = np.array([column_of.get(int(number), -1) for number in segments], dtype=np.int64)
    return np.where((rows >= 0) & (columns >= 0), rows * len(block.segments) + columns, -1)


def _place_of(known: Sequence[int], identifiers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Indices of identifiers in a sequence of distinct ones, −1 for others; memory is independent of their values."""
    numbers = np.asarray(known, dtype=np.int64)
    order = np.argsort(numbers)
    if not len(numbers):
        return np.full(len(identifiers), -1, dtype=np.int64)
    found = order[np.minimum(np.searchsorted(numbers, identifiers, sorter=order), len(numbers) - 1)]
    return np.where(numbers[found] == identifiers, found, -1)


def _intersection(block: Block) -> Block:
    """The block of outputs that are judged and have a score of every metric with segment scores.

    Raises QuestionError: there are none.
    """
    with_segments = np.array([choice.has_segments for choice in block.metrics], dtype=bool)
    is_missing = np.isnan(block.scores[with_segments]).any(axis=0)  # (M', N, S) -> (N, S)
    judged = block.judged & ~is_missing
    kept: Bools = np.asarray(judged.any(axis=1))
    if not kept.any():
        raise QuestionError("the intersection is empty: no (system, segment) pair is judged and scored by every metric")
    common = replace(
        block,
        human=np.where(is_missing, np.nan, block.human),
        scores=np.where(is_missing, np.nan, block.scores),
        counted=None if block.counted is None else judged,
    )
    if (block.judged & is_missing)[kept].any():
        common = replace(
            common,
            human_submitted=np.full_like(block.human_submitted, np.nan),
            submitted=np.full_like(block.submitted, np.nan),
            is_cut=True,
        )
    return with_systems(common, kept, Exclusion(Reason.NOTHING_IN_COMMON))
