"""Exported Parquet opened for questions, as the tables and views of a warehouse file; or imported into such a file."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from warehouse.database import literal
from warehouse.database.buckets import Bucket
from warehouse.database.connection import Warehouse
from warehouse.database.opening import INTERNAL, pattern, plain_path
from warehouse.database.updating import apply_migrations, in_memory, in_one_transaction, writing
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
from warehouse.progress import Progress
from warehouse.wording import first_line, option
from warehouse.writing.evalsets import register
from warehouse.writing.reports import EvalsetReport

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


_OF_NAME = "LEFT JOIN scorer AS o ON o.kind = p.kind AND o.name = p.name"
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
    """Write the scorers of a batch that are new by name, and all their numbers into temp.batch_scorer."""
    connection.execute("CREATE OR REPLACE TEMP TABLE batch_scorer (old_id INTEGER, new_id INTEGER)")
    if (rows := batch.rows("scorer")) is not None:
        following = "(SELECT coalesce(max(scorer_id), 0) FROM scorer) + dense_rank() OVER (ORDER BY p.scorer_id)"
        new = f"{batch.select(connection, 'scorer', {'scorer_id': following})} {_OF_NAME} WHERE o.scorer_id IS NULL"
        connection.execute(f"INSERT INTO scorer SELECT DISTINCT ON (scorer_id) * FROM ({new}) ORDER BY scorer_id")
        known = f"SELECT DISTINCT p.scorer_id, o.scorer_id FROM {rows} AS p {_OF_NAME}"
        connection.execute(f"INSERT INTO batch_scorer {known}")


def import_parquet(folder: Path, database: Path, *, progress: Progress | None = None) -> list[EvalsetReport]:
    """Import every evaluation set of a folder that `export` wrote into a warehouse, which is created if missing.

    Rows are restored unchanged, with identifiers that are free in the warehouse. An evaluation set already loaded from
    the same files is left alone.
    Raises SourceError: not an export; files that are missing or differ from the manifest; an evaluation set already
    loaded from other files. Those imported before it stay. SchemaError: the database can't be written.
    """
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    held = _held(database)
    done = []
    with in_memory(database, below=folder) as connection:
        for number, (place, partition) in enumerate(sorted(manifest.items())):
            if progress is not None:
                progress(f"{' '.join(place)}: loading", number, len(manifest))
            batch = Batch(folder, {place: partition}, {})
            sources = _rows(connection, batch, "source", "origin, sha256")
            if place in held:
                if sorted(sources) != sorted(held[place]):
                    raise SourceError(
                        f"{' '.join(place)} is already in {database}, from other files",
                        way_out=f"name another warehouse with {option('db')}",
                        about=str(folder),
                    )
                done.append(EvalsetReport(*place, "unchanged", n_unchanged=len(sources)))
                continue
            with writing(database, connection), in_one_transaction(connection):
                _import(connection, batch)
            tables = ("score", "aggregate_score")
            scores, others = (_rows(connection, batch, table, "count(*), count(value)") for table in tables)
            n_rows, n_values = (sum(one[column] for one in (*scores, *others)) for column in (0, 1))
            more = {"n_scores": sum(n for _, n in scores), "n_rows": n_rows, "n_missing": n_rows - n_values}
            done.append(EvalsetReport(*place, "loaded", n_files=len(sources), **more))
    return done


def _held(database: Path) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Origins and checksums of the files of each evaluation set in the warehouse."""
    held: dict[tuple[str, str], list[tuple[str, str]]] = {}
    if database.exists():
        with Warehouse.open(database) as warehouse:
            held = {(testset, lp): [] for testset, lp in warehouse.rows("SELECT testset, lp FROM evalsets")}
            for testset, lp, *file in warehouse.rows("SELECT testset, lp, origin, sha256 FROM sources"):
                held[testset, lp].append(tuple(file))
    return held


def _rows(connection: duckdb.DuckDBPyConnection, batch: Batch, table: str, columns: str) -> list[tuple[Any, ...]]:
    rows = batch.rows(table)
    return [] if rows is None else connection.execute(f"SELECT {columns} FROM {rows}").fetchall()


def _import(connection: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Write a batch of one evaluation set, with identifiers that follow those of the warehouse."""
    shift = {}
    for table in IDENTIFIED:
        for (first,) in _rows(connection, batch, table, f"min({table}_id)"):
            shift[table] = number_of(connection, f"SELECT max({table}_id) FROM {table}") - (first or 0) + 1
    try:
        write_batch(connection, replace(batch, shift=shift))
        register(connection, [number_of(connection, "SELECT max(evalset_id) FROM evalset")])
    except (duckdb.ConstraintException, duckdb.ProgrammingError, duckdb.DataError) as error:
        (place,) = batch.manifest
        found = f"{' '.join(place)} has rows that no warehouse can hold: {first_line(error)}"
        raise SourceError(found, about=str(batch.folder)) from error
