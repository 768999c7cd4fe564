"""A warehouse recreated from exported Parquet."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from warehouse.database.connection import Warehouse
from warehouse.database.updating import in_memory, in_one_transaction, writing
from warehouse.errors import SourceError
from warehouse.export.opening import IDENTIFIED, Batch, number_of, write_batch
from warehouse.export.parquet import check_files, read_manifest
from warehouse.progress import Progress
from warehouse.wording import first_line, option
from warehouse.writing.evalsets import register
from warehouse.writing.reports import EvalsetReport


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
