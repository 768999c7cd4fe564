"""Making a report: each section's questions are asked, and each part of the page is taken from the store or kept."""

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from cli.hints import in_flags
from cli.report.content import MOST_NAMES, Figure, Grid, Part, figure, grid, lead_on_page, message, part_of, wide_grids
from cli.report.measuring import first_ranking, judged_segments, why_unranked
from cli.report.sections import SECTIONS, Ask, Section
from metaeval.measures.registry import parse_measure
from metaeval.python_api import answered
from metaeval.questions import question_named
from metaeval.results.answer import Answer
from metaeval.results.cache import FROM_STORE, CacheEntry, keep, key_of
from metaeval.results.notes import placed
from metaeval.results.run import Run
from metaeval.studies.protocols.catalogue import measures
from metaeval.studies.ranking.rankings import leaders, named
from queries.evalsets import expand
from queries.listing import listing, official_human
from queries.longitudinal import EvalsetState, evalset_states
from queries.selection import select
from warehouse import QuestionError
from warehouse.fields import fields_of
from warehouse.wording import counted

SHAPE = 13  # counts up when parts of a report, or charts in them, get another form
USUAL = "BLEU"
"""The metric that others are measured against."""
MOST = 300  # rows of a table
MOST_SENTENCES = 3  # in front of a part
_NOTHING = "no evaluation set of the report has human and metric scores"
_UNSAVED = 5.0  # seconds of work that an interruption may lose
_MEASURED = re.compile(r"\b(?:measure|matrix|thresholds|curve):([a-z0-9_]+(?:\([^()]*\))?)")


@dataclass
class Desk:
    """report: the question, `question.Report`. every: all evaluation sets of the warehouse; states: those of the
    report; humans: those with metrics and the human score, and reason: why there are none.

    lps: all language pairs, as listed. judged: those with human scores of segments. anchor: BLEU if it is there; else a
    metric with BLEU in its name, else the first. parts: the parts of the page that are already made.
    """

    report: Any
    run: Run
    every: tuple[EvalsetState, ...]
    states: tuple[EvalsetState, ...]
    humans: tuple[EvalsetState, ...]
    lps: pl.DataFrame
    judged: frozenset[tuple[str, str]]
    anchor: str
    reason: str = ""
    parts: list[Part] = field(default_factory=list)
    _answers: dict[str, Answer[Any] | QuestionError] = field(default_factory=dict)

    @cached_property
    def detailed(self) -> tuple[EvalsetState, ...]:
        """Those that say most: segments scored by humans, the latest year, many metrics; in the order of `humans`."""
        order = sorted(
            self.rankable,
            key=lambda one: (
                (one.testset, one.lp) not in self.judged,
                -(one.year or 0),
                -one.n_metrics,
                one.testset,
                one.lp,
            ),
        )
        first = order[: self.report.details]
        return tuple(one for one in self.humans if one in first)

    @cached_property
    def rankable(self) -> tuple[EvalsetState, ...]:
        """Those of `humans` with two systems and a metric that are not excluded."""
        found = []
        with self.run.opened() as warehouse:
            for one in self.humans:
                try:
                    chosen = select(warehouse, self.report.slice_of(one.testset, one.lp))
                except QuestionError:
                    continue
                if len(chosen.chosen_systems) > 1 and chosen.chosen_metrics:
                    found.append(one)
        return tuple(found)

    @property
    def why_no_details(self) -> str:
        """Why no evaluation set is shown in detail."""
        if self.reason:
            return self.reason
        if not self.report.details:
            return "`scorehouse report --details N` shows evaluation sets in detail"
        try:
            first = self.humans[0]
            Place(self, first.testset, (first,)).ranking()
            reason, helps = "no evaluation set has two systems", ""
        except QuestionError as error:
            reason = message(error)
            helps = in_flags(error.with_hints(lambda hint: "status" in hint)).removeprefix(reason)
        ways = ["`scorehouse report --status all` includes these metrics"] if "--status all" in helps else []
        if self.report.human is None and any(one.n_humans for one in self.states if one not in self.humans):
            ways.append("`scorehouse report --human NAME` ranks by another human score")
        return "; ".join([reason, *ways])

    def ask(self, place: "Place", asked: Ask) -> Answer[Any]:
        """The answer to a question, computed once. Raises QuestionError: there is none."""
        question = question_named(asked.question)
        known, given = fields_of(question), dict(asked.fields)
        if "testset" in known:
            given |= {"testset": place.testset, "lp": place.lp}
            for name in ("human", "status", "user_metrics"):
                if name in known and not known[name].option.needs and name not in question.needs:
                    given[name] = getattr(self.report, name)
        given["charted"] = asked.is_charted
        key = repr((asked.question, sorted(given.items(), key=lambda one: one[0])))
        if key not in self._answers:
            try:
                self._answers[key] = answered(question, given, self.run)
            except QuestionError as error:
                self._answers[key] = error
        found = self._answers[key]
        if isinstance(found, QuestionError):
            raise found
        return found

    def places(self, section: Section) -> list["Place"]:
        """The places for which a section has a part."""
        if section.name == "overview":
            return [*(self._testset(one) for one in dict.fromkeys(one.testset for one in self.humans)), self._whole]
        if section.each == "evaluation set":
            return [Place(self, f"{one.testset} {one.lp}", (one,)) for one in self.detailed]
        if section.each == "test set":
            return [self._testset(one) for one in dict.fromkeys(one.testset for one in self.humans)]
        return [self._whole] if self.humans or section.name in ("audit", "methods") else []

    @property
    def _whole(self) -> "Place":
        return Place(self, ", ".join(dict.fromkeys(one.testset for one in self.states)), self.states, is_whole=True)

    def _testset(self, name: str) -> "Place":
        return Place(self, name, tuple(one for one in self.humans if one.testset == name))


@dataclass(frozen=True)
class Place:
    """The data of a part of a section: one evaluation set, those of a test set, or all of the report."""

    desk: Desk
    heading: str
    states: tuple[EvalsetState, ...]
    is_whole: bool = False

    @property
    def report(self) -> Any:
        return self.desk.report

    @property
    def testset(self) -> str:
        return self.report.testset if self.is_whole else self.states[0].testset

    @property
    def lp(self) -> str:
        return self.report.lp if self.is_whole else ",".join(one.lp for one in self.states)

    @property
    def drawn(self) -> dict[str, Any]:
        """Fields for questions that resample."""
        return {"resamples": self.report.resamples, "seed": self.report.seed, "recompute": self.report.recompute}

    @property
    def anchor(self) -> str:
        return self.desk.anchor

    @property
    def has_segments(self) -> bool:
        """Whether humans scored segments of the evaluation set."""
        return (self.testset, self.lp) in self.desk.judged

    def ranking(self) -> Ask:
        """The ranking of the evaluation set, see `first_ranking`. Raises QuestionError: no metric can be ranked."""

        def asked(names: Sequence[str], tested: bool) -> Ask:
            how = {"measures": tuple(names), "significance": tested, "intervals": True, "ranges": True, **self.drawn}
            return Ask("rank", how, "Ranking of metrics")

        names, tested, _ = first_ranking(
            lambda names, tested: self.desk.ask(self, asked(names, tested)), self.report.measures
        )
        return asked(names, tested)

    @property
    def ranked(self) -> pl.DataFrame:
        """The rows of the ranking, the best metric first."""
        return self.desk.ask(self, self.ranking()).frame

    @property
    def best(self) -> str:
        return str(self.ranked["metric"][0])

    @property
    def measures(self) -> list[str]:
        return self.ranked["measure"].unique(maintain_order=True).to_list()

    def over_years(self) -> list[Ask]:
        """Raises QuestionError: there is a single year."""
        if len({one.year for one in self.desk.humans}) < 2:
            raise QuestionError("the report covers a single year")
        return [
            Ask("trend", {"anchor": self.anchor, **self.drawn}, "Values and gaps by year"),
            Ask("trend", {"bridges": True}, "Two human protocols on the same systems", is_charted=False),
        ]


@dataclass(frozen=True)
class ReportSection:
    """A section with its parts. reason: why there are none."""

    section: Section
    parts: tuple[Part, ...]
    reason: str = _NOTHING

    @property
    def is_gathered(self) -> bool:
        """Whether the parts after the first share a fold."""
        return not self.section.is_open and len(self.parts) > 3

    @property
    def missing(self) -> str:
        """Why the section shows nothing; empty if it shows something."""
        return "; ".join(self.reasons)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the section shows nothing, once each; none if it shows something."""
        reasons = tuple(dict.fromkeys(part.missing for part in self.parts)) or (self.reason,)
        return reasons if all(reasons) else ()


@dataclass(frozen=True)
class StoredPart:
    """A part as it is stored."""

    content: str
    signature: str


def report_sections(report: Any, run: Run) -> tuple[list[ReportSection], list[str]]:
    """The sections with their parts, and notes on parts that could not be stored.

    Raises QuestionError: unknown test sets, language pairs or measures.
    """
    desk = desk_of(report, run)
    chosen = [one for name, one in SECTIONS.items() if name in (report.section or SECTIONS)]
    waiting = [(section, desk.places(section)) for section in chosen]
    stored: dict[str, StoredPart] = {}
    if not report.recompute:
        with run.opened() as warehouse:
            for entry in (_entry(section, place) for section, places in waiting for place in places):
                if (kept := entry.stored(warehouse)) is not None:
                    stored[entry.key] = kept
    total, n_done = max(1, sum(len(places) for _, places in waiting)), 0
    found, notes = [], []
    unsaved: list[tuple[CacheEntry[StoredPart], StoredPart, float]] = []
    for section, places in waiting:
        parts = []
        for place in places:
            if run.progress is not None:
                run.progress(f"{section.title}: {place.heading}", n_done, total)
            part, fresh = _stored_or_computed(section, place, stored)
            parts.append(part)
            desk.parts.append(part)
            unsaved += fresh
            n_done += 1
        reason = desk.why_no_details if section.each == "evaluation set" and not parts else desk.reason
        found.append(ReportSection(section, tuple(parts), reason or _NOTHING))
        is_time = n_done == total or math.fsum(seconds for *_, seconds in unsaved) > _UNSAVED
        if unsaved and is_time and run.database is not None:
            notes += keep(run.database, unsaved)
            unsaved = []
    return found, list(dict.fromkeys(notes))


def desk_of(report: Any, run: Run) -> Desk:
    """The evaluation sets of a report. Raises QuestionError: unknown test sets, language pairs or measures."""
    for text in report.measures:
        parse_measure(text)
    with run.opened() as warehouse:
        every = tuple(evalset_states(warehouse, "all", "all"))
        if not every:
            raise QuestionError("the warehouse holds no evaluation set; `scorehouse load PATH` brings scores in")
        states = tuple(evalset_states(warehouse, report.testset, report.lp))
        reason, chosen = "", set()
        try:
            chosen = set(expand(warehouse, report.testset, report.lp, report.human).chosen)
        except QuestionError as error:
            if report.human is not None:
                raise
            reason = message(error)
        lps = listing(warehouse, "lps")
        names = listing(warehouse, "metrics").filter(~pl.col("is_own"))["base_metric"].unique()
    anchor = min(names, key=lambda name: (name != USUAL, USUAL not in name, name), default=USUAL)
    humans = tuple(one for one in states if one.n_humans and one.n_metrics and (one.testset, one.lp) in chosen)
    judged = judged_segments(lps, report.human)
    return Desk(report, run, every, states, humans, lps, judged, anchor, "" if humans else reason or _NOTHING)


def _entry(section: Section, place: Place) -> CacheEntry[StoredPart]:
    """Where a part is stored."""
    desk, report = place.desk, place.report
    depends = desk.every if section.name == "protocols" else place.states  # rules take all language pairs
    settings = (
        SHAPE,
        section.name,
        place.heading,
        place.is_whole,  # an overview of one evaluation set may have the heading of that of all
        report.measures,
        report.human,
        report.status,
        report.resamples,
        report.seed,
        report.user_metrics,
        desk.anchor,
    )
    contents = [f"{one.testset} {one.lp} {one.fingerprint}" for one in depends]
    return CacheEntry(key_of("report", contents, *map(repr, settings)), "report", place.testset, place.lp, StoredPart)


def _stored_or_computed(
    section: Section, place: Place, stored: Mapping[str, StoredPart]
) -> tuple[Part, list[tuple[CacheEntry[StoredPart], StoredPart, float]]]:
    """A part, and the parts to be stored. stored: parts by key."""
    entry = _entry(section, place)
    if entry.key in stored:
        try:
            return part_of(stored[entry.key].content), []
        except (ValueError, LookupError, TypeError):
            pass  # damaged: computed again
    started = time.perf_counter()
    try:
        part = _computed(section, place)
    except QuestionError as error:
        part = Part(place.heading, missing=message(error))
    if section.name == "methods" or (section.name == "overview" and place.is_whole):  # of all parts of the page
        return part, []
    signature = "\n".join(part.signatures) or f"report:{section.name}"
    return part, [(entry, StoredPart(part.as_text(), signature), time.perf_counter() - started)]


def _computed(section: Section, place: Place) -> Part:
    """Raises QuestionError: none of a part's questions has an answer."""
    if section.name == "overview":
        return _evalsets(place.desk) if place.is_whole else _overview(place)
    if section.name == "methods":
        return _methods(place.desk)
    figures: list[Figure] = []
    grids: list[Grid] = []
    notes: list[str] = []
    signatures: list[str] = []
    summaries: list[str] = []
    refused: list[QuestionError] = []
    asks = section.asks(place)
    for asked in asks:
        try:
            answer = place.desk.ask(place, asked)
        except QuestionError as error:
            refused.append(error)
            continue
        if answer.signature and answer.signature in signatures and asked.is_charted:
            continue  # the best metric is the anchor, under its full name
        if asked.is_charted:
            is_folded = not asked.title and answer.frame.height > MOST_NAMES  # a matrix
            figures.append(figure(answer.chart(), is_folded=is_folded))
        if len(summaries) < MOST_SENTENCES:
            summaries.append(lead_on_page(answer.summary))
        if asked.title:
            grids += _tables(asked, answer, place.heading, notes)
        several = len(asks) > 1 and asked.label
        said = answer.notes if asked.is_whole else answer.for_reading().notes
        notes += [placed(asked.label, note) if several else note for note in said]
        signatures += answer.signature.splitlines()
    if len(refused) == len(asks):
        raise refused[0]
    notes += map(message, refused)
    return Part(
        place.heading,
        tuple(figures),
        tuple(grids),
        tuple(dict.fromkeys(note for note in notes if _is_for_page(note))),
        tuple(dict.fromkeys(signatures)),
        lead=" ".join(dict.fromkeys(summaries)),
    )


def _is_for_page(note: str) -> bool:
    """Whether a note is neither about the store nor advice to add an option."""
    return FROM_STORE not in note and not in_flags(note).startswith("--")


def _tables(asked: Ask, answer: Answer[Any], heading: str, notes: list[str]) -> list[Grid]:
    """The answer's rows for reading, and a note if there are too many."""
    frame = answer.frame if asked.is_whole else answer.for_reading().frame
    frame = frame.drop_nulls(asked.valued) if asked.valued else frame
    frame = frame.drop(asked.without, strict=False)
    if frame.height > MOST:
        notes.append(f"The table has the first {MOST} of {frame.height} rows; `scorehouse {asked.question}` lists all.")
    digits = {} if answer.digits is None else {"digits": answer.digits}
    return [grid(f"{asked.title}, {heading}", frame.head(MOST), **digits)] if frame.height else []


def _overview(place: Place) -> Part:
    """Who leads a test set, and one row per metric with one column per language pair."""
    frames: list[pl.DataFrame] = []
    signatures: list[str] = []
    reasons: dict[str, list[tuple[str, str]]] = {}
    for state in place.states:
        one = Place(place.desk, f"{state.testset} {state.lp}", (state,))
        try:
            answer = place.desk.ask(one, one.ranking())
        except QuestionError as error:
            reasons.setdefault(message(error), []).append((state.testset, state.lp))
            continue
        frames.append(answer.frame)
        signatures += answer.signature.splitlines()
    if not frames:
        raise QuestionError("; ".join(reasons))
    frame = pl.concat(frames, how="diagonal")
    title = f"{place.heading}: metrics by language pairs; bold: best; in brackets: significance cluster"
    notes = tuple(f"Not ranked: {named(of)}: {reason}." for reason, of in reasons.items())
    return Part(place.heading, (), wide_grids(title, frame), notes, tuple(signatures), lead=leaders(frame))


def _evalsets(desk: Desk) -> Part:
    """The evaluation sets of the report, and why some are not ranked."""
    shown = pl.DataFrame(
        [
            (one.testset, one.lp, "in detail" if one in desk.detailed else "ranking" if one in desk.rankable else "-")
            for one in desk.states
        ],
        {"testset": pl.String, "lp": pl.String, "shown": pl.String},
        orient="row",
    )
    rows = desk.lps.with_columns(official_human("seg"), official_human("sys"))
    columns = ("standard_human_seg", "standard_human_sys", "n_segments", "n_systems", "n_metrics")
    frame = shown.join(rows.select("testset", "lp", *columns), on=["testset", "lp"], how="left", maintain_order="left")
    n_every, where = counted(len(desk.every), "evaluation set"), desk.run.database
    notes = [f"This report covers {len(desk.states)} of {n_every}" + (f" in {where.name}." if where else ".")]
    if 0 < len(desk.detailed) < len(desk.humans):
        detailed = named([(one.testset, one.lp) for one in desk.detailed])
        notes.append(
            f"Charts of single evaluation sets are of {len(desk.detailed)} of the {len(desk.humans)} evaluation sets "
            f"with human scores (`--details {desk.report.details}`: those with human scores of segments first, then "
            f"the newest, then those with most metrics): {detailed}."
        )
    notes += unranked(desk.states, desk.humans)
    return Part("Evaluation sets", (), (grid("Evaluation sets of this report", frame),), tuple(notes))


def unranked(states: Sequence[EvalsetState], ranked: Sequence[EvalsetState]) -> list[str]:
    """A line for each reason why evaluation sets are not ranked."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in states:
        if one in ranked:
            continue
        reason = why_unranked(one, "report")
        found.setdefault(reason, []).append((one.testset, one.lp))
    return [f"Not ranked: {named(of)}: {reason}." for reason, of in found.items()]


def _methods(desk: Desk) -> Part:
    """The measures that signatures of the page name, and the basis of tests and intervals."""
    signatures = [line for part in desk.parts for line in part.signatures]
    tables = [one for part in desk.parts for one in part.grids if "tasks" in one.columns]
    tasks = [task for one in tables for row in one.records() for task in row["tasks"].split("; ")]
    texts = [*(text for line in signatures for text in _MEASURED.findall(line)), *tasks]
    parsed = {str(one): one for text in texts if (one := _measure(text))}
    known = {row["measure"]: row for row in measures().rows(named=True)}
    rows = [{**known[str(one.definition.measure)], "measure": name} for name, one in sorted(parsed.items())]
    columns = ("measure", "level", "meaning", "formula", "source")
    notes = [
        "Human scores, references, outlier systems and metrics are those of the shared task: the official human "
        "score and reference, the organisers' outliers excluded, metrics with scores for every system."
    ]
    if any("|test:" in line for line in signatures):
        notes.append(
            f"Clusters and p-values: two-sided tests at p ≤ 0.05, {counted(desk.report.resamples, 'resample')} where a "
            f"test resamples, random seed {desk.report.seed}; each signature names the test and what it generalises "
            "to. From the best down, a metric that is significantly worse than any metric of the current cluster "
            "starts a new one."
        )
    if any("|interval:" in line for line in signatures):
        notes.append("Intervals are 95% intervals; the lines above a chart say what was resampled.")
    notes.append(
        "Numbers in tables are rounded; CSV has full precision. A signature states everything that a number depends on."
    )
    grids = (grid("Measures", pl.DataFrame(rows).select(columns)),) if rows else ()
    return Part("Measures, tests and intervals", (), grids, tuple(notes))


def _measure(text: str) -> Any:
    """The measure that a signature names; None if it names none, such as that of a matrix of protocols."""
    try:
        return parse_measure(text)
    except QuestionError:
        return None
