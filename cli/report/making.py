"""Sections of a report: each part comes from the result store where it was computed before, else it is computed now."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from cli.report.content import Part, message, part_of
from cli.report.desk import Desk
from metaeval.cache import Question, keep, key_of
from queries.longitudinal import EvalsetState
from warehouse import QuestionError

SHAPE = 11  # counts up when parts of a report, or charts in them, get another form
_NOTHING = "no evaluation set of the report has human and metric scores"


@dataclass(frozen=True)
class Job:
    """A part to be made. states: evaluation sets that it depends on; settings: what else; kind: of what section.

    is_kept: whether it is worth storing.
    """

    kind: str
    heading: str
    states: tuple[EvalsetState, ...]
    settings: tuple[object, ...]
    compute: Callable[[], Part]
    is_kept: bool = True


def detailed_jobs(kind: str, part: Callable[..., Part], desk: Desk, *more: object) -> list[Job]:
    """A part for each of the evaluation sets that have charts of their own. more: what else it is computed from."""
    return [
        Job(kind, f"{one.testset} {one.lp}", (one,), (*desk.computing, *more), partial(part, desk, one, *more))
        for one in desk.detailed
    ]


@dataclass(frozen=True)
class Section:
    """name: as `--section` takes it. about: what it shows, a sentence or two. jobs: its parts on a desk.

    limits: what of the report's evaluation sets it does not show, a sentence each. is_open: whether all its parts are
    shown; else those behind the first are folded.
    """

    name: str
    title: str
    about: str
    jobs: Callable[[Desk], Sequence[Job]]
    limits: Callable[[Desk], Sequence[str]] = lambda desk: ()
    is_open: bool = False


@dataclass(frozen=True)
class Made:
    """A section with its parts."""

    section: Section
    parts: tuple[Part, ...]
    limits: tuple[str, ...]

    @property
    def is_gathered(self) -> bool:
        """Whether the parts behind the first share a fold of their own."""
        return not self.section.is_open and len(self.parts) > 3

    @property
    def missing(self) -> str:
        """Why the section shows nothing; empty where it shows something."""
        reasons = dict.fromkeys(part.missing for part in self.parts) or (_NOTHING,)
        return "; ".join(reasons) if all(reasons) else ""


@dataclass(frozen=True)
class Kept:
    """A part as it is stored."""

    content: str
    signature: str


def made(desk: Desk, sections: Sequence[Section]) -> tuple[list[Made], list[str]]:
    """The sections with their parts, and lines where parts could not be stored."""
    waiting = [(section, list(section.jobs(desk))) for section in sections]
    total, done = max(1, len([job for _, jobs in waiting for job in jobs])), 0
    found: list[Made] = []
    notes: list[str] = []
    for section, jobs in waiting:
        parts = []
        unsaved: list[tuple[Question[Kept], Kept, float]] = []
        for job in jobs:
            desk.progress(f"{section.title}: {job.heading}", done, total)
            part, fresh = _part(desk, job)
            parts.append(part)
            desk.parts.append(part)
            unsaved += fresh
            done += 1
        notes += keep(desk.database, unsaved) if unsaved else []
        found.append(Made(section, tuple(parts), tuple(section.limits(desk))))
    desk.progress("page", total, total)
    return found, list(dict.fromkeys(notes))


def _part(desk: Desk, job: Job) -> tuple[Part, list[tuple[Question[Kept], Kept, float]]]:
    """A part, and what of it is to be stored."""
    settings = [repr(one) for one in (SHAPE, job.kind, job.heading, *job.settings)]
    places = [",".join(dict.fromkeys(names)) for names in zip(*((s.testset, s.lp) for s in job.states), strict=True)]
    testset, lp = places or ["all", "all"]
    key = key_of("report", [f"{one.testset} {one.lp} {one.fingerprint}" for one in job.states], *settings)
    question = Question(key, "report", testset, lp, Kept)
    if job.is_kept and not desk.settings.fresh:
        with desk.opened() as warehouse:
            kept = question.stored(warehouse)
        if kept is not None:
            try:
                return part_of(kept.content), []
            except (ValueError, LookupError, TypeError):
                pass  # damaged: computed again
    started = time.perf_counter()
    try:
        part = job.compute()
    except QuestionError as error:
        return Part(job.heading, missing=message(error)), []
    if not job.is_kept:
        return part, []
    signature = "\n".join(part.signatures) or f"report:{job.kind}"
    return part, [(question, Kept(part.as_text(), signature), time.perf_counter() - started)]
