"""The load of evaluation sets in batches: one is read while the one before is written, each in one transaction."""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from warehouse.database.stage import Batch
from warehouse.database.updating import writing
from warehouse.errors import Fault
from warehouse.loading.evalsets import EvalsetLoad, Settled, Staged
from warehouse.staging.checks import check_batch
from warehouse.staging.holdings import Holdings, KnownEvalsets, holdings, of_evalsets

Loads = Sequence[tuple["EvalsetLoad", Holdings]]
_MOST_BYTES, _MOST_EVALSETS = 8_000_000, 32  # of one batch: what a stopped load loses, and how long the file is locked


def batches(loads: Loads) -> Iterator[Loads]:
    """Evaluation sets that are written together: large ones alone, small ones in one transaction."""
    batch: list[tuple[EvalsetLoad, Holdings]] = []
    n_bytes = 0.0
    for load, held in loads:
        if batch and (n_bytes + load.n_bytes > _MOST_BYTES or len(batch) == _MOST_EVALSETS):
            yield batch
            batch, n_bytes = [], 0.0
        batch.append((load, held))
        n_bytes += load.n_bytes
    if batch:
        yield batch


def pipelined(
    batches: Iterable[Loads], connections: Sequence[duckdb.DuckDBPyConnection], database: Path
) -> Iterator[Settled]:
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
    """The load of some evaluation sets together. opening: held by whoever has the database open."""

    connection: duckdb.DuckDBPyConnection
    database: Path
    opening: threading.Lock
    loads: Loads

    def stage(self) -> Sequence[Staged | Settled]:
        """Read the files and lay out what is news; or say what is settled without writing."""
        batch = Batch(self.connection)
        known = KnownEvalsets(self.database, self.connection, self.opening, [held for _, held in self.loads])
        return self._checked(batch, known, [load.stage(held, known, batch) for load, held in self.loads])

    def _checked(
        self, batch: Batch, known: KnownEvalsets, outcomes: Sequence["Staged | Settled"]
    ) -> Sequence["Staged | Settled"]:
        """Check all that is staged; what may not be written leaves the stage.

        An evaluation set that is to be written without files in which checks found faults is staged anew without them.
        """
        started = time.perf_counter()
        staged = [outcome for outcome in outcomes if isinstance(outcome, Staged)]
        if not staged:
            return outcomes
        check_batch([content for one in staged for content in one.fresh], batch)
        seconds = (time.perf_counter() - started) / len(staged)
        checked = [
            replace(one, seconds=one.seconds + seconds).checked() if isinstance(one, Staged) else one
            for one in outcomes
        ]
        kept = [one for one in checked if isinstance(one, Staged)]
        stages = [one.stage for one in kept]
        batch.drop_stages([stage for stage in batch.stages if stage not in stages])
        batch.drop_files([content.file_no for one in kept for content in one.broken])
        late = [one for one in kept if one.has_late_faults]
        if not late:
            return checked
        batch.drop_stages([one.stage for one in late])
        anew = [
            one.load.read_in(one.marked, one.held, known, batch) if isinstance(one, Staged) and one in late else one
            for one in checked
        ]
        return self._checked(batch, known, anew)

    def settle(self, outcomes: Iterable["Staged | Settled"]) -> Iterator[Settled]:
        """Write what is staged."""
        staged = []
        for outcome in outcomes:
            if isinstance(outcome, Settled):
                yield outcome
            else:
                staged.append(outcome)
        while staged:
            batch = staged[0].stage.batch
            for one in staged:
                one.load.show("writing")
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
                yield from (one for one in again if isinstance(one, Settled))
                staged = [one for one in again if isinstance(one, Staged)]
            else:
                batch.drop_stages([one.stage for one in staged if one not in rest])
                staged = rest

    def _written(self, batch: Batch, staged: Sequence[Staged]) -> tuple[bool, dict[int, list[Fault]]]:
        """Write the batch in one transaction, or nothing.

        Returns whether another process changed something between staging and writing; and the faults of evaluation
        sets that contradict what the warehouse holds.
        """
        from warehouse.writing.transaction import write_batch  # NumPy: a load of known files writes nothing

        with writing(self.database, self.connection):
            now = of_evalsets(batch.rows, "held_sources", [(one.load.testset, one.load.lp) for one in staged])
            for one in staged:
                sources = now[one.load.testset, one.load.lp]
                if {origin: (sha256, reader) for _, origin, sha256, reader in sources} != one.held.sources:
                    return True, {}
            declared = {one.stage.evalset_no: one.declared for one in staged}
            return False, write_batch(batch, declared, [content for one in staged for content in one.fresh])

    def _again(self, staged: Sequence[Staged]) -> Sequence[Staged | Settled]:
        """Stage anew what was read, on what the warehouse holds now."""
        keys = [(one.load.testset, one.load.lp) for one in staged]
        with self.opening:
            held = holdings(self.database, self.connection, keys)
        batch = Batch(self.connection)
        known = KnownEvalsets(self.database, self.connection, self.opening, list(held.values()))
        outcomes = [
            one.load.read_in(one.contents, held[key], known, batch) for one, key in zip(staged, keys, strict=True)
        ]
        return self._checked(batch, known, outcomes)
