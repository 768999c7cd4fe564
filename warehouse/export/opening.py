"""Exported Parquet opened for questions, as the tables and views of a warehouse file; or imported into such a file."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import duckdb

from warehouse.database import literal, statement
from warehouse.database.buckets import Bucket
from warehouse.database.connection import Narrow, Warehouse
from warehouse.database.opening import INTERNAL, answer_error, interruptible, plain_path
from warehouse.database.updating import apply_migrations, in_memory, in_one_transaction, writing
from warehouse.errors import LimitError, SourceError
from warehouse.export.checks import IDENTIFIED, IN_PLACE, Place, check_rows, rows_of
from warehouse.export.exported import is_unfinished
from warehouse.export.parquet import TABLE_COLUMNS, TABLES, Manifest, check_files, is_export, listed, read_manifest
from warehouse.progress import Progress
from warehouse.wording import first_line, option
from warehouse.writing.evalsets import register
from warehouse.writing.reports import EvalsetReport

Kind = TypeVar("Kind", bound=Warehouse)
Views = list[tuple[str, list[Place]]]
"""For each batch, the query of a view without the files that it reads, and the evaluation sets that have some."""
_IDENTIFIERS = {f"{name}_id": name for name in IDENTIFIED} | {"vector_a": "vector", "vector_b": "vector"}


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


def named(places: Collection[Place], there: Collection[Place]) -> list[Place]:
    """The evaluation sets there that are among the places; the language pair "all" names those of a test set."""
    wanted = {*places}
    return [one for one in there if one in wanted or (one[0], "all") in wanted]


def open_export(
    folder: Path,
    evalsets: Callable[[Collection[Place]], Collection[Place] | None] = sorted,
    kind: type[Kind] = Warehouse,  # type: ignore[assignment]
) -> Kind:
    """Open a folder that `export` wrote as a warehouse. evalsets: which of those in it; None: all.

    The connection can access only the files that are opened.
    Raises SourceError: not an export, an unfinished one, or files that are missing, changed or unsound: see `checks`.
    """
    manifest = exported_evalsets(folder)
    if (chosen := evalsets(manifest)) is not None:
        manifest = {place: manifest[place] for place in chosen}
    with ExitStack() as stack:
        connection, narrow = stack.enter_context(_opened(folder, manifest))
        opened = kind(connection, folder, stack.pop_all())
        opened.narrow = narrow
        return opened
    raise AssertionError


@contextmanager
def _opened(
    folder: Path, manifest: Manifest, database: Path | None = None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Narrow]]:
    """A database in memory with checked evaluation sets of an export, to which a warehouse file can be attached.

    Also returns what makes views of large tables read some evaluation sets alone (see `Warehouse.narrowed`).
    Raises SourceError: files that are missing, changed or unsound.
    """
    check_files(folder, manifest)
    with in_memory(database, [plain_path(file) for file in listed(folder, manifest)]) as connection:
        apply_migrations(connection, str(folder))
        views: Mapping[str, Views] = {}
        if manifest:
            with _holding(folder):
                views = _fill_tables(connection, folder, manifest)

        def narrow(chosen: Collection[Place] | None) -> Collection[Place]:
            some = manifest
            if chosen is not None:
                some = {place: manifest[place] for place in named(chosen, manifest)}
                check_files(folder, some)  # which may have changed since the folder was opened
            with _holding(folder):
                for table, queries in views.items():
                    _make_view(connection, folder, table, queries, some)
            return some

        yield connection, narrow


@contextmanager
def _holding(folder: Path) -> Iterator[None]:
    """Reword errors of DuckDB.

    Raises SourceError: files cannot be read, or identifiers are too large. LimitError: out of memory.
    """
    try:
        with interruptible():
            yield
    except duckdb.Error as error:
        if isinstance(limit := answer_error(folder, error), LimitError):
            raise limit from error
        found = f"it has rows that no warehouse can hold: {first_line(error)}"
        raise SourceError(found, about=str(folder)) from error


def _fill_tables(connection: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> Mapping[str, Views]:
    """Fill the tables with checked rows, or make views in their place, whose queries are returned by table."""
    places = check_rows(connection, folder, manifest)
    named = ", ".join(f"({n}, {literal(testset)}, {literal(lp)})" for n, (testset, lp) in enumerate(places))
    connection.execute(f"CREATE TEMP TABLE checked_name AS FROM (VALUES {named}) AS n (place, testset, lp)")
    last = {
        table: dict(
            connection.execute(f"SELECT batch, max({table}_id) FROM temp.checked_{table} GROUP BY 1").fetchall()
        )
        for table in IDENTIFIED
    }
    views: dict[str, Views] = {table: [] for table in IN_PLACE}
    shift = dict.fromkeys(IDENTIFIED, 0)
    for batch in sorted({partition.batch for partition in manifest.values()}):
        rows = {table: f"(SELECT *, rowid FROM temp.checked_{table} WHERE batch = {batch})" for table in TABLES}
        rows["evalset"] = f"(FROM temp.checked_evalset JOIN temp.checked_name USING (place) WHERE batch = {batch})"
        _write(connection, {table: rows[table] for table in TABLES if table not in IN_PLACE}, shift)
        for table in IN_PLACE:
            having = [one for one in places if manifest[one].batch == batch and table in manifest[one].files]
            if having:
                more = ["p.file_row_number AS rowid"] if table == "span" else []  # errors are told apart by their place
                views[table].append((_select(connection, table, "{rows}", shift, {}, more), having))
        shift = {table: number + last[table].get(batch, 0) for table, number in shift.items()}
    for table in (*TABLES, "name"):
        connection.execute(f"DROP {'VIEW' if table in IN_PLACE else 'TABLE'} temp.checked_{table}")
    views = {table: queries for table, queries in views.items() if queries}
    for table, queries in views.items():
        connection.execute(f"DROP TABLE {INTERNAL}.{table}")
        _make_view(connection, folder, table, queries, manifest)
    register(connection, [number for (number,) in connection.execute("SELECT evalset_id FROM evalset").fetchall()])
    return views


def _make_view(
    connection: duckdb.DuckDBPyConnection, folder: Path, table: str, queries: Views, chosen: Collection[Place]
) -> None:
    """Make the view of the rows of a table in the files of the chosen evaluation sets."""
    (query, having), *_ = queries
    parts = [f"{query.format(rows=rows_of(folder, table, having[:1]))} WHERE false"]
    for query, having in queries:
        if own := [place for place in having if place in chosen]:
            parts.append(query.format(rows=rows_of(folder, table, own)))
    connection.execute(f"CREATE OR REPLACE VIEW {INTERNAL}.{table} AS {' UNION ALL '.join(parts[1:] or parts)}")


def _select(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    rows: str,
    shift: Mapping[str, int],
    new: Mapping[str, str],
    more: Sequence[str] = (),
) -> str:
    """A query for rows of a table with shifted identifiers, and more columns. new: SQL for other values."""
    columns = []
    for name, kind in connection.execute(TABLE_COLUMNS, {"table": table}).fetchall():
        value = new.get(name, f'p."{name}"')
        if by := shift.get(_IDENTIFIERS.get(name, "")):
            value = f"CAST({value} + {by:d} AS {kind})"
        columns.append(f'{value} AS "{name}"')
    return f"SELECT {', '.join([*columns, *more])} FROM {rows} AS p"


_OF_NAME = "LEFT JOIN scorer AS o ON o.kind = p.kind AND o.name = p.name"


def _write(connection: duckdb.DuckDBPyConnection, rows: Mapping[str, str], shift: Mapping[str, int]) -> None:
    """Write checked rows of test sets, evaluation sets, scorers and other tables into the current database.

    rows: by table; those of `evalset` have the test set's name and facts. shift: added to identifiers.
    """
    connection.execute(statement(__package__, "new_testsets").format(rows=rows["evalset"]))
    connection.execute("CREATE OR REPLACE TEMP TABLE batch_scorer (old_id INTEGER, new_id INTEGER)")
    following = "(SELECT coalesce(max(scorer_id), 0) FROM scorer) + dense_rank() OVER (ORDER BY p.scorer_id)"
    new = _select(connection, "scorer", rows["scorer"], {}, {"scorer_id": following})
    new = f"{new} {_OF_NAME} WHERE o.scorer_id IS NULL"
    connection.execute(f"INSERT INTO scorer SELECT DISTINCT ON (scorer_id) * FROM ({new}) ORDER BY scorer_id")
    known = f"SELECT DISTINCT p.scorer_id, o.scorer_id FROM {rows['scorer']} AS p {_OF_NAME}"
    connection.execute(f"INSERT INTO batch_scorer {known}")
    values = {
        "testset_id": "(SELECT t.testset_id FROM testset AS t WHERE t.name = p.testset)",
        "scorer_id": "(SELECT m.new_id FROM temp.batch_scorer AS m WHERE m.old_id = p.scorer_id)",
    }
    for table in rows:
        if table != "scorer":
            order = "" if table in IN_PLACE else f"ORDER BY p.{'evalset_id' if table == 'evalset' else 'rowid'}"
            connection.execute(f"INSERT INTO {table} {_select(connection, table, rows[table], shift, values)} {order}")
    connection.execute("DROP TABLE temp.batch_scorer")


def import_parquet(folder: Path, database: Path, *, progress: Progress | None = None) -> list[EvalsetReport]:
    """Import every evaluation set of a folder that `export` wrote into a warehouse, which is created if missing.

    Rows are restored unchanged, with identifiers that are free in the warehouse. An evaluation set already loaded from
    the same files is left alone.
    Raises SourceError: see `open_export`; or an evaluation set is already loaded from other files. SchemaError: the
    database can't be written. Nothing is written then.
    """
    manifest, held = exported_evalsets(folder), {}
    if database.exists():
        with Warehouse.open(database) as warehouse:
            held = {(testset, lp): files for testset, lp, files, *_ in warehouse.rows(_CONTENTS)}
    new = {place: one for place, one in manifest.items() if place not in held}
    with _opened(folder, manifest, database) as (connection, _):
        contents = sorted(connection.execute(_CONTENTS).fetchall())
        for testset, lp, files, *_ in contents:
            if held.get((testset, lp), files) != files:
                raise SourceError(
                    f"{testset} {lp} is already in {database}, from other files",
                    way_out=f"name another warehouse with {option('db')}",
                    about=str(folder),
                )
        if new and progress is not None:
            progress(f"{' '.join(min(new))}: loading", 0, len(new))
        if len(new) == len(manifest):
            _write_opened(connection, folder, database)
    if 0 < len(new) < len(manifest):
        with _opened(folder, new, database) as (connection, _):
            _write_opened(connection, folder, database)
    return [
        EvalsetReport(testset, lp, "unchanged", 0, len(files))
        if (testset, lp) in held
        else EvalsetReport(testset, lp, "loaded", len(files), 0, 0, *counts)
        for testset, lp, files, *counts in contents
    ]


_CONTENTS = """
    SELECT
      t.name,
      e.lp,
      coalesce((SELECT list_sort(list(o.origin || o.sha256)) FROM source AS o WHERE o.evalset_id = e.evalset_id), []),
      coalesce(sum(v.n_values) FILTER (v.level = 'seg'), 0)::BIGINT,
      coalesce(sum(v.n_values + v.n_missing), 0)::BIGINT,
      coalesce(sum(v.n_missing), 0)::BIGINT
    FROM evalset AS e
    JOIN testset AS t ON t.testset_id = e.testset_id
    LEFT JOIN vector AS v ON v.evalset_id = e.evalset_id
    GROUP BY e.evalset_id, t.name, e.lp
"""
"""Names, files, segment scores, rows and missing values of each evaluation set."""


def _write_opened(connection: duckdb.DuckDBPyConnection, folder: Path, database: Path) -> None:
    """Write all opened evaluation sets, with identifiers that follow those of the warehouse."""
    rows = {table: f"memory.{INTERNAL}.{table}" for table in TABLES}
    rows["evalset"] = _NAMED_EVALSETS.format(rows["evalset"], f"memory.{INTERNAL}.testset")
    with _holding(folder), writing(database, connection), in_one_transaction(connection):
        shift = {}
        for table in IDENTIFIED:
            last, first = f"SELECT max({table}_id) FROM {table}", f"SELECT min({table}_id) FROM {rows[table]}"
            query = f"SELECT coalesce(({last}), 0) + 1 - coalesce(({first}), 0)"
            ((shift[table],),) = connection.execute(query).fetchall()
        _write(connection, rows, shift)
        query = f"SELECT evalset_id + {shift['evalset']:d} FROM {rows['evalset']}"
        register(connection, [number for (number,) in connection.execute(query).fetchall()])


_NAMED_EVALSETS = """(
  SELECT e.*, t.name AS testset, t.year, t.description FROM {} AS e JOIN {} AS t ON t.testset_id = e.testset_id
)"""
