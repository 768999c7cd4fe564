"""A small warehouse that records are staged for and written into, without score files and without a load around."""

import contextlib
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from tests.sharing import empty_bytes
from warehouse.database.opening import find_tables
from warehouse.database.stage import Batch, Evalset, Stage
from warehouse.errors import Fault
from warehouse.readers.claims import Claim
from warehouse.readers.contents import Content
from warehouse.readers.records import Records
from warehouse.staging.holdings import known_evalsets
from warehouse.staging.record_staging import stage_records
from warehouse.writing.transaction import write_batch

TESTSET, LP = "t24", "en-de"
_KEY = (TESTSET, LP)
Row = Mapping[str, Any]


def claim(origin: str, **fields: Any) -> Claim:
    """A claim on a file that there need not be."""
    plain = Claim(path=Path(origin), reader="wmt-da/1", origin=origin, evalsets=(_KEY,), folder=Path())
    return replace(plain, **fields)


def scores(rows: Iterable[tuple[str, int | None, float | None]], metric: str = "M", **columns: object) -> list[Row]:
    """Segment scores of a metric that saw no reference: system, line of the segment, value."""
    common = {"kind": "metric", "scorer": metric, "level": "seg", **columns}
    return [{**common, "system": system, "segment": segment, "value": value} for system, segment, value in rows]


@dataclass
class File:
    """What one file brings: rows of its records, without test set and language pair; and fields of its claim."""

    origin: str
    scores: Sequence[Row] = ()
    judgements: Sequence[Row] = ()
    ratings: Sequence[Row] = ()
    segments: Sequence[Row] = ()
    from_judgements: bool = False
    claim: Mapping[str, Any] = field(default_factory=dict)

    def content(self, file_no: int) -> Content:
        """As a load reads it."""
        named = claim(self.origin, **self.claim)
        frames = [
            pl.DataFrame(
                [{"testset": TESTSET, "lp": LP, "line": line, **row} for line, row in enumerate(rows, start=1)],
                infer_schema_length=None,
            )
            if rows
            else None
            for rows in (self.scores, self.judgements, self.segments)
        ]
        records = Records(
            scores=frames[0],
            judgements=frames[1],
            segments=frames[2],
            ratings=pl.DataFrame(list(self.ratings), infer_schema_length=None) if self.ratings else None,
            scores_from_judgements=self.from_judgements,
        ).normal(named.path)
        assert not records.faults, records.faults
        return Content(named, file_no, sha256="0", n_bytes=1, n_lines=1, records=records)


def _end(connection: duckdb.DuckDBPyConnection, ending: contextlib.ExitStack) -> None:
    with ending, contextlib.suppress(duckdb.Error):
        connection.execute("USE memory; DETACH warehouse_file")


class Memory:
    """A warehouse of one evaluation set, which nobody else has."""

    def __init__(self) -> None:
        ending = contextlib.ExitStack()
        empty = Path(ending.enter_context(tempfile.TemporaryDirectory()), "empty.duckdb")
        empty.write_bytes(empty_bytes())
        self.connection = ending.enter_context(duckdb.connect())
        weakref.finalize(self, _end, self.connection, ending)
        self.connection.execute(f"ATTACH '{empty}' AS warehouse_file; USE warehouse_file")
        find_tables(self.connection)

    def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        return self.connection.execute(query, dict(parameters or {})).fetchall()

    def staged(self, *files: File, aliases: Mapping[str, str] | None = None) -> tuple[Stage, list[Content]]:
        """The files on a stage beside what the warehouse has; nothing is written."""
        batch = Batch(self.connection)
        batch.memory = self  # type: ignore[attr-defined]  # its connection ends with it
        contents = [file.content(number) for number, file in zip(batch.new_files(len(files)), files, strict=True)]
        held = self.rows("SELECT 1 FROM evalset")
        known = known_evalsets(self.rows, [_KEY])[_KEY] if held else Evalset(*_KEY)
        stage = batch.stage(known, [content.file_no for content in contents])
        stage_records(contents, stage, aliases or {})
        stage.write_systems()
        return stage, contents

    def write(self, *files: File, aliases: Mapping[str, str] | None = None) -> tuple[Stage, list[Fault]]:
        """The files staged and written; the stage, and where they contradict what the warehouse has (nothing is
        written then)."""
        stage, contents = self.staged(*files, aliases=aliases)
        assert not stage.faults, stage.faults
        return stage, write_batch(stage.batch, {0: None}, contents).get(0, [])


def found(stage: Stage) -> list[tuple[str, int, str]]:
    """Faults on a stage: path, line, what was found."""
    return sorted((fault.path, fault.line, fault.found) for faults in stage.faults.values() for fault in faults)
