"""What comes back from exported Parquet: a whole warehouse, or one evaluation set opened for questions."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.database.updating import apply_migrations, in_memory, writing
from warehouse.errors import SourceError, unknown
from warehouse.export.exported import EvalsetKey, is_unfinished
from warehouse.export.parquet import (
    TABLE_COLUMNS,
    TABLES,
    Files,
    Manifest,
    check_files,
    is_export,
    partition_file,
    read_manifest,
)
from warehouse.progress import Progress
from warehouse.wording import option
from warehouse.writing.evalsets import register


@dataclass(frozen=True)
class Imported:
    """What an import did to one evaluation set: loaded, or unchanged where the same files were loaded already.

    n_files: files that it was made of; n_scores: scores of segments with a value; n_rows: all rows of scores, n_missing
    of them without a value.
    """

    testset: str
    lp: str
    status: str
    n_files: int = 0
    n_scores: int = 0
    n_rows: int = 0
    n_missing: int = 0


def import_parquet(folder: Path, database: Path, *, progress: Progress | None = None) -> list[Imported]:
    """Bring every evaluation set of a folder that `export` wrote into a warehouse, which is made where there is none.

    Rows come back as they were, with identifiers that are free in the warehouse. An evaluation set that is there
    already is left alone where it came from the same files.
    Raises SourceError: no export, files that are missing or differ from the manifest, an evaluation set that is there
        already from other files; what came before it stays. SchemaError: the database can't be written.
    """
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    done = []
    with in_memory() as connection:
        for number, ((testset, lp), files) in enumerate(sorted(manifest.items())):
            if progress is not None:
                progress(f"{testset} {lp}: loading", number, len(manifest))
            key = EvalsetKey(0, testset, lp)
            if _is_held(connection, folder, database, key):
                done.append(Imported(testset, lp, "unchanged", n_files=files["source"].rows))
                continue
            with writing(database, connection):
                connection.execute("BEGIN")
                try:
                    _import(connection, folder, key)
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            done.append(_imported(connection, folder, key, files))
    return done


def _imported(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey, files: Files) -> Imported:
    n_scores = _one(connection, f"SELECT count(value) FROM {partition_rows(folder, 'score', key)}") or 0
    n_units = _one(connection, f"SELECT count(value) FROM {partition_rows(folder, 'aggregate_score', key)}") or 0
    n_rows = files["score"].rows + files["aggregate_score"].rows
    n_missing = n_rows - n_scores - n_units
    return Imported(key.testset, key.lp, "loaded", files["source"].rows, n_scores, n_rows, n_missing)


def partition_rows(folder: Path, table: str, key: EvalsetKey) -> str:
    """A partition's file as a table function of DuckDB, without what its path tells."""
    path = str(partition_file(folder, table, key)).replace("'", "''")
    return f"read_parquet('{path}', hive_partitioning = false, file_row_number = true)"


def _is_held(connection: duckdb.DuckDBPyConnection, folder: Path, database: Path, key: EvalsetKey) -> bool:
    """Whether the warehouse has the evaluation set from the same files.

    Raises SourceError: it has it from other ones.
    """
    if not database.exists():
        return False
    names: dict[str, object] = {"testset": key.testset, "lp": key.lp}
    with Warehouse.open(database) as warehouse:
        if not warehouse.rows("SELECT 1 FROM evalsets WHERE testset = $testset AND lp = $lp", names):
            return False
        here = warehouse.rows("SELECT origin, sha256 FROM sources WHERE testset = $testset AND lp = $lp", names)
    there = connection.execute(f"SELECT origin, sha256 FROM {partition_rows(folder, 'source', key)}").fetchall()
    if sorted(here) == sorted(there):
        return True
    raise SourceError(
        f"{key.testset} {key.lp} is in {database} already, from other files",
        way_out=f"name another warehouse with {option('db')}",
        about=str(folder),
    )


def _one(connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, object] | None = None) -> int | None:
    row = connection.execute(query, parameters or {}).fetchone()
    return None if row is None or row[0] is None else int(row[0])


def _import(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey) -> None:
    try:
        evalset_id = _new_evalset(connection, folder, key)
        new = {
            "evalset_id": f"{evalset_id:d}",
            "source_id": _shifted(connection, folder, key, "source", "source_id"),
            "system_id": _shifted(connection, folder, key, "system", "system_id"),
            "vector_id": _shifted(connection, folder, key, "vector", "vector_id"),
            "judgement_id": _shifted(connection, folder, key, "judgement", "judgement_id"),
            "scorer_id": "(SELECT m.new_id FROM temp.imported_scorer AS m WHERE m.old_id = p.scorer_id)",
        }
        _map_scorers(connection, folder, key)
        for table in TABLES:
            if table not in ("evalset", "scorer"):
                _insert(connection, folder, key, table, new)
        connection.execute("DROP TABLE temp.imported_scorer")
        register(connection, [evalset_id])
    except (duckdb.ConstraintException, duckdb.BinderException, duckdb.ConversionException) as error:
        raise SourceError(
            f"{key.testset} {key.lp} has rows that no warehouse can hold: {str(error).splitlines()[0]}",
            about=str(folder),
        ) from error


def shared_columns(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey, table: str) -> list[str]:
    """Columns that both the file and the warehouse's table have."""
    own = [name for (name,) in connection.execute(TABLE_COLUMNS, {"table": table}).fetchall()]
    described = connection.execute(f"DESCRIBE SELECT * FROM {partition_rows(folder, table, key)}").fetchall()
    there = {row[0] for row in described}
    return [name for name in own if name in there]


def _new_evalset(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey) -> int:
    name: dict[str, object] = {"name": key.testset}
    source = partition_rows(folder, "evalset", key)
    testset_id = _one(connection, "SELECT testset_id FROM testset WHERE name = $name", name)
    if testset_id is None:
        testset_id = _one(connection, "SELECT coalesce(max(testset_id), 0) + 1 FROM testset")
        connection.execute(
            f"""
            INSERT INTO testset (testset_id, name, year, description)
            SELECT {testset_id}, $name, p.year, p.description
            FROM {source} AS p
            """,
            name,
        )
    evalset_id = _one(connection, "SELECT coalesce(max(evalset_id), 0) + 1 FROM evalset")
    assert evalset_id is not None
    columns = [column for column in shared_columns(connection, folder, key, "evalset") if column != "evalset_id"]
    chosen = ", ".join(f'"{column}"' for column in columns)
    connection.execute(
        f"""
        INSERT INTO evalset (evalset_id, testset_id, lp, {chosen})
        SELECT {evalset_id}, {testset_id}, $lp, {chosen}
        FROM {source}
        """,
        {"lp": key.lp},
    )
    return evalset_id


def _shifted(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey, table: str, column: str) -> str:
    """SQL for an identifier in the warehouse, where those of the file follow on those that are there."""
    first = _one(connection, f"SELECT min({column}) FROM {partition_rows(folder, table, key)}") or 0
    last = _one(connection, f"SELECT max({column}) FROM {table}") or 0
    return f"p.{column} + {last - first + 1:d}"


def _map_scorers(connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey) -> None:
    """Scorers are shared by evaluation sets: those that the warehouse knows by name are kept, the others come in."""
    source = partition_rows(folder, "scorer", key)
    file = str(partition_file(folder, "scorer", key))
    connection.execute(statement(__package__, "imported_scorer"), {"file": file})
    columns = [column for column in shared_columns(connection, folder, key, "scorer") if column != "scorer_id"]
    chosen = ", ".join(f'"{column}"' for column in columns)
    connection.execute(
        f"""
        INSERT INTO scorer (scorer_id, {chosen})
        SELECT m.new_id, {", ".join(f'p."{column}"' for column in columns)}
        FROM {source} AS p
        JOIN temp.imported_scorer AS m ON m.old_id = p.scorer_id AND m.is_new
        ORDER BY m.new_id
        """
    )


def _insert(
    connection: duckdb.DuckDBPyConnection, folder: Path, key: EvalsetKey, table: str, new: dict[str, str]
) -> None:
    """Insert a partition's rows, in the order of the file."""
    columns = shared_columns(connection, folder, key, table)
    values = [new.get(column, f'p."{column}"') for column in columns]
    if "evalset_id" not in columns and table in ("source", "segment", "segment_text", "system", "entry", "vector"):
        columns, values = [*columns, "evalset_id"], [*values, new["evalset_id"]]
    connection.execute(
        f"""
        INSERT INTO {table} ({", ".join(f'"{column}"' for column in columns)})
        SELECT {", ".join(values)}
        FROM {partition_rows(folder, table, key)} AS p
        ORDER BY p.file_row_number
        """
    )


_READ = ("segment", "system", "scorer", "entry", "vector", "aggregate_score", "score")


@dataclass(frozen=True)
class Source:
    """Where scores are: in a warehouse, or in an export's Parquet file of segment scores beside its catalogue.

    catalogue: of an export, a warehouse in memory of one evaluation set alone, with the export's identifiers; of
    segment scores it has those of humans. scores: all segment scores (vector_id, segment, value), else None.
    """

    catalogue: Warehouse
    scores: Path | None = None


def exported_evalsets(folder: Path) -> Manifest:
    """Files of each evaluation set of a folder that `export` wrote.

    Raises SourceError: no export, or an unfinished one.
    """
    if not is_export(folder):
        found = "no exported Parquet" if folder.is_dir() else "a file" if folder.exists() else "no such folder"
        raise SourceError(f"{folder}: {found}; `scorehouse export DIR` writes a folder of exported Parquet")
    if is_unfinished(folder):
        raise SourceError(f"{folder}: an export that was not finished; export it again")
    return read_manifest(folder)


@contextlib.contextmanager
def open_export(folder: Path, testset: str, lp: str) -> Iterator[Source]:
    """Open one evaluation set of a folder that `export` wrote.

    Raises SourceError: no export, an unfinished one, or files that are missing or differ from its manifest.
        QuestionError: the export has no such test set or language pair.
    """
    manifest = exported_evalsets(folder)
    testsets = {name for name, _ in manifest}
    if testset not in testsets:
        raise unknown("test set", testset, testsets, where=str(folder))
    if (testset, lp) not in manifest:
        raise unknown("language pair", lp, {pair for name, pair in manifest if name == testset}, where=testset)
    key = EvalsetKey(0, testset, lp)
    files = manifest[testset, lp]
    check_files(folder, {(testset, lp): {table: files[table] for table in ("evalset", *_READ)}})
    with duckdb.connect() as connection:
        apply_migrations(connection, str(folder))
        try:
            _read(connection, folder, key)
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            raise SourceError(f"{folder}: {testset} {lp} has rows that no warehouse can hold: {first}") from error
        yield Source(Warehouse(connection, folder), partition_file(folder, "score", key))


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
