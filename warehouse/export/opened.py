"""One evaluation set of an export, opened for questions: all but the segment scores of metrics is read into memory."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from warehouse.database.connection import Warehouse
from warehouse.database.migration import apply_migrations
from warehouse.errors import SourceError, unknown
from warehouse.export.exported import EvalsetKey
from warehouse.export.files import is_unfinished
from warehouse.export.manifest import check_partition, is_export, partition_file, read_manifest
from warehouse.export.parquet import TABLES
from warehouse.export.reimport import partition_rows, shared_columns

_READ = ("segment", "system", "scorer", "entry", "vector", "aggregate_score", "score")


@dataclass(frozen=True)
class OpenedExport:
    """One evaluation set of an export.

    catalogue: a warehouse in memory of this evaluation set alone, with the export's identifiers; of segment scores it
    has those of humans. scores: the Parquet file with all segment scores (vector_id, segment, value).
    """

    catalogue: Warehouse
    scores: Path


@contextlib.contextmanager
def open_export(folder: Path, testset: str, lp: str) -> Iterator[OpenedExport]:
    """Open one evaluation set of a folder that `export` wrote.

    Raises SourceError: no export, an unfinished one, or files that are missing or differ from its manifest.
        QuestionError: the export has no such test set or language pair.
    """
    if not is_export(folder):
        found = "no exported Parquet" if folder.is_dir() else "a file" if folder.exists() else "no such folder"
        raise SourceError(f"{folder}: {found}; `scorehouse export DIR` writes a folder of exported Parquet")
    if is_unfinished(folder):
        raise SourceError(f"{folder}: an export that was not finished; export it again")
    manifest = read_manifest(folder, TABLES)
    testsets = {name for name, _ in manifest}
    if testset not in testsets:
        raise unknown("test set", testset, testsets, where=str(folder))
    if (testset, lp) not in manifest:
        raise unknown("language pair", lp, {pair for name, pair in manifest if name == testset}, where=testset)
    key = EvalsetKey(0, testset, lp)
    files = manifest[testset, lp]
    check_partition(folder, key, {table: files[table] for table in ("evalset", *_READ)})
    with duckdb.connect() as connection:
        apply_migrations(connection, str(folder))
        try:
            _read(connection, folder, key)
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            raise SourceError(f"{folder}: {testset} {lp} has rows that no warehouse can hold: {first}") from error
        yield OpenedExport(Warehouse(connection, folder), partition_file(folder, "score", key))


def _read(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey) -> None:
    evalset = partition_rows(folder, "evalset", key)
    connection.execute(
        f"INSERT INTO testset (testset_id, name, year) SELECT 1, $testset, p.year FROM {evalset} AS p",
        {"testset": key.testset},
    )
    chosen = ", ".join(f'"{column}"' for column in shared_columns(connection, folder, key, "evalset"))
    connection.execute(
        f"INSERT INTO evalset (testset_id, lp, {chosen}) SELECT 1, $lp, {chosen} FROM {evalset}", {"lp": key.lp}
    )
    for table in _READ:
        chosen = ", ".join(f'"{column}"' for column in shared_columns(connection, folder, key, table))
        of_humans = "WHERE kind = 'human'" if table == "score" else ""
        connection.execute(
            f"""
            INSERT INTO {table} ({chosen})
            SELECT {chosen}
            FROM {partition_rows(folder, table, key)}
            {of_humans}
            ORDER BY file_row_number
            """
        )
