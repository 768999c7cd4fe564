"""Whether a file defines what our migrations define and nothing else: a view or macro of a stranger may do anything."""

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path

import duckdb

import migrations
from warehouse.database.migration import Migration, apply_migrations, not_ours, pending
from warehouse.database.statements import statement
from warehouse.errors import SchemaError

Definition = tuple[str, str, str]
"""Kind (table, view, macro and so on), name with its schema, text as DuckDB writes it."""

_WORD = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[\w.]+|[^\s\w()]""")
_REWRITTEN = frozenset(
    {
        *("materialized", "inner", "(", ")", "not", "as"),
        *("cast", "boolean", "'t'", "'f'", "true", "false"),
        *("list_sort", "'ORDER_DEFAULT'", ",", "order", "by", "count", "count_star", "*"),
    }
)
"""Words by which versions of DuckDB write one definition differently: `CAST('f' AS BOOLEAN)` was once `false`."""
_COMPRESSION = " USING COMPRESSION ZSTD"  # which only DuckDB 2 writes
_LEDGER = ("table", "internal.schema_migration")
_SHOWN = 60  # characters of a definition in a message
_WHOLE: set[tuple[object, ...]] = set()
_WAY_OUT = "load the scores into a new file"


def definitions(connection: duckdb.DuckDBPyConnection) -> list[Definition]:
    """What the current database defines, in order; the views are not bound."""
    return connection.execute(statement(__package__, "definitions")).fetchall()


def digest(defined: Sequence[Definition]) -> str:
    """Checksum of definitions as this version of DuckDB writes them."""
    return hashlib.sha256(repr(defined).encode("utf-8", "backslashreplace")).hexdigest()


def words(definition: str) -> frozenset[str]:
    """Names, numbers, literals and signs of a definition, without those that differ between versions of DuckDB.

    They write one definition with other parentheses, in another order, and with rewritten calls. A definition with our
    words calls and reads nothing that ours does not.
    >>> words("x NOT IN (1)") == words('(NOT ("x" IN (1)))')
    True
    """
    plain = definition.replace(_COMPRESSION, "")
    found = [word.strip('"') if word.startswith('"') else word for word in _WORD.findall(plain)]
    parts = [[word] if word.startswith("'") else word.lower().split(".") for word in found]
    return frozenset(part for word in parts for part in word if part) - _REWRITTEN


def missing_in_file(connection: duckdb.DuckDBPyConnection, path: Path) -> list[Migration]:
    """Migrations missing from the file that is the current database; one that was found whole is not looked at again.

    Raises SchemaError: see `missing_migrations`.
    """
    state = _state(path)
    if state in _WHOLE:
        return []
    missing = missing_migrations(connection, str(path))
    if not missing:
        _WHOLE.add(state)
    return missing


def is_known_whole(path: Path) -> bool:
    """Whether this process found the file whole, and nobody has written to it since."""
    return not path.with_name(f"{path.name}.wal").exists() and _state(path) in _WHOLE


def now_whole(path: Path) -> None:
    """Note that a file is whole that was looked at, brought up to date and written to by this process."""
    with suppress(OSError):  # it may be gone again
        if not path.with_name(f"{path.name}.wal").exists():
            _WHOLE.add(_state(path))


def _state(path: Path) -> tuple[object, ...]:
    found = path.stat()
    return (
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        tuple(migrations.sql_files()),
    )


def missing_migrations(connection: duckdb.DuckDBPyConnection, where: str) -> list[Migration]:
    """Migrations missing from the current database (see `pending`), after a look at all that it defines.

    where: the database's path, for messages.
    Raises SchemaError: see `pending`; it does not define what its migrations define, with the first difference.
    """
    found = definitions(connection)
    if digest(found) in known_digests():
        return pending(connection, where)
    ledger = [one for one in found if one[:2] == _LEDGER]
    if not ledger:
        if any(kind != "schema" for kind, _, _ in found):
            raise not_ours(where)
        return list(migrations.sql_files())
    _compare(ledger, _expected(()), where)
    missing = pending(connection, where)
    _compare(found, _expected(tuple(one for one in migrations.sql_files() if one not in missing)), where)
    return missing


@cache
def known_digests() -> frozenset[str]:
    """Checksums that need no comparison: `python -m docs.generate` writes them."""
    text = files(__package__).joinpath("schema.sha256").read_text(encoding="utf-8")
    return frozenset(line.split()[0] for line in text.splitlines())


@cache
def _expected(seen: tuple[Migration, ...]) -> list[Definition]:
    """What migrations define; none: the ledger alone."""
    with duckdb.connect() as connection:
        if not seen:
            connection.execute(statement(__package__, "ledger"))
            return [one for one in definitions(connection) if one[0] == "table"]
        apply_migrations(connection, ":memory:", seen)
        return definitions(connection)


def _together(defined: Sequence[Definition]) -> dict[tuple[str, str], str]:
    """Definitions by kind and name; a macro has several where it takes several numbers of parameters."""
    texts: dict[tuple[str, str], list[str]] = {}
    for kind, name, text in defined:
        texts.setdefault((kind, name), []).append(text)
    return {key: " ; ".join(sorted(texts[key])) for key in sorted(texts)}


def _compare(found: Sequence[Definition], expected: Sequence[Definition], where: str) -> None:
    """Raises SchemaError: the first definition that is missing, differs or is not ours."""
    there, ours = _together(found), _together(expected)
    for kind, name in sorted(there.keys() | ours.keys()):
        text, right = there.get((kind, name)), ours.get((kind, name))
        if text is None:
            what = "is missing"
        elif right is None:
            what = "is none of scorehouse's"
        elif text != right and (differing := words(text) ^ words(right)):
            what = f"is not defined as scorehouse defines it: {_difference(text, right, differing)}"
        else:
            continue
        raise SchemaError(f"{where}: {kind} {name} {what}; {_WAY_OUT}")


def _difference(text: str, right: str, differing: frozenset[str]) -> str:
    """What one of two definitions has and the other has not: the first word of `differing`."""
    first = min(differing, key=lambda word: (word not in words(text), word))
    shown = first if len(first) <= _SHOWN else f"{first[:_SHOWN]}..."
    return f"it has {shown}" if first in words(text) else f"it has no {shown}"
