"""Exported Parquet opened for questions: the same tables and views as a warehouse file, read in place."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import duckdb

from warehouse.database import statement
from warehouse.database.buckets import Bucket
from warehouse.database.connection import Warehouse
from warehouse.database.opening import INTERNAL, literal, pattern, plain_path
from warehouse.database.updating import apply_migrations, in_memory
from warehouse.errors import SourceError
from warehouse.export.exported import EvalsetKey, is_unfinished
from warehouse.export.parquet import (
    TABLE_COLUMNS,
    Manifest,
    check_files,
    is_export,
    listed,
    partition_file,
    read_manifest,
)
from warehouse.names import LARGEST_SCORE
from warehouse.writing.evalsets import register

Kind = TypeVar("Kind", bound=Warehouse)
_IN_MEMORY = ("system", "system_spelling", "segment", "entry", "vector", "source", "aggregate_score")
_IN_PLACE = ("segment_text", "score", "judgement", "span", "preference")
"""Tables that may be large: views of the files, of which a question reads what it needs."""
_ORDERED = ("span",)  # tables whose rows are told apart by their place


def exported_evalsets(folder: Path) -> Manifest:
    """The manifest's record of each evaluation set in a folder that `export` wrote.

    Raises SourceError: not an export, or an unfinished one.
    """
    if not isinstance(folder, Bucket) and ":/" in str(folder):
        raise SourceError(f"{folder}: a URL; expected a folder on a path of this machine, or s3://BUCKET/PREFIX")
    if not is_export(folder):
        found = "no exported Parquet" if folder.is_dir() else "a file" if folder.exists() else "no such folder"
        raise SourceError(f"{folder}: {found}; `scorehouse export DIR` writes a folder of exported Parquet")
    if is_unfinished(folder):
        raise SourceError(f"{folder}: an unfinished export; export it again")
    return read_manifest(folder)


def open_export(
    folder: Path,
    evalsets: Collection[tuple[str, str]] | None = None,
    kind: type[Kind] = Warehouse,  # type: ignore[assignment]
) -> Kind:
    """Open a folder that `export` wrote as a warehouse; only these evaluation sets, or all of them.

    The connection can access only the files that are opened. They are compared with the manifest.
    Raises SourceError: not an export, an unfinished one, or files that are missing, changed, or have impossible
    content.
    """
    manifest = exported_evalsets(folder)
    if evalsets is not None:
        manifest = {place: manifest[place] for place in evalsets}
    check_files(folder, manifest)
    with ExitStack() as stack:
        connection = stack.enter_context(in_memory(None, [plain_path(file) for file in listed(folder, manifest)]))
        apply_migrations(connection, str(folder))
        try:
            _fill_tables(connection, folder, manifest)
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            raise SourceError(f"{folder}: it has rows that no warehouse can hold: {first}") from error
        return kind(connection, folder, stack.pop_all())
    raise AssertionError


@dataclass(frozen=True)
class Batch:
    """Partitions with identifiers of one warehouse, and the offsets that keep identifiers of batches distinct."""

    folder: Path
    keys: Sequence[EvalsetKey]
    manifest: Manifest
    shift: Mapping[str, int]

    def rows(self, table: str) -> str | None:
        """The rows of a table as a table function of DuckDB; None if there are none."""
        files = [
            literal(pattern(plain_path(partition_file(self.folder, table, key))))
            for key in self.keys
            if table in self.manifest[key.testset, key.lp].files
        ]
        more = "hive_partitioning = false, union_by_name = true, filename = true, file_row_number = true"
        return f"read_parquet([{', '.join(files)}], {more})" if files else None

    def select(
        self, connection: duckdb.DuckDBPyConnection, table: str, new: Mapping[str, str], more: Sequence[str] = ()
    ) -> str | None:
        """A query for the rows of a table, with its columns, and more. new: SQL for values not in the files."""
        if (rows := self.rows(table)) is None:
            return None
        there = {name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()}
        columns = []
        for name, kind in connection.execute(_TYPES, {"table": table}).fetchall():
            value = new.get(name) or (f'p."{name}"' if name in there else "NULL")
            if shift := self.shift.get(_IDENTIFIERS.get(name, "")):
                value += f" + {shift:d}"
            if kind == "DOUBLE":
                is_sound = f"{value} IS NULL OR abs({value}) <= {LARGEST_SCORE!r}"  # neither NaN nor infinite
                value = f"CASE WHEN {is_sound} THEN {value} ELSE error('a number that no load accepts') END"
            columns.append(f'CAST({value} AS {kind}) AS "{name}"')
        return f"SELECT {', '.join([*columns, *more])} FROM {rows} AS p"


_TYPES = TABLE_COLUMNS.replace("SELECT name", "SELECT name, type")
IDENTIFIED = ("evalset", "source", "system", "vector", "judgement")  # tables whose rows have an identifier
_IDENTIFIERS = {
    **{f"{name}_id": name for name in IDENTIFIED},
    "vector_a": "vector",
    "vector_b": "vector",
}


def _fill_tables(connection: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> None:
    """Fill the tables, or make views in their place."""
    views: dict[str, list[str]] = {table: [] for table in _IN_PLACE}
    shift: dict[str, int] = {}
    for batch in sorted({partition.batch for partition in manifest.values()}):
        keys = [EvalsetKey(0, *place) for place, partition in sorted(manifest.items()) if partition.batch == batch]
        one = write_batch(connection, Batch(folder, keys, manifest, dict(shift)), _IN_MEMORY)
        for table in _IN_PLACE:
            more = ["p.file_row_number AS rowid"] if table in _ORDERED else []
            if (query := one.select(connection, table, {}, more)) is not None:
                views[table].append(query)
        for name, table in (("evalset", "evalset"), ("source", "source"), ("system", "system"), ("vector", "vector")):
            ((last,),) = connection.execute(f"SELECT coalesce(max({name}_id), 0) FROM {table}").fetchall()
            shift[name] = last
        if (rows := one.rows("judgement")) is not None:
            ((last,),) = connection.execute(f"SELECT max(judgement_id) FROM {rows}").fetchall()
            shift["judgement"] = shift.get("judgement", 0) + last
    for table, queries in views.items():
        if queries:
            connection.execute(f"DROP TABLE {INTERNAL}.{table}")
            connection.execute(f"CREATE VIEW {INTERNAL}.{table} AS {' UNION ALL '.join(queries)}")
    register(connection, [number for (number,) in connection.execute("SELECT evalset_id FROM evalset").fetchall()])


def write_batch(connection: duckdb.DuckDBPyConnection, batch: Batch, tables: Sequence[str]) -> Batch:
    """Write a batch's test sets, evaluation sets, scorers and these tables; the batch in the warehouse's order."""
    one = _evalsets(connection, batch)
    _scorers(connection, one)
    scorer = {"scorer_id": "(SELECT m.new_id FROM temp.batch_scorer AS m WHERE m.old_id = p.scorer_id)"}
    for table in tables:
        if (query := one.select(connection, table, scorer)) is not None:
            place = _by_file({_path(one, table, key): str(number) for number, key in enumerate(one.keys)})
            connection.execute(f"INSERT INTO {table} {query} ORDER BY {place}, p.file_row_number")
    connection.execute("DROP TABLE temp.batch_scorer")
    return one


def _path(batch: Batch, table: str, key: EvalsetKey) -> str:
    return plain_path(partition_file(batch.folder, table, key))


def _by_file(values: Mapping[str, str]) -> str:
    """SQL for a value that differs by file."""
    return f"MAP {{{', '.join(f'{literal(path)}: {value}' for path, value in values.items())}}}[p.filename]"


_NEW_TESTSET = """
    INSERT INTO testset (testset_id, name, year, description)
    SELECT (SELECT coalesce(max(testset_id), 0) + 1 FROM testset), $name, $year, $text
    WHERE $name NOT IN (SELECT name FROM testset)
"""


def _evalsets(connection: duckdb.DuckDBPyConnection, batch: Batch) -> Batch:
    """Write the test sets and evaluation sets of a batch; the batch with its partitions in the warehouse's order."""
    rows = batch.rows("evalset")
    if rows is None:
        raise SourceError(f"{batch.folder}: its manifest names no evaluation sets; export it again")
    found = connection.execute(f"SELECT evalset_id, year, description, filename FROM {rows} AS p").fetchall()
    by_path = {_path(batch, "evalset", key): key for key in batch.keys}
    ordered = sorted((evalset, year, text, by_path[path]) for evalset, year, text, path in found)
    for _, year, text, key in ordered:
        connection.execute(_NEW_TESTSET, {"name": key.testset, "year": year, "text": text})
    testsets = dict(connection.execute("SELECT name, testset_id FROM testset").fetchall())
    of = {
        "testset_id": _by_file({path: f"{testsets[key.testset]:d}" for path, key in by_path.items()}),
        "lp": _by_file({path: literal(key.lp) for path, key in by_path.items()}),
    }
    query = batch.select(connection, "evalset", of)
    connection.execute(f"INSERT INTO evalset {query} ORDER BY evalset_id")
    return Batch(batch.folder, [key for *_, key in ordered], batch.manifest, batch.shift)


def _scorers(connection: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Write the scorers of a batch that are new, and their numbers into temp.batch_scorer (old_id, new_id)."""
    connection.execute("CREATE OR REPLACE TEMP TABLE batch_scorer (old_id INTEGER, new_id INTEGER)")
    if (rows := batch.rows("scorer")) is None:
        return
    connection.execute(statement(__package__, "batch_scorer").format(rows=rows))
    query = batch.select(connection, "scorer", {"scorer_id": "m.new_id"})
    connection.execute(
        f"INSERT INTO scorer SELECT DISTINCT ON (scorer_id) * FROM ({query} JOIN batch_scorer AS m "
        "ON m.old_id = p.scorer_id) WHERE scorer_id NOT IN (SELECT scorer_id FROM scorer) ORDER BY scorer_id"
    )
