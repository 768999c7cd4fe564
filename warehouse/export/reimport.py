"""A warehouse recreated from exported Parquet."""

from dataclasses import replace
from pathlib import Path

import duckdb

from warehouse.database.connection import Warehouse
from warehouse.database.updating import in_memory, writing
from warehouse.errors import SourceError
from warehouse.export.exported import EvalsetKey
from warehouse.export.opening import IDENTIFIED, Batch, write_batch
from warehouse.export.parquet import TABLES, Partition, check_files, read_manifest
from warehouse.progress import Progress
from warehouse.wording import option
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
    done = []
    with in_memory(database, below=folder) as connection:
        for number, ((testset, lp), partition) in enumerate(sorted(manifest.items())):
            if progress is not None:
                progress(f"{testset} {lp}: loading", number, len(manifest))
            batch = Batch(folder, [EvalsetKey(0, testset, lp)], {(testset, lp): partition}, {})
            if _is_held(connection, database, batch):
                done.append(EvalsetReport(testset, lp, "unchanged", n_unchanged=_n_rows(partition, "source")))
                continue
            with writing(database, connection):
                connection.execute("BEGIN")
                try:
                    _import(connection, batch)
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            done.append(_imported(connection, batch, partition))
    return done


def _imported(connection: duckdb.DuckDBPyConnection, batch: Batch, partition: Partition) -> EvalsetReport:
    n_scores, n_others = (
        0 if (rows := batch.rows(table)) is None else _one(connection, f"SELECT count(value) FROM {rows}")
        for table in ("score", "aggregate_score")
    )
    n_rows = sum(_n_rows(partition, table) for table in ("score", "aggregate_score"))
    ((testset, lp),) = batch.manifest
    return EvalsetReport(
        testset,
        lp,
        "loaded",
        n_files=_n_rows(partition, "source"),
        n_scores=n_scores,
        n_rows=n_rows,
        n_missing=n_rows - n_scores - n_others,
    )


def _n_rows(partition: Partition, table: str) -> int:
    return partition.files[table].rows if table in partition.files else 0


def _is_held(connection: duckdb.DuckDBPyConnection, database: Path, batch: Batch) -> bool:
    """Whether the warehouse has the evaluation set from the same files.

    Raises SourceError: it has it from other files.
    """
    if not database.exists():
        return False
    ((testset, lp),) = batch.manifest
    names = {"testset": testset, "lp": lp}
    with Warehouse.open(database) as warehouse:
        if not warehouse.rows("SELECT 1 FROM evalsets WHERE testset = $testset AND lp = $lp", names):
            return False
        here = warehouse.rows("SELECT origin, sha256 FROM sources WHERE testset = $testset AND lp = $lp", names)
    rows = batch.rows("source")
    there = [] if rows is None else connection.execute(f"SELECT origin, sha256 FROM {rows}").fetchall()
    if sorted(here) == sorted(there):
        return True
    raise SourceError(
        f"{testset} {lp} is already in {database}, from other files",
        way_out=f"name another warehouse with {option('db')}",
        about=str(batch.folder),
    )


def _one(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    """A query's number; 0 for none."""
    ((found,),) = connection.execute(query).fetchall()
    return int(found or 0)


def _import(connection: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    shift = {table: _shift(connection, batch, table) for table in IDENTIFIED}
    tables = [table for table in TABLES if table not in ("evalset", "scorer")]
    try:
        write_batch(connection, replace(batch, shift=shift), tables)
        register(connection, [_one(connection, "SELECT max(evalset_id) FROM evalset")])
    except (duckdb.ConstraintException, duckdb.ProgrammingError, duckdb.DataError) as error:
        ((testset, lp),) = batch.manifest
        raise SourceError(
            f"{testset} {lp} has rows that no warehouse can hold: {str(error).splitlines()[0]}", about=str(batch.folder)
        ) from error


def _shift(connection: duckdb.DuckDBPyConnection, batch: Batch, table: str) -> int:
    """What is added to a table's identifiers, so that those of the file follow those of the warehouse."""
    if (rows := batch.rows(table)) is None:
        return 0
    last = _one(connection, f"SELECT max({table}_id) FROM {table}")
    return last - _one(connection, f"SELECT min({table}_id) FROM {rows}") + 1
