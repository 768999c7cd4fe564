"""The load of one evaluation set, from its files to its line in the report."""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from warehouse.database.stage import Batch, Stage
from warehouse.errors import Fault, SourceError
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import FACTS_FILE, TestsetFacts, declared_facts, facts_file, packaged_facts, read_facts
from warehouse.loading.record_files import OpenFile, share
from warehouse.progress import Gauge
from warehouse.readers.claims import Claim
from warehouse.readers.contents import Content, inspect
from warehouse.readers.recognition import reader_named
from warehouse.staging.holdings import Holdings, KnownEvalsets
from warehouse.staging.record_staging import stage_records
from warehouse.wording import option
from warehouse.writing.reports import EvalsetReport, Status


@dataclass
class LoadReport:
    """Result of a load: evaluation sets, skipped files with the reason, faults, and notes."""

    evalsets: list[EvalsetReport] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Whether nothing was refused."""
        return not self.faults


@dataclass(frozen=True)
class EvalsetOutcome:
    """Outcome for one evaluation set: its line in the report, faults and notes."""

    report: EvalsetReport
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StagedEvalset:
    """One evaluation set that is staged and ready to be checked and written.

    contents: all files read so far; fresh: staged files, which are new, changed, or were refused before.
    doubtful, notes, n_unchanged: facts about the files for the report.
    """

    load: "EvalsetLoad"
    stage: Stage
    contents: Sequence[Content]
    declared: TestsetFacts | None
    held: Holdings
    fresh: Sequence[Content]
    doubtful: Sequence[Fault]
    notes: Sequence[str]
    n_unchanged: int
    seconds: float

    @property
    def broken(self) -> list[Content]:
        return [content for content in self.fresh if self.stage.faults.get(content.file_no)]

    @property
    def sound(self) -> list[Content]:
        return [content for content in self.fresh if not self.stage.faults.get(content.file_no)]

    @property
    def faults(self) -> list[Fault]:
        reported = (fault for content in self.broken for fault in self.stage.faults[content.file_no])
        return [*self.doubtful, *reported]

    @property
    def n_broken(self) -> int:
        return len(self.broken) + len({fault.path for fault in self.doubtful}) + self.load.n_unread

    def checked(self) -> "StagedEvalset | EvalsetOutcome":
        """This set if it may be written, else its outcome."""
        load, notes = self.load, [*self.notes, *self.stage.notes]
        lacks_segments = any(content.claim.declares == "segments" for content in self.broken)
        if lacks_segments or ((self.broken or load.n_unread) and not load.skip_broken):
            settled = load.settled("refused", self.faults, notes, n_broken=self.n_broken)
        elif not self.sound and all(map(self.held.was_refused, self.broken)) and self.held.agrees_with(self.declared):
            n_unchanged = self.n_unchanged
            settled = load.settled("unchanged", self.faults, notes, n_unchanged=n_unchanged, n_broken=self.n_broken)
        else:
            return self
        return replace(settled, report=replace(settled.report, seconds=self.seconds))

    @property
    def marked(self) -> list[Content]:
        """All files, with the faults that checks found."""
        found = {content.file_no: tuple(self.stage.faults[content.file_no]) for content in self.broken}
        return [replace(content, faults=found.get(content.file_no, content.faults)) for content in self.contents]

    @property
    def has_late_faults(self) -> bool:
        """Whether files contributed names and segments before their faults were found."""
        return any(not content.faults for content in self.broken)

    def refused(self, contradictions: Sequence[Fault], seconds: float) -> EvalsetOutcome:
        """The outcome if it contradicts the warehouse."""
        n_broken = len({fault.path for fault in contradictions})
        notes = [*self.notes, *self.stage.notes]
        settled = self.load.settled("refused", [*self.faults, *contradictions], notes, n_broken=n_broken)
        return replace(settled, report=replace(settled.report, seconds=seconds))

    def written(self, n_scores: Mapping[int, int], seconds: float) -> EvalsetOutcome:
        """The outcome once it is in the warehouse. n_scores: of each file."""
        stage, held = self.stage, self.held
        news = [content for content in self.sound if held.loaded.get(content.claim.origin) != content.identity]
        self.load.show("written", sum(content.n_bytes for content in self.contents) / 4)
        gone = {content.claim.origin for content in news if content.file_no in stage.gone}
        settled = self.load.settled(
            "removed" if gone and held.sources.keys() <= gone else _status(news, held),
            self.faults,
            [*self.notes, *stage.notes],
            n_files=len(news),
            n_unchanged=self.n_unchanged + len(self.sound) - len(news),
            n_broken=self.n_broken,
            n_scores=sum(n_scores.get(content.file_no, 0) for content in news),
            n_rows=sum(stage.n_rows[content.file_no] for content in news),
            n_missing=sum(stage.n_missing[content.file_no] for content in news),
        )
        return replace(settled, report=replace(settled.report, seconds=seconds))


@dataclass(frozen=True)
class EvalsetLoad:
    """The load of one evaluation set: from the claimed files to its line in the report.

    n_unread: files and folders next to the claimed files that were skipped because of a fault listed in the report.
    """

    testset: str
    lp: str
    files: Sequence[Claim | OpenFile]
    skip_broken: bool
    gauge: Gauge
    n_unread: int = 0

    @property
    def n_bytes(self) -> float:
        """Bytes of the files that belong to this evaluation set."""
        return math.fsum(map(share, self.files))

    def stage(
        self, contents: Sequence[Content], held: Holdings, known: KnownEvalsets, batch: Batch
    ) -> StagedEvalset | EvalsetOutcome:
        """Read the files and stage new data; or return the outcome if nothing has to be written.

        contents: result of `inspected`.
        """
        started = time.perf_counter()
        outcome = self.read_in(contents, held, known, batch)
        seconds = time.perf_counter() - started
        if isinstance(outcome, StagedEvalset):
            return replace(outcome, seconds=seconds)
        return replace(outcome, report=replace(outcome.report, seconds=seconds))

    def show(self, what: str, n_bytes: float = 0) -> None:
        """Show the current step for this evaluation set, and add to the bytes done."""
        self.gauge.show(f"{self.testset} {self.lp}: {what}", n_bytes)

    def inspected(self, batch: Batch) -> list[Content]:
        """The files with their checksums."""
        contents = []
        for number, file in zip(batch.new_files(len(self.files)), self.files, strict=True):
            self.show("reading files")
            if isinstance(file, OpenFile):
                contents.append(file.of((self.testset, self.lp), number))
                continue
            contents.append(inspect(file, number))
            self.show("reading files", contents[-1].n_bytes / 2)
        return contents

    def read_in(
        self, contents: Sequence[Content], held: Holdings, known: KnownEvalsets, batch: Batch
    ) -> StagedEvalset | EvalsetOutcome:
        """Read new and changed files."""
        n_bytes = sum(content.n_bytes for content in contents)
        distinct, doubtful, notes = _distinct(contents)
        if doubtful and not self.skip_broken:
            return self.settled("refused", doubtful, notes, n_broken=len({fault.path for fault in doubtful}))
        if not distinct:
            return self.settled("refused", doubtful, notes, n_broken=len(contents))
        declared, wrong, more = _declared(self.testset, contents)
        notes += more
        if wrong:
            return self.settled("refused", [*doubtful, *wrong], notes, n_broken=len(wrong))
        fresh = [one if one.opened is None else one.opened.read(one) for one in held.fresh(distinct)]
        n_unchanged = len(distinct) - len(fresh)
        if not fresh and held.agrees_with(declared):
            self.show("nothing new", n_bytes / 2)
            if self.n_unread and not self.skip_broken:
                return self.settled("refused", doubtful, notes, n_broken=self.n_unread)
            return self.settled("unchanged", doubtful, notes, n_unchanged=n_unchanged, n_broken=self.n_unread)
        stage = self._staged(fresh, held, known, declared, batch)
        had = {content.file_no for content in fresh if content.claim.origin in held.loaded}
        stage.gone = frozenset(file_no for file_no in had if not stage.n_rows[file_no])
        self.show("reading scores", n_bytes / 4)
        return StagedEvalset(self, stage, contents, declared, held, fresh, doubtful, notes, n_unchanged, 0.0)

    def settled(self, status: Status, faults: Iterable[Fault], notes: Iterable[str], **counts: int) -> EvalsetOutcome:
        """The outcome without writing."""
        return EvalsetOutcome(EvalsetReport(self.testset, self.lp, status, **counts), tuple(faults), tuple(notes))

    def _staged(
        self,
        contents: Sequence[Content],
        held: Holdings,
        known: KnownEvalsets,
        declared: TestsetFacts | None,
        batch: Batch,
    ) -> Stage:
        """The staged content of the files."""
        origins = [content.claim.origin for content in contents]
        stage = batch.stage(known.of(held, origins), [content.file_no for content in contents])
        for content in contents:
            for fault in content.faults or own_looking(content, declared):
                stage.fault(content.file_no, fault)
        for name in dict.fromkeys(content.claim.reader for content in contents if content.opened is None):
            reader_named(name).read([content for content in contents if content.claim.reader == name], stage)
        stage_records(contents, stage, declared.evalset(self.lp).aliases if declared else {})
        stage.write_systems()
        return stage


def _status(news: Sequence[Content], held: Holdings) -> Status:
    """The status that results from the loaded files, except those read again only because others changed."""
    if not held.loaded and news:
        return "loaded"
    if any(content.claim.origin in held.loaded for content in news):
        return "replaced"
    return "added" if news else "updated"


def _declared(testset: str, contents: Iterable[Content]) -> tuple[TestsetFacts | None, list[Fault], list[str]]:
    """Declarations of the test set in its files' folders (which must agree), or in the package; with faults.

    Tables may be next to declarations of another test set, which is noted. Files of the user metric declare nothing.
    """
    layouts: dict[Path, None] = {}
    tables: dict[Path, None] = {}
    notes: list[str] = []
    for content in contents:
        if content.opened is None:
            layouts[content.claim.root / FACTS_FILE] = None
        elif not content.claim.is_own and (beside := facts_file(content.claim.root)) is not None:
            tables[beside] = None
    telling: list[tuple[Path, TestsetFacts]] = []
    for path in dict.fromkeys([*layouts, *tables]):
        try:
            found = declared_facts(testset, path.parent) if path in layouts else read_facts(path)
        except SourceError as error:
            return None, [Fault(str(path), 0, error.reason)], notes
        if found is None or not path.is_file():
            continue
        if found.name != testset:
            notes.append(f"{path} describes {found.name}; it is not applied to {testset}, whose files are next to it")
        elif telling and found != telling[0][1]:
            what = f"describes {testset} differently from {telling[0][0]}"
            return None, [Fault(str(path), 0, what, "one content", "load only one of them")], notes
        else:
            telling.append((path, found))
    return telling[0][1] if telling else packaged_facts(testset), [], notes


def _text(content: Content) -> bytes:
    return content.claim.path.read_bytes().replace(b"\r\n", b"\n")


def _distinct(contents: Sequence[Content]) -> tuple[list[Content], list[Fault], list[str]]:
    """The first of several files with one origin, if all are identical up to line ends; else none, and faults."""
    by_origin: dict[str, list[Content]] = {}
    for content in contents:
        by_origin.setdefault(content.claim.origin, []).append(content)
    kept, faults, notes = [], [], []
    for origin, same in by_origin.items():
        first, *others = same
        if len({content.sha256 for content in same}) == 1 or len({_text(content) for content in same}) == 1:
            kept.append(first)
            notes += [f"{other.claim.path} is the same as {first.claim.path}, which is loaded once" for other in others]
            continue
        texts = [_text(content) for content in same]
        for content, text in zip(same, texts, strict=True):
            beside = same[next(at for at, other in enumerate(texts) if other != text)]
            what = f"is {origin} with different content from {beside.claim.path}"
            faults.append(Fault(str(content.claim.path), 0, what, "one content", "load only one of them"))
    first_of: dict[str, Content] = {}
    for content in kept:
        first = first_of.setdefault(content.sha256, content)
        if first is not content and content.opened is not None:
            notes.append(f"{content.claim.path} has the same content as {first.claim.path}, under another name")
    return kept, faults, notes


def own_looking(content: Content, declared: TestsetFacts | None) -> list[Fault]:
    """A fault for each metric of a table that is neither in the test set's lists nor in the registry.

    declared: None, or without lists of metrics; then such a metric cannot be mistaken for a submitted one.
    """
    if declared is None or declared.primary is None or content.records is None:
        return []
    if not content.claim.is_table or content.claim.is_own:
        return []
    labels = content.records.labels
    assert labels is not None
    listed = declared.primary | declared.baseline
    listed |= {name for evalset in declared.lps.values() for name in evalset.extra_primary}
    first = labels.filter(kind="metric").group_by("scorer", maintain_order=True).first()
    return [
        Fault(
            str(content.claim.path),
            line,
            f"metric {name!r}, which was not in {declared.name}",
            "metrics of the shared task",
            f"a metric of your own: scorehouse add {content.claim.path.name} {option('metric', name)}",
        )
        for name, line in first.select("scorer", "line").iter_rows()
        if name not in listed and not describe(name).is_known
    ]
