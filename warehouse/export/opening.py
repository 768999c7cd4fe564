"""Exported Parquet opened for questions: the same tables and views as a warehouse file, read in place."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import duckdb

from warehouse.database import literal, statement
from warehouse.database.buckets import Bucket
from warehouse.database.connection import Warehouse
from warehouse.database.opening import INTERNAL, pattern, plain_path
from warehouse.database.updating import apply_migrations, in_memory
from warehouse.errors import SourceError
from warehouse.export.exported import EvalsetKey, is_unfinished
from warehouse.export.parquet import (
    TABLE_COLUMNS,
    TABLES,
    Manifest,
    check_files,
    is_export,
    listed,
    partition_file,
    read_manifest,
)
from warehouse.names import LARGEST_SCORE
from warehouse.wording import first_line
from warehouse.writing.evalsets import register

Kind = TypeVar("Kind", bound=Warehouse)
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
            raise SourceError(f"{folder}: it has rows that no warehouse can hold: {first_line(error)}") from error
        return kind(connection, folder, stack.pop_all())
    raise AssertionError


@dataclass(frozen=True)
class Batch:
    """Partitions with identifiers of one warehouse, and the offsets that keep identifiers of batches distinct."""

    folder: Path
    manifest: Manifest
    shift: Mapping[str, int]

    def places(self, table: str) -> list[tuple[str, str]]:
        """Evaluation sets with rows of a table."""
        return [place for place, partition in self.manifest.items() if table in partition.files]

    def rows(self, table: str) -> str | None:
        """The rows of a table as a table function of DuckDB, by partition; None if there are none."""
        paths = (partition_file(self.folder, table, EvalsetKey(0, *place)) for place in self.places(table))
        files = ", ".join(literal(pattern(plain_path(path))) for path in paths)
        more = "hive_partitioning = false, union_by_name = true, file_row_number = true"
        return f"read_parquet([{files}], {more})" if files else None

    def select(
        self, connection: duckdb.DuckDBPyConnection, table: str, new: Mapping[str, str], more: Sequence[str] = ()
    ) -> str | None:
        """A query for the rows of a table, with its columns, and more. new: SQL for values not in the files."""
        if (rows := self.rows(table)) is None:
            return None
        there = {name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()}
        columns = []
        for name, kind in connection.execute(TABLE_COLUMNS, {"table": table}).fetchall():
            value = new.get(name) or (f'p."{name}"' if name in there else "NULL")
            if shift := self.shift.get(_IDENTIFIERS.get(name, "")):
                value += f" + {shift:d}"
            if kind == "DOUBLE":
                is_sound = f"{value} IS NULL OR abs({value}) <= {LARGEST_SCORE!r}"  # neither NaN nor infinite
                value = f"CASE WHEN {is_sound} THEN {value} ELSE error('a number that no load accepts') END"
            columns.append(f'CAST({value} AS {kind}) AS "{name}"')
        return f"SELECT {', '.join([*columns, *more])} FROM {rows} AS p"


IDENTIFIED = ("evalset", "source", "system", "vector", "judgement")  # tables whose rows have an identifier
_IDENTIFIERS = {f"{name}_id": name for name in IDENTIFIED} | {"vector_a": "vector", "vector_b": "vector"}


def _fill_tables(connection: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> None:
    """Fill the tables, or make views in their place."""
    views: dict[str, list[str]] = {table: [] for table in _IN_PLACE}
    shift: dict[str, int] = {}
    batches = sorted({partition.batch for partition in manifest.values()})
    for number in batches:
        partitions = {place: one for place, one in sorted(manifest.items()) if one.batch == number}
        batch = write_batch(connection, Batch(folder, partitions, dict(shift)), but=_IN_PLACE)
        for table in _IN_PLACE:
            more = ["p.file_row_number AS rowid"] if table in _ORDERED else []
            if (query := batch.select(connection, table, {}, more)) is not None:
                views[table].append(query)
        for table in IDENTIFIED if number != batches[-1] else ():
            if (rows := batch.rows(table)) is not None:
                shift[table] = shift.get(table, 0) + number_of(connection, f"SELECT max({table}_id) FROM {rows}")
    for table, queries in views.items():
        if queries:
            connection.execute(f"DROP TABLE {INTERNAL}.{table}")
            connection.execute(f"CREATE VIEW {INTERNAL}.{table} AS {' UNION ALL '.join(queries)}")
    register(connection, [number for (number,) in connection.execute("SELECT evalset_id FROM evalset").fetchall()])


def number_of(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    """A query's number; 0 for none."""
    ((found,),) = connection.execute(query).fetchall()
    return int(found or 0)


_SCORER = "(SELECT m.new_id FROM temp.batch_scorer AS m WHERE m.old_id = p.scorer_id)"


def write_batch(connection: duckdb.DuckDBPyConnection, batch: Batch, but: Collection[str] = ()) -> Batch:
    """Write a batch's test sets, evaluation sets, scorers and other tables; the batch in the warehouse's order."""
    one = _evalsets(connection, batch)
    _scorers(connection, one)
    for table in TABLES:
        query = one.select(connection, table, {"scorer_id": _SCORER})
        if query is not None and table not in ("evalset", "scorer", *but):
            connection.execute(f"INSERT INTO {table} {query} ORDER BY p.file_index, p.file_row_number")
    connection.execute("DROP TABLE temp.batch_scorer")
    return one


_NEW_TESTSET = """
    INSERT INTO testset (testset_id, name, year, description)
    SELECT (SELECT coalesce(max(testset_id), 0) + 1 FROM testset), $name, $year, $text
    WHERE $name NOT IN (SELECT name FROM testset)
"""


def _evalsets(connection: duckdb.DuckDBPyConnection, batch: Batch) -> Batch:
    """Write the test sets and evaluation sets of a batch; the batch with its partitions in the warehouse's order."""
    rows, places = batch.rows("evalset"), batch.places("evalset")
    if rows is None:
        raise SourceError(f"{batch.folder}: its manifest names no evaluation sets; export it again")
    query = f"SELECT evalset_id, file_index, year, description FROM {rows} ORDER BY ALL"
    found = [(places[index], year, text) for _, index, year, text in connection.execute(query).fetchall()]
    for (testset, _), year, text in found:
        connection.execute(_NEW_TESTSET, {"name": testset, "year": year, "text": text})
    names, lps = (f"[{', '.join(map(literal, one))}][p.file_index::INTEGER + 1]" for one in zip(*places, strict=True))
    of = {"testset_id": f"(SELECT t.testset_id FROM testset AS t WHERE t.name = {names})", "lp": lps}
    connection.execute(f"INSERT INTO evalset {batch.select(connection, 'evalset', of)} ORDER BY evalset_id")
    return Batch(batch.folder, {place: batch.manifest[place] for place, *_ in found}, batch.shift)


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
