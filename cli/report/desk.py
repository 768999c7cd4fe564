"""What a report is made from: the evaluation sets it covers, how things are computed, and what is computed once."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from cli.report.content import Part, message
from metaeval.answer import Answer
from metaeval.cache import FROM_STORE
from metaeval.doors import answered
from metaeval.fields import DEFAULT_MEASURES
from metaeval.intervals import with_intervals, with_ranges
from metaeval.measures import parse_measure
from metaeval.options import Options, Run
from metaeval.questions import question_named
from metaeval.ranking import Read, ranked, read
from metaeval.significance.cached import Pending, settled
from metaeval.significance.comparison import Comparison
from metaeval.significance.options import TestOptions
from queries.evalsets import expand
from queries.listing import listing
from queries.longitudinal import EvalsetState, evalset_states
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress

USUAL = "BLEU"
"""The metric that others are measured against."""
SYSTEM_MEASURE = "pa"
"""Where humans scored systems alone, and the usual measures have no value."""


@dataclass(frozen=True)
class Settings:
    """How a report is computed. measures: () for the usual ones; details: evaluation sets with charts of their own."""

    testsets: str = "all"
    lps: str = "all"
    measures: tuple[str, ...] = ()
    draws: int = 1000
    seed: int = 0
    details: int = 6
    fresh: bool = False


@dataclass(frozen=True)
class Ranked:
    """The ranking of an evaluation set.

    frame: with clusters, rank ranges and intervals, the best metric by the first measure first; lines: on the
    intervals; comparisons: behind the clusters.
    """

    frame: pl.DataFrame
    signature: str
    notes: tuple[str, ...]
    lines: tuple[str, ...]
    comparisons: tuple[Comparison, ...]


@dataclass
class Desk:
    """states: all evaluation sets of the warehouse that the report covers; humans: those with a human score wanted.

    detailed: those of them that have charts of their own; others: the rest. reason: why `humans` is empty.
    parts: those of the page that were made already.
    """

    database: Path
    settings: Settings
    progress: Progress
    every: tuple[EvalsetState, ...]
    states: tuple[EvalsetState, ...]
    humans: tuple[EvalsetState, ...]
    detailed: tuple[EvalsetState, ...]
    reason: str = ""
    parts: list[Part] = field(default_factory=list)
    _ranked: dict[EvalsetState, Ranked | QuestionError] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """BLEU where it is; else a metric with BLEU in its name, else the first."""
        with self.opened() as warehouse:
            names = listing(warehouse, "metrics").filter(~pl.col("is_own"))["base_metric"].to_list()
        return min(names, key=lambda name: (name != USUAL, USUAL not in name, name), default=USUAL)

    @property
    def others(self) -> tuple[EvalsetState, ...]:
        """Evaluation sets with human scores that have no charts of their own."""
        return tuple(one for one in self.humans if one not in self.detailed)

    @property
    def options(self) -> Options:
        """How measures are computed."""
        return Options(seed=self.settings.seed)

    @property
    def testing(self) -> TestOptions:
        """How metrics are tested."""
        return TestOptions(draws=self.settings.draws)

    @property
    def computing(self) -> tuple[object, ...]:
        """All settings that numbers depend on."""
        return (self.settings.measures, self.settings.draws, self.settings.seed)

    @property
    def opened(self) -> Callable[[], Warehouse]:
        """Opens the warehouse for reading."""
        return lambda: Warehouse.open(self.database)

    def ask(self, name: str, state: EvalsetState | None = None, **given: Any) -> Answer:
        """The answer of a question, of one evaluation set where one is given."""
        where = {} if state is None else {"testset": state.testset, "lp": state.lp}
        run = Run(self.opened, self.database, self.progress)
        return answered(question_named(name), {**where, **given}, run)

    def ranked(self, state: EvalsetState) -> Ranked:
        """The ranking of an evaluation set, computed once for all sections.

        Raises QuestionError: no metric can be ranked.
        """
        if state not in self._ranked:
            try:
                self._ranked[state] = self._computed(state)
            except QuestionError as error:
                self._ranked[state] = error
        found = self._ranked[state]
        if isinstance(found, QuestionError):
            raise found
        return found

    def _computed(self, state: EvalsetState) -> Ranked:
        found = self._read(state)
        answers: list[tuple[Pending, Comparison]] = []
        faults = []
        for one in found.comparisons:
            try:
                answer = settled(one, self.database, self.progress).comparison
            except QuestionError as error:
                faults.append(f"{one.measure}: no clusters, {message(error)}")
                continue
            answers += [(one, answer)] if answer is not None else []
        known = tuple(replace(one, kept=answer) for one, answer in answers)
        table = ranked(replace(found, comparisons=known), progress=self.progress)
        drawn, of_ranks = with_ranges(table, found, self.options, self.settings.draws, self.progress)
        notes = [note for note in (*table.notes, *faults, *of_ranks) if note != FROM_STORE]
        drawn, lines = with_intervals(drawn, found, self.options, self.settings.draws, self.progress)
        return Ranked(drawn.frame, drawn.signature, tuple(notes), tuple(lines), tuple(answer for _, answer in answers))

    def _read(self, state: EvalsetState) -> Read:
        def of(*names: str) -> Read:
            asked, measures = Slice(state.testset, state.lp), [parse_measure(name) for name in names]
            return read(warehouse, asked, measures, self.options, self.testing, fresh=self.settings.fresh)

        with self.opened() as warehouse:
            if self.settings.measures:
                return of(*self.settings.measures)
            with suppress(QuestionError):
                if _has_values(found := of(*DEFAULT_MEASURES)):
                    return found
            return of(SYSTEM_MEASURE)


def _has_values(found: Read) -> bool:
    evaluations = [result.evaluation for study in found.studies.values() for result in study.results]
    return any((one.value == one.value).any() for one in evaluations)


def desk(database: Path, settings: Settings, progress: Progress) -> Desk:
    """A desk with the evaluation sets of some settings.

    Raises QuestionError: unknown test sets, language pairs or measures. SchemaError: the warehouse cannot be read.
    """
    for text in settings.measures:
        parse_measure(text)
    with Warehouse.open(database) as warehouse:
        every = tuple(evalset_states(warehouse, "all", "all"))
        if not every:
            raise QuestionError("the warehouse holds no evaluation set; `scorehouse load PATH` brings scores in")
        states = tuple(evalset_states(warehouse, settings.testsets, settings.lps))
        reason, chosen = "", set()
        try:
            chosen = set(expand(warehouse, settings.testsets, settings.lps).chosen)
        except QuestionError as error:
            reason = message(error)
        judged = {
            (testset, lp)
            for testset, lp, is_there in listing(warehouse, "lps")
            .select("testset", "lp", "is_standard_human_seg_loaded")
            .iter_rows()
            if is_there
        }
    humans = tuple(one for one in states if one.n_humans and one.n_metrics and (one.testset, one.lp) in chosen)
    if not humans and not reason:
        reason = "no evaluation set of the report has both human and metric scores"
    return Desk(
        database, settings, progress, every, states, humans, _detailed(humans, judged, settings.details), reason
    )


def _detailed(humans: Sequence[EvalsetState], judged: set[tuple[str, str]], most: int) -> tuple[EvalsetState, ...]:
    """Those that say most: segments scored by humans, the latest year, many metrics; in the order of `humans`."""
    order = sorted(
        humans,
        key=lambda one: ((one.testset, one.lp) not in judged, -(one.year or 0), -one.n_metrics, one.testset, one.lp),
    )
    first = order[:most]
    return tuple(one for one in humans if one in first)
