"""Bring a database up to date: tables by migrations, once each; views and macros made anew where their text changed."""

import contextlib
import hashlib
from collections.abc import Sequence

import duckdb

import migrations
from warehouse.database import statement
from warehouse.errors import SchemaError
from warehouse.wording import option

Migration = tuple[int, str, str]

INTERNAL = "internal"
"""Schema of the tables; what is public (views and macros) is in `main`, so that SHOW TABLES lists that alone."""
_DEFINED = """
SELECT 'VIEW internal.' || view_name FROM duckdb_views()
WHERE database_name = current_database() AND schema_name = 'internal'
"""


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def not_ours(where: str) -> SchemaError:
    """The error for a database of another program. where: its path."""
    return SchemaError(
        f"{where}: a DuckDB database, but not a scorehouse warehouse; name another file with {option('db')}"
    )


def _applied(connection: duckdb.DuckDBPyConnection) -> list[tuple[int, str, str]] | None:
    """Number, name and checksum of the migrations that the current database has seen; None where it is no warehouse."""
    try:
        return connection.execute(
            "SELECT number, name, sha256 FROM internal.schema_migration ORDER BY number"
        ).fetchall()
    except (duckdb.CatalogException, duckdb.BinderException):  # no such table, or somebody else's of that name
        return None


def has_tables(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether there is any table or view in the current database."""
    there = """
        SELECT 1 FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal
        UNION ALL
        SELECT 1 FROM duckdb_views() WHERE database_name = current_database() AND NOT internal
        LIMIT 1
        """
    return connection.execute(there).fetchone() is not None


def find_tables(connection: duckdb.DuckDBPyConnection, *, alone: bool = False) -> None:
    """Let statements of this connection name the internal tables of the current database without their schema.

    alone: views and macros are not found, which a stranger may have defined: for connections that can read files.
    """
    ((name,),) = connection.execute("SELECT replace(current_database(), '\"', '\"\"')").fetchall()
    schemas = (INTERNAL,) if alone else ("main", INTERNAL)
    path = ",".join(f'"{name}".{schema}' for schema in schemas).replace("'", "''")
    with contextlib.suppress(duckdb.CatalogException):  # there are none
        connection.execute(f"SET search_path = '{path}'")


def pending(
    connection: duckdb.DuckDBPyConnection, where: str, available: Sequence[Migration] | None = None
) -> list[Migration]:
    """Migrations missing from the current database, in order; nothing is changed.

    where: the database's path, for messages.
    Raises SchemaError: tables that are not ours, an applied migration whose text changed since,
        or a migration that this program does not know (the database is newer).
    """
    available = migrations.sql_files() if available is None else available
    texts = "".join(text for *_, text in available)
    if any(defined not in texts for (defined,) in connection.execute(_DEFINED).fetchall()):  # such as a view as a table
        raise not_ours(where)
    applied = _applied(connection)
    if applied is None:
        if has_tables(connection):
            raise not_ours(where)
        return list(available)
    known = {number: (name, text) for number, name, text in available}
    seen = {number: checksum for number, _, checksum in applied}
    newer = [name for number, name, _ in applied if number not in known]
    if newer:
        raise SchemaError(
            f"{where}: made by a newer scorehouse (it has migration {newer[-1]}, this program ends at "
            f"{available[-1][1]}); upgrade scorehouse, or name another file with {option('db')}"
        )
    for number, (name, text) in known.items():
        if number != migrations.VIEWS and seen.get(number, _checksum(text)) != _checksum(text):
            raise SchemaError(
                f"{where}: migration {name} was applied with a different text from this program's; "
                "load everything into a new file"
            )
    return [migration for migration in available if seen.get(migration[0]) != _checksum(migration[2])]


def apply_migrations(
    connection: duckdb.DuckDBPyConnection, where: str, available: Sequence[Migration] | None = None
) -> list[str]:
    """Apply what is pending, each migration in one transaction, and find the tables; names of the migrations applied.

    Raises SchemaError: see `pending`.
    """
    missing = pending(connection, where, available)
    is_new = bool(missing) and _applied(connection) is None
    applied = []
    for number, name, text in missing:
        connection.execute("BEGIN")
        try:
            if is_new:
                connection.execute(statement(__package__, "ledger"))
            connection.execute(text)
            connection.execute(
                "INSERT OR REPLACE INTO internal.schema_migration "
                "VALUES ($number, $name, $sha256, (now() AT TIME ZONE 'UTC')::TIMESTAMP)",
                {"number": number, "name": name, "sha256": _checksum(text)},
            )
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        is_new = False
        applied.append(name)
    find_tables(connection)
    return applied


def make_views_over(connection: duckdb.DuckDBPyConnection, attached: str) -> None:
    """Make the views and macros in the current database, over the tables of one that is attached."""
    connection.execute(f"CREATE SCHEMA {INTERNAL}")
    tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = $name AND schema_name = 'internal'"
    for (table,) in connection.execute(tables, {"name": attached}).fetchall():
        name = '"' + table.replace('"', '""') + '"'  # a stranger's file may name a table as it likes
        connection.execute(f"CREATE VIEW {INTERNAL}.{name} AS FROM {attached}.{INTERNAL}.{name}")
    connection.execute(migrations.sql_files()[-1][2])
