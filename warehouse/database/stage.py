"""The stage: content of files in memory, in the warehouse's form, before anything is written.

Evaluation sets written in one transaction form a batch and share staging tables; each has its own stage in them.
Numbers of files, vectors and judgements are unique within the batch, so that rows identify their owner.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import polars as pl

from warehouse.database import statement
from warehouse.database.frames import insert
from warehouse.errors import Fault

_MOST_GATHERED = 1_000_000  # rows that wait for their table
_OF_FILES = "file_no IN (SELECT unnest($files))"
_DROPS = (
    f"DELETE FROM temp.staged_text WHERE {_OF_FILES}",
    f"DELETE FROM temp.staged_system WHERE {_OF_FILES}",
    f"DELETE FROM temp.staged_segment WHERE is_declared AND {_OF_FILES}",
)
_STAGE_DROPS = (
    "DELETE FROM temp.staged_spelling WHERE evalset_no IN (SELECT unnest($evalsets))",
    "DELETE FROM temp.staged_renumbering WHERE evalset_no IN (SELECT unnest($evalsets))",
)
_CHOSEN = "vector_no IN (SELECT unnest($vectors))"
_VECTOR_DROPS = (
    f"""
    DELETE FROM temp.staged_span
    WHERE judgement_no IN (SELECT judgement_no FROM temp.staged_judgement WHERE {_CHOSEN})
    """,
    """
    DELETE FROM temp.staged_preference
    WHERE vector_a IN (SELECT unnest($vectors)) OR vector_b IN (SELECT unnest($vectors))
    """,
    *(f"DELETE FROM temp.staged_{table} WHERE {_CHOSEN}" for table in ("judgement", "score", "aggregate", "vector")),
)

Documents = tuple[tuple[str | None, str | None], ...]  # (domain, document) of each segment, in test-set order


@dataclass(frozen=True)
class Evalset:
    """The evaluation set that is being staged, and the warehouse's data on it.

    documents: of its segments if declared; empty otherwise. systems: systems for which the warehouse
        has texts of. names: all systems. spellings: of systems, each with its system; names stand for themselves.
    fixed: systems that files of the organisers' layout name. segments: (number, line, document, index, domain) of
        each, without a line if the number is provisional. is_declared: whether a file declares the segments.
    """

    testset: str
    lp: str
    documents: Documents = ()
    systems: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    spellings: Mapping[str, str] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    segments: tuple[tuple[int, int | None, str | None, int | None, str | None], ...] = ()
    is_declared: bool = False


class Batch:
    """Staging tables shared by evaluation sets, on one connection; the first stage clears earlier content.

    Frames are collected and inserted together, before the first query on the tables.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.stages: list[Stage] = []
        self._gathered: dict[str, list[pl.DataFrame]] = defaultdict(list)
        self._n_gathered = 0
        self._added: set[str] = set()
        self._n_files = 0
        self._n_vectors = 0
        self._n_judgements = 0
        self._is_laid_out = False

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection, with all collected frames in its tables."""
        self._lay_out()
        return self._connection

    def stage(self, evalset: Evalset, file_numbers: Iterable[int] = ()) -> "Stage":
        """Add a stage for an evaluation set to which some files contribute."""
        if not self._is_laid_out:
            self._connection.execute(statement(__package__, "stage"))
            self._is_laid_out = True
        self.stages.append(Stage(self, len(self.stages), evalset, frozenset(file_numbers)))
        return self.stages[-1]

    def stage_of(self, file_no: int) -> "Stage":
        """The stage to which a file contributes."""
        return next(stage for stage in self.stages if file_no in stage.file_numbers)

    def new_files(self, n: int) -> range:
        """Numbers for n further files."""
        self._n_files += n
        return range(self._n_files - n, self._n_files)

    def new_vectors(self, n: int) -> range:
        """Numbers for n further vectors."""
        self._n_vectors += n
        return range(self._n_vectors - n, self._n_vectors)

    def new_judgements(self, n: int) -> range:
        """Numbers for n further judgements."""
        self._n_judgements += n
        return range(self._n_judgements - n, self._n_judgements)

    def add(self, table: str, frame: pl.DataFrame) -> None:
        """Append rows to `temp.staged_<table>`."""
        if not frame.is_empty():
            self._added.add(table)
            self._gathered[table].append(frame)
            self._n_gathered += frame.height
        if self._n_gathered > _MOST_GATHERED:
            self._lay_out()

    def has(self, table: str) -> bool:
        """Whether rows were appended to `temp.staged_<table>`."""
        return table in self._added

    def _lay_out(self) -> None:
        gathered, self._gathered, self._n_gathered = self._gathered, defaultdict(list), 0
        for table, frames in gathered.items():
            alike: dict[tuple[str, ...], list[pl.DataFrame]] = defaultdict(list)
            for frame in frames:
                alike[tuple(frame.columns)].append(frame)
            for same in alike.values():
                insert(self._connection, f"temp.staged_{table}", pl.concat(same, how="vertical_relaxed"))

    def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        return self.connection.execute(query, dict(parameters or {})).fetchall()

    def n_scores(self) -> dict[int, int]:
        """Number of segment scores with a value, for each file that has any."""
        query = """
            SELECT file_no, sum(n_values)::BIGINT
            FROM temp.staged_vector
            WHERE level = 'seg'
            GROUP BY file_no
            """
        return dict(self.rows(query))

    def drop_vectors(self, vectors: Sequence[int]) -> None:
        """Remove some vectors with their scores and judgements from the stage."""
        for deletion in _VECTOR_DROPS if vectors else ():
            self.connection.execute(deletion, {"vectors": list(vectors)})

    def drop_files(self, file_numbers: Sequence[int]) -> None:
        """Remove all data of some files from the stage."""
        if not file_numbers:
            return
        files = {"files": list(file_numbers)}
        self.drop_vectors(
            [n for (n,) in self.rows(f"SELECT vector_no FROM temp.staged_vector WHERE {_OF_FILES}", files)]
        )
        for deletion in _DROPS:
            self.connection.execute(deletion, files)

    def drop_stages(self, stages: Sequence["Stage"]) -> None:
        """Remove whole evaluation sets from the stage."""
        files = [file_no for stage in stages for file_no in stage.file_numbers]
        self.drop_files(files)
        if files:
            self.connection.execute(f"DELETE FROM temp.staged_segment WHERE {_OF_FILES}", {"files": files})
        for deletion in _STAGE_DROPS if stages else ():
            self.connection.execute(deletion, {"evalsets": [stage.evalset_no for stage in stages]})
        self.stages = [stage for stage in self.stages if stage not in stages]


class Stage:
    """One evaluation set on the stage, with the faults that readers and checks found.

    segments: frames of segments that files declare or scores name; n_segments: their number after this load.
    n_lines: number of lines in files of the organisers' layout, if no file declares the segments.
    renamed: systems of the warehouse that get another name. gone: files without rows of the evaluation set whose
    earlier versions had some.
    """

    def __init__(self, batch: Batch, evalset_no: int, evalset: Evalset, file_numbers: frozenset[int]) -> None:
        self.batch = batch
        self.evalset_no = evalset_no
        self.evalset = evalset
        self.file_numbers = file_numbers
        self.faults: dict[int, list[Fault]] = defaultdict(list)
        self.n_rows: dict[int, int] = defaultdict(int)
        self.n_missing: dict[int, int] = defaultdict(int)
        self.gone: frozenset[int] = frozenset()
        self.notes: list[str] = []
        self.segments: list[pl.DataFrame] = []
        self.n_segments = 0
        self.n_lines = 0
        self.renamed: dict[str, str] = {}
        self._systems: dict[int, dict[str, str]] = {}
        self._spellings: dict[str, tuple[str, str]] = {}
        self._declared: set[str] = set()

    def fault(self, file_no: int, fault: Fault) -> None:
        self.faults[file_no].append(fault)

    def add(self, table: str, frame: pl.DataFrame) -> None:
        """Append rows to `temp.staged_<table>`; rows of segments are also kept in `segments`."""
        if table == "segment" and not frame.is_empty():
            self.segments.append(frame)
        self.batch.add(table, frame)

    def add_systems(self, file_no: int, systems: Mapping[str, str]) -> None:
        """Note systems with data in a file: name -> kind (mt, human, qc)."""
        self._systems.setdefault(file_no, {}).update(systems)

    def add_spellings(self, spellings: Mapping[str, tuple[str, str]]) -> None:
        """Note spellings in files: spelling -> system, and the rule that joined them."""
        self._spellings.update(spellings)

    @property
    def systems(self) -> frozenset[str]:
        """Systems with data in the files read so far."""
        return frozenset(name for systems in self._systems.values() for name in systems)

    def files_naming(self, system: str) -> list[int]:
        """Numbers of the files with data of a system."""
        return [file_no for file_no, systems in self._systems.items() if system in systems]

    def declare_systems(self, names: Iterable[str]) -> None:
        """Declare the systems; score files may name only these and the systems of `evalset`."""
        self._declared.update(names)

    @property
    def known_systems(self) -> frozenset[str]:
        """Systems that score files may name; empty if none are declared."""
        return self.evalset.systems | self._declared

    def write_systems(self) -> None:
        """Stage the noted systems and spellings, after all files are read."""
        rows = [(file_no, name, kind) for file_no, systems in self._systems.items() for name, kind in systems.items()]
        spellings = [
            (self.evalset_no, spelling, system, rule) for spelling, (system, rule) in sorted(self._spellings.items())
        ]
        columns = {"evalset_no": pl.Int32, "spelling": pl.String, "system": pl.String, "rule": pl.String}
        self.add("spelling", pl.DataFrame(spellings, schema=columns, orient="row"))
        self.add(
            "system",
            pl.DataFrame(rows, schema={"file_no": pl.Int32, "name": pl.String, "kind": pl.String}, orient="row"),
        )
