"""A warehouse recreated from exported Parquet."""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.database.opening import literal, plain_path
from warehouse.database.updating import in_memory, writing
from warehouse.errors import SourceError
from warehouse.export.exported import EvalsetKey
from warehouse.export.parquet import (
    TABLE_COLUMNS,
    TABLES,
    Files,
    check_files,
    partition_file,
    read_manifest,
)
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
            files = partition.files
            if progress is not None:
                progress(f"{testset} {lp}: loading", number, len(manifest))
            key = EvalsetKey(0, testset, lp)
            if _is_held(connection, folder, database, key, files):
                done.append(EvalsetReport(testset, lp, "unchanged", n_unchanged=_rows(files, "source")))
                continue
            with writing(database, connection):
                connection.execute("BEGIN")
                try:
                    _import(connection, folder, key, files)
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            done.append(_imported(connection, folder, key, files))
    return done


def _imported(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey, files: Files) -> EvalsetReport:
    tables = [table for table in ("score", "aggregate_score") if table in files]
    n_rows = sum(files[table].rows for table in tables)
    counts = [
        _number(connection, f"SELECT count(value) FROM {partition_rows(folder, one, key)}") or 0 for one in tables
    ]
    n_scores = counts[0] if "score" in tables else 0
    return EvalsetReport(
        key.testset,
        key.lp,
        "loaded",
        n_files=_rows(files, "source"),
        n_scores=n_scores,
        n_rows=n_rows,
        n_missing=n_rows - sum(counts),
    )


def _rows(files: Files, table: str) -> int:
    return files[table].rows if table in files else 0


def partition_rows(folder: Path, table: str, key: EvalsetKey) -> str:
    """A partition's file as a table function of DuckDB, without columns from its path."""
    path = literal(plain_path(partition_file(folder, table, key)))
    return f"read_parquet({path}, hive_partitioning = false, file_row_number = true)"


def _is_held(
    connection: duckdb.DuckDBPyConnection, folder: Path, database: Path, key: EvalsetKey, files: Files
) -> bool:
    """Whether the warehouse has the evaluation set from the same files.

    Raises SourceError: it has it from other files.
    """
    if not database.exists():
        return False
    names: dict[str, object] = {"testset": key.testset, "lp": key.lp}
    with Warehouse.open(database) as warehouse:
        if not warehouse.rows("SELECT 1 FROM evalsets WHERE testset = $testset AND lp = $lp", names):
            return False
        here = warehouse.rows("SELECT origin, sha256 FROM sources WHERE testset = $testset AND lp = $lp", names)
    there = (
        []
        if "source" not in files
        else connection.execute(f"SELECT origin, sha256 FROM {partition_rows(folder, 'source', key)}").fetchall()
    )
    if sorted(here) == sorted(there):
        return True
    raise SourceError(
        f"{key.testset} {key.lp} is already in {database}, from other files",
        way_out=f"name another warehouse with {option('db')}",
        about=str(folder),
    )


def _number(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, object] | None = None
) -> int | None:
    row = connection.execute(query, parameters or {}).fetchone()
    return None if row is None or row[0] is None else int(row[0])


def _import(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey, files: Files) -> None:
    def shifted(table: str, column: str) -> str:
        return _shifted(connection, folder, key, table, column) if table in files else f"p.{column}"

    try:
        testset_id = _testset(connection, folder, key)
        evalset_id = _number(connection, "SELECT coalesce(max(evalset_id), 0) + 1 FROM evalset") or 1
        file = plain_path(partition_file(folder, "scorer", key))
        connection.execute(statement(__package__, "imported_scorer"), {"file": file})
        vector_id = shifted("vector", "vector_id")
        new = {
            "testset_id": f"{testset_id:d}",
            "evalset_id": f"{evalset_id:d}",
            "source_id": shifted("source", "source_id"),
            "system_id": shifted("system", "system_id"),
            "vector_id": vector_id,
            **{name: vector_id.replace("vector_id", name) for name in ("vector_a", "vector_b")},
            "judgement_id": shifted("judgement", "judgement_id"),
            "scorer_id": "(SELECT m.new_id FROM temp.imported_scorer AS m WHERE m.old_id = p.scorer_id)",
        }
        for table in TABLES:
            if table not in files:
                continue
            # scorers are shared by evaluation sets: those that the warehouse knows by name are kept
            which = "p.scorer_id IN (SELECT m.old_id FROM temp.imported_scorer AS m WHERE m.is_new)"
            _insert(connection, folder, key, table, new, which if table == "scorer" else "true")
        connection.execute("DROP TABLE temp.imported_scorer")
        register(connection, [evalset_id])
    except (duckdb.ConstraintException, duckdb.BinderException, duckdb.ConversionException) as error:
        raise SourceError(
            f"{key.testset} {key.lp} has rows that no warehouse can hold: {str(error).splitlines()[0]}",
            about=str(folder),
        ) from error


def _testset(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey) -> int:
    """The test set's identifier in the warehouse, to which it is added if missing."""
    connection.execute(
        f"""
        INSERT INTO testset (testset_id, name, year, description)
        SELECT (SELECT coalesce(max(testset_id), 0) + 1 FROM testset), $name, p.year, p.description
        FROM {partition_rows(folder, "evalset", key)} AS p
        WHERE $name NOT IN (SELECT name FROM testset)
        """,
        {"name": key.testset},
    )
    found = _number(connection, "SELECT testset_id FROM testset WHERE name = $name", {"name": key.testset})
    assert found is not None
    return found


def _shifted(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey, table: str, column: str) -> str:
    """SQL for an identifier in the warehouse: the file's identifiers follow the existing ones."""
    first = _number(connection, f"SELECT min({column}) FROM {partition_rows(folder, table, key)}") or 0
    last = _number(connection, f"SELECT max({column}) FROM {table}") or 0
    return f"p.{column} + {last - first + 1:d}"


def _insert(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    key: EvalsetKey,
    table: str,
    new: Mapping[str, str],
    which: str = "true",
) -> None:
    """Insert rows of a partition, in the order of the file. new: SQL for columns that are not copied unchanged."""
    rows = partition_rows(folder, table, key)
    there = {name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()}
    values = {
        name: new.get(name, f'p."{name}"')
        for (name,) in connection.execute(TABLE_COLUMNS, {"table": table}).fetchall()
        if name in there or name in new
    }
    if table == "evalset":
        values["lp"] = literal(key.lp)
    connection.execute(
        f"""
        INSERT INTO {table} ({", ".join(f'"{name}"' for name in values)})
        SELECT {", ".join(values.values())}
        FROM {rows} AS p
        WHERE {which}
        ORDER BY p.file_row_number
        """
    )
