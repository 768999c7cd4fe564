"""Loading: find score files, stage evaluation sets, check them, and write them in batches, each in one transaction.

One batch is read while the previous one is written.
"""

import contextlib
import math
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from warehouse.database.opening import interruptible
from warehouse.database.stage import Batch
from warehouse.database.updating import bring_up_to_date, in_memory, reading, unless_nothing_came, writing
from warehouse.errors import Fault, SourceError, in_order, unknown_evalset
from warehouse.grouping import grouped
from warehouse.loading.evalsets import EvalsetLoad, EvalsetOutcome, LoadReport, StagedEvalset
from warehouse.loading.files import FoundFiles, find, size
from warehouse.loading.record_files import OpenFile, human_scores, share
from warehouse.progress import Gauge, Progress
from warehouse.readers.claims import NOTHING_GIVEN, Claim, EvalsetKey, LoadHints
from warehouse.readers.recognition import is_record_reader
from warehouse.staging.checks import check_batch
from warehouse.staging.holdings import HeldFile, Holdings, KnownEvalsets, held_files, holdings, of_evalsets
from warehouse.temporary import temporary_folder
from warehouse.wording import counted, option
from warehouse.writing.reports import EvalsetReport

Loads = Sequence[tuple["EvalsetLoad", Holdings]]
_MOST_BYTES, _MOST_EVALSETS = 8_000_000, 100  # of one batch: what a stopped load loses, and how long the file is locked


def batches(loads: Loads) -> Iterator[Loads]:
    """Evaluation sets written together: large ones alone, small ones in one transaction."""
    return grouped(loads, lambda one: one[0].n_bytes, lambda n, size: n > _MOST_EVALSETS or size > _MOST_BYTES)


def pipelined(
    batches: Iterable[Loads], connections: Sequence[duckdb.DuckDBPyConnection], database: Path
) -> Iterator[EvalsetOutcome]:
    """Write each batch while the next one is read; they use two staging connections in turn."""
    opening = threading.Lock()
    loads = [
        BatchLoad(connections[number % len(connections)], database, opening, batch)
        for number, batch in enumerate(batches)
    ]
    with ThreadPoolExecutor(max_workers=1) as reading:
        ahead = [reading.submit(load.stage) for load in loads[:1]]
        for number, load in enumerate(loads):
            staged = ahead.pop().result()
            ahead += [reading.submit(following.stage) for following in loads[number + 1 : number + 2]]
            yield from load.settle(staged)


@dataclass(frozen=True)
class BatchLoad:
    """The joint load of some evaluation sets. opening: lock held while the database is open."""

    connection: duckdb.DuckDBPyConnection
    database: Path
    opening: threading.Lock
    loads: Loads

    def stage(self) -> Sequence[StagedEvalset | EvalsetOutcome]:
        """Read the files and stage what is new; return the outcome if nothing has to be written."""
        batch = Batch(self.connection)
        known = KnownEvalsets(self.database, self.connection, self.opening, [held for _, held in self.loads])
        contents = [load.inspected(batch) for load, _ in self.loads]
        staged = [
            load.stage(files, held, known, batch) for files, (load, held) in zip(contents, self.loads, strict=True)
        ]
        return self._checked(batch, known, staged)

    def _checked(
        self, batch: Batch, known: KnownEvalsets, outcomes: Sequence["StagedEvalset | EvalsetOutcome"]
    ) -> Sequence["StagedEvalset | EvalsetOutcome"]:
        """Check all staged data; what must not be written is removed from the stage.

        An evaluation set to be written without its faulty files is staged again without them.
        """
        started = time.perf_counter()
        staged = [outcome for outcome in outcomes if isinstance(outcome, StagedEvalset)]
        if not staged:
            return outcomes
        check_batch([content for one in staged for content in one.fresh], batch)
        seconds = (time.perf_counter() - started) / len(staged)
        checked = [
            replace(one, seconds=one.seconds + seconds).checked() if isinstance(one, StagedEvalset) else one
            for one in outcomes
        ]
        kept = [one for one in checked if isinstance(one, StagedEvalset)]
        stages = [one.stage for one in kept]
        batch.drop_stages([stage for stage in batch.stages if stage not in stages])
        batch.drop_files([content.file_no for one in kept for content in one.broken])
        late = [one for one in kept if one.has_late_faults]
        if not late:
            return checked
        batch.drop_stages([one.stage for one in late])
        anew = [
            one.load.read_in(one.marked, one.held, known, batch)
            if isinstance(one, StagedEvalset) and one in late
            else one
            for one in checked
        ]
        return self._checked(batch, known, anew)

    def settle(self, outcomes: Iterable["StagedEvalset | EvalsetOutcome"]) -> Iterator[EvalsetOutcome]:
        """Write the staged data, except evaluation sets that contradict the warehouse."""
        staged = []
        for outcome in outcomes:
            if isinstance(outcome, EvalsetOutcome):
                yield outcome
            else:
                staged.append(outcome)
        while staged:
            batch = staged[0].stage.batch
            for one in staged:
                one.load.show("writing")
            started = time.perf_counter()
            with self.opening:
                refused = self._written(batch, staged)
            seconds = (time.perf_counter() - started) / len(staged)
            if not refused:
                n_scores = batch.n_scores()
                yield from (one.written(n_scores, one.seconds + seconds) for one in staged)
                return
            left = [one for one in staged if one.stage.evalset_no in refused]
            yield from (one.refused(refused[one.stage.evalset_no], one.seconds + seconds) for one in left)
            batch.drop_stages([one.stage for one in left])
            staged = [one for one in staged if one not in left]

    def _written(self, batch: Batch, staged: Sequence[StagedEvalset]) -> dict[int, list[Fault]]:
        """Write the batch in one transaction, or nothing.

        Returns the faults of evaluation sets that contradict what the warehouse holds, or that another process changed
        since they were read.
        """
        from warehouse.writing.transaction import write_batch  # NumPy: a load of known files writes nothing

        with writing(self.database, self.connection):
            now = of_evalsets(batch.rows, "held_sources", [(one.load.testset, one.load.lp) for one in staged])
            changed = {}
            for one in staged:
                where = f"{one.load.testset} {one.load.lp}"
                sources = now[one.load.testset, one.load.lp]
                if {origin: (sha256, reader) for _, origin, sha256, reader in sources} != one.held.sources:
                    found = f"another process changed {where} in the meantime"
                    changed[one.stage.evalset_no] = [Fault(str(self.database), 0, found, "one load", "load it again")]
            declared = {one.stage.evalset_no: one.declared for one in staged}
            return changed or write_batch(batch, declared, [content for one in staged for content in one.fresh])


_MEMORY = "400MB"  # of one stage; what is more lies on disk


def load(
    paths: Sequence[Path],
    database: Path,
    *,
    given: LoadHints = NOTHING_GIVEN,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> LoadReport:
    """Load every score file at or below the paths; each evaluation set is written whole or not at all.

    database: the warehouse file; created if missing, migrated if older than the program.
    given: facts stated by the user for files that do not state them.
    skip_broken: load an evaluation set without its faulty files, which are recorded as refused.
    progress: called with the current step, and with the bytes done and in total.
    Faults are not raised but listed in the report.
    Raises SourceError: nothing to load. SchemaError: the database cannot be written.
    """
    started = time.perf_counter()
    found = find([Path(path) for path in paths], given)
    if not found.claims and not found.faults and not found.exports:
        raise SourceError(_nothing_found(paths, found))
    report = LoadReport(skipped=found.skipped, faults=list(found.faults), notes=list(found.notes))
    gauge = Gauge(progress, sum(size(claim) * max(1, len(claim.evalsets)) for claim in found.claims))
    read = list(dict.fromkeys(str(claim.path) for claim in found.claims))
    with unless_nothing_came(database), interruptible(), contextlib.ExitStack() as stack:
        one = stack.enter_context(in_memory(database, read, most=_MEMORY))
        if database.exists() and (applied := bring_up_to_date(database, one)):
            report.notes.append(f"{database} was brought up to date with {', '.join(applied)}")
        folder = stack.enter_context(temporary_folder())
        opened = _opened(found.claims, given, folder, database, one, report, gauge)
        _check_human(opened, given, report.faults)
        grouped = _by_evalset(opened)
        held = holdings(database, one, list(grouped))
        if given.is_own:
            for key in [key for key in grouped if held[key].standards is None]:
                report.evalsets.append(EvalsetReport(*key, "refused", n_broken=len(grouped[key])))
                report.faults += _absent(key, grouped.pop(key), database, one)
        loads = []
        for (testset, lp), files in grouped.items():
            n_unread = found.n_unread(file.root if isinstance(file, Claim) else file.claim.root for file in files)
            load_one = EvalsetLoad(testset, lp, files, skip_broken, gauge, n_unread)
            loads.append((load_one, held[testset, lp]))
        together = list(batches(loads))
        others = [stack.enter_context(in_memory(database, read, most=_MEMORY)) for _ in together[1:2]]
        for settled in pipelined(together, [one, *others], database):
            report.evalsets.append(settled.report)
            report.faults += settled.faults
            report.notes += settled.notes
    _import_exports(found.exports, database, report, progress)
    report.evalsets.sort(key=lambda evalset: (evalset.testset, evalset.lp))
    report.faults = in_order(report.faults)
    report.notes = list(dict.fromkeys(report.notes))
    report.seconds = time.perf_counter() - started
    return report


def _absent(
    key: EvalsetKey, files: Sequence[Claim | OpenFile], database: Path, connection: duckdb.DuckDBPyConnection
) -> list[Fault]:
    """The fault if files of a user's own metric are for an evaluation set that is not in the warehouse."""
    with reading(database, connection) as ask:
        rows = ask("SELECT t.name, e.lp FROM evalset AS e JOIN testset AS t ON t.testset_id = e.testset_id", {})
    error = unknown_evalset(*key, [(testset, lp) for testset, lp in rows])
    paths = dict.fromkeys(str(file.path if isinstance(file, Claim) else file.claim.path) for file in files)
    return [Fault(path, 0, f"scores of {' '.join(key)}: {error}") for path in paths]


def _import_exports(folders: Iterable[Path], database: Path, report: LoadReport, progress: Progress | None) -> None:
    """Import folders of exported Parquet; a folder that cannot be imported is a fault."""
    for folder in folders:
        from warehouse.export import import_parquet  # brings numpy, which other loads do without

        started = time.perf_counter()
        try:
            imported = import_parquet(folder, database, progress=progress)
        except SourceError as error:
            found = error.reason if error.about == str(folder) else error.text  # else of a file in it
            report.faults.append(Fault(str(folder), 0, found))
            continue
        seconds = (time.perf_counter() - started) / len(imported) if imported else 0.0
        report.evalsets += [replace(item, seconds=seconds) for item in imported]


def _nothing_found(paths: Sequence[Path], found: FoundFiles) -> str:
    reasons = Counter(reason for _, reason in found.skipped)
    why = "; ".join(f"{n} of them: {reason}" for reason, n in reasons.most_common(3))
    why = next(iter(reasons)) if len(found.skipped) == 1 else why
    return f"{', '.join(map(str, paths))}: no score files among {counted(len(found.skipped), 'file')} ({why})"


def _opened(
    claims: Iterable[Claim],
    given: LoadHints,
    folder: Path,
    database: Path,
    connection: duckdb.DuckDBPyConnection,
    report: LoadReport,
    gauge: Gauge,
) -> list[Claim | OpenFile]:
    """The claims, with record files opened: their evaluation sets are known from the warehouse or by reading.

    Those that an earlier version of a file contributed to are among them, so that its data there are removed.
    Files that contribute nothing go to the report.
    """
    claims = list(claims)
    held = held_files(database, connection, [claim.origin for claim in claims])
    files: list[Claim | OpenFile] = []
    for claim in claims:
        if not is_record_reader(claim.reader):
            evalsets = {*claim.evalsets, *held.get(claim.origin, HeldFile()).evalsets}
            files.append(replace(claim, evalsets=tuple(sorted(evalsets))))
            continue
        gauge.show(f"reading {claim.path.name}")
        files.append(OpenFile.open(claim, given, folder))
    records = [file for file in files if isinstance(file, OpenFile)]
    unknown = []
    for file in records:
        before = held.get(file.claim.origin, HeldFile())
        if file.evalsets is None and before.is_whole(file.sha256, file.claim.reader):
            file.evalsets = before.evalsets
        elif file.evalsets is None:
            unknown.append((file, before))
    with ThreadPoolExecutor(max_workers=2) as reading:
        named = reading.map(lambda item: item[0].named, unknown)
        for (file, before), evalsets in zip(unknown, named, strict=True):
            gauge.show(f"reading {file.claim.path.name}", file.n_bytes / 4)
            file.evalsets, file.n_evalsets = tuple(sorted({*evalsets, *before.evalsets})), len(evalsets)
            if not file.evalsets:
                nothing = Fault(str(file.claim.path), 0, "no scores", "at least one row with a score")
                report.faults += file.faults or (nothing,)
    return files


def _check_human(files: Sequence[Claim | OpenFile], given: LoadHints, faults: Sequence[Fault]) -> None:
    """Raises SourceError: the user names a human score, and no file has any. Known files are not checked."""
    records = [file for file in files if isinstance(file, OpenFile)]
    has_any = any(not file.is_read or human_scores(file.records) for file in records)
    layouts = [file for file in files if isinstance(file, Claim)]
    if given.human is None or given.is_own or faults or has_any or any(file.human for file in layouts):
        return
    if not any(file.faults for file in records):
        paths = [str(file.path if isinstance(file, Claim) else file.claim.path) for file in files]
        more = f" and {counted(len(paths) - 1, 'other file')}" if len(paths) > 1 else ""
        raise SourceError(
            f"{paths[0]}{more}: no human scores to name {given.human!r}; "
            f"name their column 'human', or load it without {option('human')}"
        )


def _by_evalset(files: Iterable[Claim | OpenFile]) -> dict[tuple[str, str], list[Claim | OpenFile]]:
    """Largest evaluation sets first, so that the last one leaves the least free space in the file."""
    grouped: dict[tuple[str, str], list[Claim | OpenFile]] = {}
    for file in files:
        for evalset in file.evalsets or ():
            grouped.setdefault(evalset, []).append(file)
    return dict(sorted(grouped.items(), key=lambda item: (-math.fsum(map(share, item[1])), item[0])))
