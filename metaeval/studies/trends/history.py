"""A history: a measure on every evaluation set of a slice, from the result store if it was computed before."""

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, TestOptions
from metaeval.results.cache import CacheEntry, keep, key_of
from metaeval.results.inputs import Inputs, WarehouseOpener, check_used, check_whole
from metaeval.results.notes import because
from metaeval.results.run import Run
from metaeval.studies.people.ceilings import common_blocks, judged_by, second_human, second_humans, split_half
from metaeval.studies.trends.points import Point, ResampleCache, point
from queries.blocks import Block
from queries.evalsets import challenge_sets, without_challenge_sets
from queries.longitudinal import EvalsetState, evalset_states, human_levels, judgements, metric_names
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.database.connection import stored_payloads
from warehouse.errors import IT, unknown
from warehouse.facts.metrics import describe, folded
from warehouse.names import in_any_case

_OPEN = 2.0  # seconds after which the warehouse is closed for a moment, so that another program can write
_UNSAVED = 10.0  # seconds of computation whose results are stored together: what an interrupted run loses


@dataclass(frozen=True)
class SetHistory:
    """The points of one evaluation set, the official one first, then those of bridges; or the reason why it has none.

    brief: the reason without the name of the evaluation set.
    """

    points: tuple[Point, ...]
    reason: str | None
    signature: str
    notes: tuple[str, ...] = ()
    brief: str | None = None

    @classmethod
    def without(cls, error: QuestionError) -> "SetHistory":
        """The result for an evaluation set without any point."""
        return cls((), error.text, "", brief=error.brief)


@dataclass(frozen=True)
class Entry:
    """An evaluation set of a history. year: of its test set, None if unknown."""

    testset: str
    lp: str
    year: int | None
    history: SetHistory


@dataclass(frozen=True, kw_only=True)
class HistorySettings:
    """What is computed on each evaluation set.

    asked: its test sets and language pairs may be several, joined by commas, or "all".
    bridged: compute bridges to other human scores even if the slice names one.
    intervals: compute intervals and standard errors of values; those of gaps come from the test and are always
        computed.
    """

    asked: Slice
    measure: Measure
    options: Options
    testing: TestOptions
    anchor: str
    bridged: bool = False
    intervals: bool = True


@dataclass(frozen=True, kw_only=True)
class History(HistorySettings):
    """Evaluation sets by year, test set and language pair. n_stored: number taken from the result store."""

    entries: tuple[Entry, ...]
    n_stored: int = 0
    notes: tuple[str, ...] = ()

    @property
    def official(self) -> list[tuple[Entry, Point]]:
        """The official points."""
        return [(entry, one) for entry in self.entries for one in entry.history.points if one.bridge is None]


def history(run: Run, settings: HistorySettings, *, fresh: bool = False) -> History:
    """Compute the points that are not stored yet.

    The warehouse is closed every few seconds, if it can be closed.
    Raises QuestionError: unknown test sets or language pairs; an unknown anchor; options that no evaluation
    set could take.
    """
    asked, measure = settings.asked, settings.measure
    check_whole(settings.options, asked)
    check_used(settings.options, [measure])
    settings = replace(settings, bridged=settings.bridged or asked.human is None)
    found: dict[EvalsetState, SetHistory] = {}
    questions: dict[EvalsetState, CacheEntry[SetHistory]] = {}
    with run.opened() as warehouse:
        excluded = without_challenge_sets(warehouse, asked.testset)
        challenging = challenge_sets(warehouse, "all")
        states = [one for one in evalset_states(warehouse, asked.testset, asked.lp) if one.testset not in challenging]
        _check_anchor(warehouse, states, settings.anchor)
        candidates: dict[EvalsetState, list[CacheEntry[SetHistory]]] = {}
        for state in states:
            if (error := _nothing_loaded(state)) is not None:
                found[state] = SetHistory.without(error)
                continue
            # A result with intervals also answers a question without; not the other way round.
            candidates[state] = [
                _cache_entry(state, settings, *more)
                for more in ([()] if settings.intervals else [(), ("without intervals",)])
            ]
        keys = [] if fresh else [question.key for those in candidates.values() for question in those]
        payloads = stored_payloads(warehouse, keys)
    for state, those in candidates.items():
        for question in those:
            questions[state] = question
            if (kept := question.among(payloads)) is not None:
                found[state] = kept
                break
    n_stored = len([state for state in questions if state in found])
    notes: list[str] = []
    waiting = [state for state in questions if state not in found]
    work = partial(_computed, settings=settings)
    unsaved: list[tuple[CacheEntry[SetHistory], SetHistory, float]] = []
    places = [(state.testset, state.lp) for state in waiting]
    for state, computed in zip(waiting, run.each(work, places, str(measure), seconds=_OPEN), strict=True):
        assert not isinstance(computed, QuestionError), "a history without points says why"
        found[state], seconds = computed
        unsaved.append((questions[state], found[state], seconds))
        is_due = state == waiting[-1] or math.fsum(seconds for *_, seconds in unsaved) >= _UNSAVED
        if run.database is not None and is_due:
            notes += keep(run.database, unsaved)
            unsaved = []
    entries = tuple(Entry(state.testset, state.lp, state.year, found[state]) for state in states)
    said = [note for question in questions.values() for note in question.notes]
    reported = tuple(dict.fromkeys([*excluded, *said, *notes]))
    return History(**vars(settings), entries=entries, n_stored=n_stored, notes=reported)


def _check_anchor(warehouse: Warehouse, states: Sequence[EvalsetState], anchor: str) -> None:
    """Raises QuestionError: neither an evaluation set nor the registry knows the anchor; a known one may be missing."""
    if describe(anchor).is_known:
        return
    known = {name for state in states for both in metric_names(warehouse, state.testset, state.lp) for name in both}
    if folded(anchor) not in {folded(name) for name in known}:
        raise unknown("metric", anchor, known)


def _nothing_loaded(state: EvalsetState) -> QuestionError | None:
    """Why an evaluation set has no point, if that is clear without reading scores."""
    if not state.n_humans:
        return QuestionError("no human score is loaded")
    return None if state.n_metrics else QuestionError("no metric scores are loaded")


def _cache_entry(state: EvalsetState, settings: HistorySettings, *more: str) -> CacheEntry[SetHistory]:
    own = asdict(replace(settings.asked, testset=state.testset, lp=state.lp))
    measured = (str(settings.measure), settings.measure.interval, settings.anchor, settings.bridged)
    parts = (str(sorted(own.items())), *measured, settings.options, settings.testing, *more)
    key = key_of("trend", [state.fingerprint], *parts)
    return CacheEntry(key, "trend", state.testset, state.lp, SetHistory)


def _with_own_metrics(warehouse: Warehouse, asked: Slice, anchor: str) -> tuple[Slice, Sequence[str]]:
    """The slice with the metric patterns that match in the evaluation set, and the anchor.

    Raises QuestionError: none matches.
    """
    if not asked.metrics:
        return asked, ()
    there = metric_names(warehouse, asked.testset, asked.lp)
    named = {name for both in there for name in both}
    kept = tuple(pattern for pattern in asked.metrics if in_any_case(pattern, named))
    if not kept:
        raise QuestionError(
            f"none of the metrics {', '.join(asked.metrics)} is in {IT}", where=f"{asked.testset} {asked.lp}"
        )
    return replace(asked, metrics=kept), (anchor,) if anchor in named else ()


def _computed(run: Run, testset: str, lp: str, *, settings: HistorySettings) -> tuple[SetHistory, float]:
    """The points of one evaluation set, and the seconds that they took."""
    started = time.perf_counter()
    own = replace(settings, asked=replace(settings.asked, testset=testset, lp=lp))
    return _points(run.opened, own), time.perf_counter() - started


def _points(opened: WarehouseOpener, settings: HistorySettings) -> SetHistory:
    """The points of one evaluation set, or the reason why it has none."""
    measure, options = settings.measure, settings.options
    measured = partial(point, measure=measure, options=options, testing=settings.testing, anchor=settings.anchor)
    ceiling, cache, notes = None, ResampleCache(settings.intervals), []
    bridges: list[tuple[Block, Block]] = []
    try:
        with opened() as warehouse:
            asked, also = _with_own_metrics(warehouse, settings.asked, settings.anchor)
            block = Inputs(warehouse, asked, options.round_human, also=also).block(measure)
            humans = human_levels(warehouse, asked.testset, asked.lp)
            human = str(block.selection.human)
            behind = judged_by(humans, human)
            single = judgements(warehouse, block.selection.evalset_id, behind) if behind else None
            for second in second_humans(humans, human, measure) if settings.bridged else []:
                try:
                    bridges.append(common_blocks(warehouse, asked, human, second, measure, options))
                except QuestionError as error:
                    notes.append(because("no bridge: ", error))
        if single is not None:
            ceiling = split_half(block, single, str(behind), measure, options)
        points = [measured(block, ceiling=ceiling, cache=cache)]
    except QuestionError as error:
        return SetHistory.without(error)
    for first, other in bridges:
        try:
            sides = [
                measured(
                    one,
                    bridge=str(against.selection.human),
                    ceiling=second_human(one, against, measure, options),
                    cache=cache,
                )
                for one, against in ((first, other), (other, first))
            ]
        except QuestionError as error:
            notes.append(because("no bridge: ", error))
            continue
        points += sides
    return SetHistory(tuple(points), None, points[0].signature, tuple(notes))
