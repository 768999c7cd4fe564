"""Loading: find score files, stage evaluation sets, check them, and write a batch of them in one transaction."""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from warehouse.catalogue import FACTS_FILE, TestsetFacts, declared_facts, packaged_facts
from warehouse.checks import check_batch
from warehouse.connection import bring_up_to_date, interruptible, writing
from warehouse.errors import Fault, SourceError
from warehouse.evalset import write_batch
from warehouse.files import Found, find
from warehouse.holdings import HeldFile, Holdings, held_files, holdings, known_evalset
from warehouse.opened import Opened
from warehouse.readers import is_record_reader, reader_named
from warehouse.readers.base import Claim, Content, inspect
from warehouse.readers.records import NOTHING_GIVEN, Given
from warehouse.report import EvalsetReport, LoadReport, Status
from warehouse.stage import Batch, Stage
from warehouse.staging import stage_records

Progress = Callable[[str, int, int], None]  # what is being done, how many bytes are done, how many there are


def load(
    paths: Sequence[Path],
    database: Path,
    *,
    given: Given = NOTHING_GIVEN,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> LoadReport:
    """Load every score file at or below the paths; each evaluation set is written whole or not at all.

    database: the warehouse file; made where there is none, brought up to date where it is older than the program.
    given: what the user says of files that do not tell it themselves.
    skip_broken: load an evaluation set without its faulty files, which are recorded as refused.
    progress: called with what is being done, and how many bytes of how many are done.
    Faults do not raise: they are all in the report.
    Raises SourceError: nothing there to load. SchemaError: the database cannot be written.
    """
    started = time.perf_counter()
    found = find([Path(path) for path in paths], given)
    if not found.claims and not found.faults and not found.exports:
        raise SourceError(_nothing_found(paths, found))
    report = LoadReport(skipped=found.skipped, faults=list(found.faults), notes=list(found.notes))
    gauge = _Gauge(progress, sum(_size(claim) * max(1, len(claim.evalsets)) for claim in found.claims))
    with interruptible(), _staging_connection() as one, _staging_connection() as other:
        if database.exists() and (applied := bring_up_to_date(database, one)):
            report.notes.append(f"{database}: brought up to date with {', '.join(applied)}")
        grouped = _by_evalset(_opened(found.claims, given, database, report, gauge))
        held = holdings(database, list(grouped))
        opening = threading.Lock()
        loads = []
        for (testset, lp), files in grouped.items():
            n_unread = found.n_unread(file.root if isinstance(file, Claim) else file.claim.root for file in files)
            load_one = _EvalsetLoad(database, opening, testset, lp, files, skip_broken, gauge, n_unread)
            loads.append((load_one, held[testset, lp]))
        for settled in _pipelined(_batches(loads), (one, other), database, opening):
            report.evalsets.append(settled.report)
            report.faults += settled.faults
            report.notes += settled.notes
    _import_exports(found.exports, database, report, progress)
    report.evalsets.sort(key=lambda evalset: (evalset.testset, evalset.lp))
    report.faults = sorted(set(report.faults))
    report.notes = list(dict.fromkeys(report.notes))
    report.seconds = time.perf_counter() - started
    return report


def _import_exports(folders: Iterable[Path], database: Path, report: LoadReport, progress: Progress | None) -> None:
    """Bring folders of exported Parquet in; one that does not fit is a fault of the folder."""
    for folder in folders:
        from warehouse.export import import_parquet

        started = time.perf_counter()
        try:
            imported = import_parquet(folder, database, progress=progress)
        except SourceError as error:
            report.faults.append(Fault(str(folder), 0, str(error).removeprefix(f"{folder}: ")))
            continue
        for item in imported:
            status: Status = "unchanged" if item.status == "unchanged" else "loaded"
            seconds = (time.perf_counter() - started) / len(imported)
            is_same = status == "unchanged"
            report.evalsets.append(
                EvalsetReport(
                    item.testset,
                    item.lp,
                    status,
                    n_files=0 if is_same else item.n_files,
                    n_unchanged=item.n_files if is_same else 0,
                    n_scores=item.n_scores,
                    n_rows=item.n_rows,
                    n_missing=item.n_missing,
                    seconds=seconds,
                )
            )


def _nothing_found(paths: Sequence[Path], found: Found) -> str:
    reasons = Counter(reason for _, reason in found.skipped)
    why = "; ".join(f"{n} of them: {reason}" for reason, n in reasons.most_common(3))
    return f"{', '.join(map(str, paths))}: no score files among {len(found.skipped)} files ({why})"


@contextlib.contextmanager
def _staging_connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that may spill into a folder of its own."""
    with (
        TemporaryDirectory(prefix="scorehouse-") as folder,
        duckdb.connect(config={"temp_directory": folder}) as staged,
    ):
        yield staged


def _opened(
    claims: Iterable[Claim], given: Given, database: Path, report: LoadReport, gauge: "_Gauge"
) -> list[Claim | Opened]:
    """The claims, those of record files opened: what they bring something to is known, by the warehouse or by reading.

    Files that bring nothing at all go to the report.
    """
    files: list[Claim | Opened] = []
    for claim in claims:
        if not is_record_reader(claim.reader):
            files.append(claim)
            continue
        gauge.tell(f"reading {claim.path.name}")
        files.append(Opened.open(claim, given))
    records = [file for file in files if isinstance(file, Opened)]
    held = held_files(database, [file.claim.origin for file in records])
    unknown = []
    for file in records:
        before = held.get(file.claim.origin, HeldFile())
        if file.evalsets is None and before.is_whole(file.sha256, file.claim.reader):
            file.evalsets = before.evalsets
        elif file.evalsets is None:
            unknown.append((file, before))
    with ThreadPoolExecutor(max_workers=2) as reading:
        named = reading.map(lambda item: item[0].records.evalsets, unknown)
        for (file, before), evalsets in zip(unknown, named, strict=True):
            gauge.tell(f"reading {file.claim.path.name}", file.n_bytes / 4)
            file.evalsets = tuple(sorted({*evalsets, *before.evalsets}))
            if not file.evalsets:
                nothing = Fault(str(file.claim.path), 0, "no scores", "at least one row with a score")
                report.faults += file.faults or (nothing,)
    return files


def _by_evalset(files: Iterable[Claim | Opened]) -> dict[tuple[str, str], list[Claim | Opened]]:
    """The largest evaluation set comes first: the room that the last one leaves free in the file is the smallest."""
    grouped: dict[tuple[str, str], list[Claim | Opened]] = {}
    for file in files:
        for evalset in file.evalsets or ():
            grouped.setdefault(evalset, []).append(file)
    return dict(sorted(grouped.items(), key=lambda item: (-sum(map(_share, item[1])), item[0])))


def _size(claim: Claim) -> int:
    try:
        return claim.path.stat().st_size
    except OSError:
        return 0


def _share(file: Claim | Opened) -> float:
    """A file's bytes for each of its evaluation sets."""
    return _size(file) if isinstance(file, Claim) else file.n_bytes / len(file.evalsets or (1,))


class _Gauge:
    """Progress over all evaluation sets; it never goes back."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._telling = threading.Lock()

    def tell(self, what: str, n_bytes: float = 0) -> None:
        """Say what is being done now, and that some bytes more are done."""
        with self._telling:
            self._done = min(self._total, self._done + round(n_bytes))
            if self._progress is not None:
                self._progress(what, self._done, self._total)


@dataclass(frozen=True)
class _Settled:
    """What became of one evaluation set: its line in the report, faults and notes."""

    report: EvalsetReport
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Staged:
    """One evaluation set that is laid out and ready to be checked and written.

    contents: all files read before; changed: those with news, stale: those refused before; both are on the stage.
    doubtful, notes, n_unchanged: what is to be told of the files.
    """

    load: "_EvalsetLoad"
    stage: Stage
    contents: Sequence[Content]
    declared: TestsetFacts | None
    held: Holdings
    changed: Sequence[Content]
    stale: Sequence[Content]
    doubtful: Sequence[Fault]
    notes: Sequence[str]
    n_unchanged: int
    seconds: float

    @property
    def fresh(self) -> list[Content]:
        return [*self.changed, *self.stale]

    @property
    def broken(self) -> list[Content]:
        return [content for content in self.fresh if self.stage.faults.get(content.file_no)]

    @property
    def sound(self) -> list[Content]:
        return [content for content in self.fresh if not self.stage.faults.get(content.file_no)]

    @property
    def faults(self) -> list[Fault]:
        told = (fault for content in self.broken for fault in self.stage.faults[content.file_no])
        return [*self.doubtful, *told]

    @property
    def n_broken(self) -> int:
        return len(self.broken) + len({fault.path for fault in self.doubtful}) + self.load.n_unread

    def checked(self) -> "_Staged | _Settled":
        """Itself where it may be written, or what became of it."""
        load, told = self.load, [*self.notes, *self.stage.notes]
        lacks_segments = any(content.claim.declares == "segments" for content in self.broken)
        if lacks_segments or ((self.broken or load.n_unread) and not load.skip_broken):
            settled = load.settled("refused", self.faults, told, n_broken=self.n_broken)
        elif not self.sound and set(self.broken) <= set(self.stale) and self.held.agrees_with(self.declared):
            n_unchanged = self.n_unchanged
            settled = load.settled("unchanged", self.faults, told, n_unchanged=n_unchanged, n_broken=self.n_broken)
        else:
            return self
        return replace(settled, report=replace(settled.report, seconds=self.seconds))

    def refused(self, contradictions: Sequence[Fault], seconds: float) -> _Settled:
        """What became of it, where it contradicts the warehouse."""
        n_broken = len({fault.path for fault in contradictions})
        notes = [*self.notes, *self.stage.notes]
        settled = self.load.settled("refused", [*self.faults, *contradictions], notes, n_broken=n_broken)
        return replace(settled, report=replace(settled.report, seconds=seconds))

    def written(self, n_scores: Mapping[int, int], seconds: float) -> _Settled:
        """What became of it, once it is in the warehouse. n_scores: of each file."""
        stage, held = self.stage, self.held
        news = [content for content in self.sound if held.loaded.get(content.claim.origin) != content.identity]
        self.load.tell("written", sum(content.n_bytes for content in self.contents) / 4)
        settled = self.load.settled(
            _status(news, held),
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


Loads = Sequence[tuple["_EvalsetLoad", Holdings]]
_MOST_BYTES, _MOST_EVALSETS = 4_000_000, 16  # of one batch: what a stopped load loses, and how long the file is locked


def _batches(loads: Loads) -> Iterator[Loads]:
    """Evaluation sets that are written together: large ones alone, small ones in one transaction."""
    batch: list[tuple[_EvalsetLoad, Holdings]] = []
    n_bytes = 0.0
    for load, held in loads:
        if batch and (n_bytes + load.n_bytes > _MOST_BYTES or len(batch) == _MOST_EVALSETS):
            yield batch
            batch, n_bytes = [], 0.0
        batch.append((load, held))
        n_bytes += load.n_bytes
    if batch:
        yield batch


def _pipelined(
    batches: Iterable[Loads], connections: Sequence[duckdb.DuckDBPyConnection], database: Path, opening: threading.Lock
) -> Iterator[_Settled]:
    """Write each batch while the next one is read; they use two staging connections in turn."""
    loads = [
        _BatchLoad(connections[number % len(connections)], database, opening, batch)
        for number, batch in enumerate(batches)
    ]
    with ThreadPoolExecutor(max_workers=1) as reading:
        ahead = [reading.submit(load.stage) for load in loads[:1]]
        for number, load in enumerate(loads):
            staged = ahead.pop().result()
            ahead += [reading.submit(following.stage) for following in loads[number + 1 : number + 2]]
            yield from load.settle(staged)


@dataclass(frozen=True)
class _BatchLoad:
    """The load of some evaluation sets together. opening: held by whoever has the database open."""

    connection: duckdb.DuckDBPyConnection
    database: Path
    opening: threading.Lock
    loads: Loads

    def stage(self) -> list[_Staged | _Settled]:
        """Read the files and lay out what is news; or say what is settled without writing."""
        batch = Batch(self.connection)
        return self._checked(batch, [load.stage(held, batch) for load, held in self.loads])

    def _checked(self, batch: Batch, outcomes: Iterable["_Staged | _Settled"]) -> list["_Staged | _Settled"]:
        """Check all that is staged; what may not be written leaves the stage."""
        outcomes = list(outcomes)
        started = time.perf_counter()
        staged = [outcome for outcome in outcomes if isinstance(outcome, _Staged)]
        if not staged:
            return outcomes
        check_batch([content for one in staged for content in one.fresh], batch)
        seconds = (time.perf_counter() - started) / len(staged)
        checked = [
            replace(one, seconds=one.seconds + seconds).checked() if isinstance(one, _Staged) else one
            for one in outcomes
        ]
        kept = [one for one in checked if isinstance(one, _Staged)]
        stages = [one.stage for one in kept]
        batch.drop_stages([stage for stage in batch.stages if stage not in stages])
        batch.drop_files([content.file_no for one in kept for content in one.broken])
        return checked

    def settle(self, outcomes: Iterable["_Staged | _Settled"]) -> Iterator[_Settled]:
        """Write what is staged."""
        staged = []
        for outcome in outcomes:
            if isinstance(outcome, _Settled):
                yield outcome
            else:
                staged.append(outcome)
        while staged:
            batch = staged[0].stage.batch
            for one in staged:
                one.load.tell("writing")
            started = time.perf_counter()
            with self.opening:
                changed, refused = self._written(batch, staged)
            seconds = (time.perf_counter() - started) / len(staged)
            if not changed and not refused:
                n_scores = batch.n_scores()
                yield from (one.written(n_scores, one.seconds + seconds) for one in staged)
                return
            for one in staged:
                if one.stage.evalset_no in refused:
                    yield one.refused(refused[one.stage.evalset_no], one.seconds + seconds)
            rest = [one for one in staged if one.stage.evalset_no not in refused]
            if changed:
                again = self._again(rest)
                yield from (one for one in again if isinstance(one, _Settled))
                staged = [one for one in again if isinstance(one, _Staged)]
            else:
                batch.drop_stages([one.stage for one in staged if one not in rest])
                staged = rest

    def _written(self, batch: Batch, staged: Sequence[_Staged]) -> tuple[bool, dict[int, list[Fault]]]:
        """Write the batch in one transaction, or nothing.

        Returns whether another process changed something between staging and writing; and the faults of evaluation
        sets that contradict what the warehouse holds.
        """
        with writing(self.database, self.connection):
            now: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
            for testset, lp, origin, sha256, reader in batch.rows(
                """
                SELECT t.name, e.lp, o.origin, o.sha256, o.reader
                FROM source AS o
                JOIN evalset AS e ON e.evalset_id = o.evalset_id
                JOIN testset AS t ON t.testset_id = e.testset_id
                WHERE (t.name, e.lp) IN (
                  SELECT (n.testset, n.lp)
                  FROM (SELECT unnest($testsets::VARCHAR[]) AS testset, unnest($lps::VARCHAR[]) AS lp) AS n
                )
                """,
                {"testsets": [one.load.testset for one in staged], "lps": [one.load.lp for one in staged]},
            ):
                now.setdefault((testset, lp), {})[origin] = (sha256, reader)
            for one in staged:
                if now.get((one.load.testset, one.load.lp), {}) != {**one.held.loaded, **one.held.refused}:
                    return True, {}
            declared = {one.stage.evalset_no: one.declared for one in staged}
            return False, write_batch(batch, declared, [content for one in staged for content in one.fresh])

    def _again(self, staged: Sequence[_Staged]) -> list[_Staged | _Settled]:
        """Stage anew what was read, on what the warehouse holds now."""
        keys = [(one.load.testset, one.load.lp) for one in staged]
        with self.opening:
            held = holdings(self.database, keys)
        batch = Batch(self.connection)
        outcomes = [one.load.read_in(one.contents, held[key], batch) for one, key in zip(staged, keys, strict=True)]
        return self._checked(batch, outcomes)


@dataclass(frozen=True)
class _EvalsetLoad:
    """The load of one evaluation set: from the claimed files to its line in the report.

    opening: held by whoever has the database open. n_unread: files and folders beside the claimed files that could not
    be looked at, told in the report.
    """

    database: Path
    opening: threading.Lock
    testset: str
    lp: str
    files: Sequence[Claim | Opened]
    skip_broken: bool
    gauge: _Gauge
    n_unread: int = 0

    @property
    def n_bytes(self) -> float:
        """Of the files, as far as they are about this evaluation set."""
        return sum(map(_share, self.files))

    def stage(self, held: Holdings, batch: Batch) -> _Staged | _Settled:
        """Read the files and lay out what is news; or say what is settled without writing."""
        started = time.perf_counter()
        outcome = self.read_in(self._inspect(self.files, batch), held, batch)
        seconds = time.perf_counter() - started
        if isinstance(outcome, _Staged):
            return replace(outcome, seconds=seconds)
        return replace(outcome, report=replace(outcome.report, seconds=seconds))

    def tell(self, what: str, n_bytes: float = 0) -> None:
        """Say what is being done with this evaluation set, and that some bytes more are done."""
        self.gauge.tell(f"{self.testset} {self.lp}: {what}", n_bytes)

    def _inspect(self, files: Sequence[Claim | Opened], batch: Batch) -> list[Content]:
        contents = []
        for number, file in zip(batch.new_files(len(files)), files, strict=True):
            self.tell("reading files")
            if isinstance(file, Opened):
                contents.append(file.of((self.testset, self.lp), number))
                continue
            contents.append(inspect(file, number))
            self.tell("reading files", contents[-1].n_bytes / 2)
        return contents

    def read_in(self, contents: Sequence[Content], held: Holdings, batch: Batch) -> _Staged | _Settled:
        """Read what is news."""
        n_bytes = sum(content.n_bytes for content in contents)
        distinct, doubtful, notes = _distinct(contents)
        if doubtful and not self.skip_broken:
            return self.settled("refused", doubtful, notes, n_broken=len({fault.path for fault in doubtful}))
        if not distinct:
            return self.settled("refused", doubtful, notes, n_broken=len(contents))
        declared, wrong = _declared(self.testset, contents)
        if wrong:
            return self.settled("refused", [*doubtful, *wrong], notes, n_broken=len(wrong))
        changed, stale = held.fresh(distinct)
        changed, stale = self._read(changed), self._read(stale)
        fresh = [*changed, *stale]
        n_unchanged = len(distinct) - len(fresh)
        if not fresh and held.agrees_with(declared):
            self.tell("nothing new", n_bytes / 2)
            if self.n_unread and not self.skip_broken:
                return self.settled("refused", doubtful, notes, n_broken=self.n_unread)
            return self.settled("unchanged", doubtful, notes, n_unchanged=n_unchanged, n_broken=self.n_unread)
        stage = self._staged(fresh, held, declared, batch)
        self.tell("reading scores", n_bytes / 4)
        return _Staged(self, stage, contents, declared, held, changed, stale, doubtful, notes, n_unchanged, 0.0)

    def _read(self, contents: Sequence[Content]) -> list[Content]:
        """The contents with the rows of record files."""
        return [content if content.opened is None else content.opened.read(content) for content in contents]

    def settled(self, status: Status, faults: Iterable[Fault], notes: Iterable[str], **counts: int) -> _Settled:
        """What became of it."""
        return _Settled(EvalsetReport(self.testset, self.lp, status, **counts), tuple(faults), tuple(notes))

    def _staged(
        self, contents: Sequence[Content], held: Holdings, declared: TestsetFacts | None, batch: Batch
    ) -> Stage:
        """What the files bring, laid out."""
        is_new = held.standards is None  # nothing to look up: no need to wait for those that are being written
        with contextlib.nullcontext() if is_new else self.opening:
            known = known_evalset(self.database, held)
        stage = batch.stage(known, [content.file_no for content in contents])
        for content in contents:
            for fault in content.faults:
                stage.fault(content.file_no, fault)
        for name in dict.fromkeys(content.claim.reader for content in contents if content.opened is None):
            reader_named(name).read([content for content in contents if content.claim.reader == name], stage)
        stage_records(contents, stage, declared.evalset(self.lp).aliases if declared else {})
        stage.write_systems()
        return stage


def _status(news: Sequence[Content], held: Holdings) -> Status:
    """What the files that came in did; those that were read again, as others changed, are no news."""
    if not held.loaded and news:
        return "loaded"
    if any(content.claim.origin in held.loaded for content in news):
        return "replaced"
    return "added" if news else "updated"


def _declared(testset: str, contents: Iterable[Content]) -> tuple[TestsetFacts | None, list[Fault]]:
    """What is declared of the test set in the folders of its files (all must agree), or by the package; and faults."""
    roots = dict.fromkeys(content.claim.root for content in contents if content.opened is None)
    if not roots:
        return packaged_facts(testset), []
    telling = [root for root in roots if (root / FACTS_FILE).is_file()] or list(roots)[:1]
    declared: list[TestsetFacts | None] = []
    for root in telling:
        path = str(root / FACTS_FILE)
        try:
            declared.append(declared_facts(testset, root))
        except SourceError as error:
            return None, [Fault(path, 0, str(error).removeprefix(f"{path}: "))]
        if declared[-1] != declared[0]:
            what = f"declares other facts of {testset} than {telling[0] / FACTS_FILE}"
            return None, [Fault(path, 0, what, "one content", "load the one or the other")]
    return declared[0], []


def _distinct(contents: Sequence[Content]) -> tuple[list[Content], list[Fault], list[str]]:
    """Of files with one origin the first where all are identical; where they differ none, and each is at fault."""
    by_origin: dict[str, list[Content]] = {}
    for content in contents:
        by_origin.setdefault(content.claim.origin, []).append(content)
    kept, faults, notes = [], [], []
    for origin, same in by_origin.items():
        first, *others = same
        if len({content.sha256 for content in same}) == 1:
            kept.append(first)
            notes += [f"{other.claim.path}: the same as {first.claim.path}, taken once" for other in others]
            continue
        for content in same:
            beside = next(other for other in same if other.sha256 != content.sha256)
            what = f"is {origin} with other content than {beside.claim.path}"
            faults.append(Fault(str(content.claim.path), 0, what, "one content", "load the one or the other"))
    return kept, faults, notes
