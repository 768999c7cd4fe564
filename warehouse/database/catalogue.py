"""Comparison of a file's definitions with this program's, before any of them is used.

A file may come from a stranger, and DuckDB prefers a file's names, in any case, to its own. So each table must be ours
to the word, other views and macros are recreated, and nothing else may have a name that we or DuckDB use.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import duckdb

import migrations
from warehouse.database import statement
from warehouse.errors import SchemaError
from warehouse.temporary import temporary_folder
from warehouse.wording import counted, option

Migration = tuple[int, str, str]
Name = tuple[str, str, str]
"""What an object is (table, view, macro, table_macro, index, trigger, type, sequence, schema), its schema, its name."""
Defined = Mapping[Name, frozenset[str]]
"""Checksums of each object's definitions; a macro may have several."""
Objects = Mapping[str, Mapping[str, Sequence[str]]]
"""What migrations define: kind, schema and name in one text, and its checksums after each migration that changes it."""
Expected = Mapping[Name, Collection[frozenset[str]]]
"""Definitions that an object may have; none where it is not there yet."""

LEDGER: Name = ("table", "internal", "schema_migration")
_SCHEMAS = frozenset({"main", "internal"})
_OTHER_SCHEMAS = frozenset({"temp", "system", "memory", "warehouse_file", "pg_catalog", "information_schema"})
_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|[^\w\s()]""")
_PRINTED = re.compile(
    r"(?<=\0)main\0\.\0(?=\"row\"\0)|\0USING\0COMPRESSION\0\w+|(?<=\0AS)\0MATERIALIZED(?=\0)|CAST\0'(?:f|t)'\0AS\0BOOLEAN"
)
"""What one version prints and another does not, or only once a view was used."""
_BOOLEANS = {"CAST\0'f'\0AS\0BOOLEAN": "false", "CAST\0't'\0AS\0BOOLEAN": "true"}
_WORDS = {"index": "an index on", "trigger": "a trigger on", "table_macro": "a table macro"}
_MOST_FOREIGN = 1000
_DUCKDBS: dict[str, frozenset[str]] = {}
_LONGEST = 40  # characters of a name that a message quotes


def checksum(text: str) -> str:
    """Checksum of a definition, equal for all versions of DuckDB that made or print it: brackets are ignored.

    >>> checksum("SELECT (a + 1) FROM (x JOIN y)") == checksum("SELECT a+1 FROM x JOIN y") != checksum("SELECT b")
    True
    """
    words = _PRINTED.sub(lambda found: _BOOLEANS.get(found[0], ""), "\0".join(_TOKEN.findall(text)))
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def defined(connection: duckdb.DuckDBPyConnection, database: str) -> Defined:
    """All definitions in a database, read without any function or operator that the database could define."""
    named = {"database": database}
    found = defaultdict[Name, set[str]](set)
    for kind, schema, name, text in connection.execute(statement(__package__, "objects"), named).fetchall():
        found[kind, schema, name].add(checksum(text or ""))
    for kind, schema, name, parameters, text in connection.execute(statement(__package__, "macros"), named).fetchall():
        found[kind, schema, name].add(checksum(f"{','.join(parameters)}|{text or ''}"))
    try:
        triggers = connection.execute(statement(__package__, "triggers"), named).fetchall()
    except duckdb.CatalogException:  # this DuckDB has none
        triggers = []
    for schema, name in triggers:
        found["trigger", schema, name].add("")
    return {name: frozenset(texts) for name, texts in found.items()}


def described(available: Sequence[Migration]) -> Objects:
    """The possible checksums of an object after each migration that makes or changes it, as this DuckDB prints it.

    DuckDB may print a view differently after reading it from a file.
    """
    found = defaultdict[str, dict[str, list[str]]](dict)
    last: Defined = {}
    steps = [("ledger", statement(__package__, "ledger")), *((name, text) for _, name, text in available)]
    with temporary_folder() as folder:
        file = str(folder / "ours.duckdb")
        with duckdb.connect(file) as connection:
            for step, text in steps:
                connection.execute(text)
                now = defined(connection, "ours")
                for name, texts in now.items():
                    if name[0] != "schema" and texts != last.get(name):
                        found[" ".join(name)][step] = [_joined(texts)]
                last = now
        with duckdb.connect(file, read_only=True) as connection:
            for name, texts in defined(connection, "ours").items():
                for known in list(found.get(" ".join(name), {}).values())[-1:]:
                    known += [] if _joined(texts) in known else [_joined(texts)]
    return dict(sorted(found.items()))


def _joined(texts: Iterable[str]) -> str:
    return "+".join(sorted(texts))


def written(available: Sequence[Migration]) -> str:
    """The text of `catalogue.json`: one line per object. Checksums from other versions of DuckDB are kept."""
    objects, is_same = described(available), _packaged_catalogue()["migrations"] == checksum_of(available)
    kept: Objects = _packaged_catalogue()["objects"] if is_same else {}
    lines = []
    for name, steps in objects.items():
        all_of_it = {step: sorted({*texts, *kept.get(name, {}).get(step, ())}) for step, texts in steps.items()}
        lines.append(f"    {json.dumps(name)}: {json.dumps(all_of_it)}")
    joined = ",\n".join(lines)
    return f'{{\n  "migrations": "{checksum_of(available)}",\n  "objects": {{\n{joined}\n  }}\n}}\n'


def checksum_of(available: Iterable[Migration]) -> str:
    """Checksum of all migrations together."""
    return hashlib.sha256("\0".join(text for *_, text in available).encode()).hexdigest()


@cache
def _packaged_catalogue() -> dict[str, Any]:
    """The definitions of the migrations from `catalogue.json`, because asking DuckDB takes half a second."""
    kept: dict[str, Any] = json.loads(files(migrations).joinpath("catalogue.json").read_text(encoding="utf-8"))
    return kept


@cache
def _described(available: tuple[Migration, ...]) -> Objects:
    return described(available)


def _ours(available: Sequence[Migration]) -> Iterator[Objects]:
    """This program's definitions: first as recorded, then as printed by this DuckDB, which may be a later version."""
    if _packaged_catalogue()["migrations"] == checksum_of(available):
        yield _packaged_catalogue()["objects"]
    yield _described(tuple(available))


def not_ours(where: str) -> SchemaError:
    """The error for a database of another program. where: its path."""
    return SchemaError(
        f"{where}: a DuckDB database, but not a scorehouse warehouse; name another file with {option('db')}"
    )


def has_ledger(there: Defined, where: str, available: Sequence[Migration]) -> bool:
    """Whether a database lists its migrations in a table of ours; False if it has no table or view at all.

    Raises SchemaError: it belongs to another program.
    """
    if LEDGER not in there:
        if any(kind in ("table", "view") for kind, *_ in there):
            raise not_ours(where)
        return False
    if not any(there[LEDGER] in _expected(ours, ())[LEDGER] for ours in _ours(available)):
        raise not_ours(where)
    return True


def compared(
    connection: duckdb.DuckDBPyConnection,
    there: Defined,
    applied: Sequence[str] | None,
    where: str,
    available: Sequence[Migration],
) -> tuple[bool, list[str]]:
    """Whether views and macros are this program's, and the names of harmless foreign objects.

    applied: names of the database's applied migrations, in order; None if it lists none.
    Raises SchemaError: a table differs, or an object has a name that the program or DuckDB uses.
    """
    for ours in _ours(available):
        expected = _expected(ours, applied)
        difference = _difference(connection, there, expected)
        is_current = all(there.get(name) in texts for name, texts in expected.items() if name[0] != "table")
        if difference is None and (is_current or not applied or applied[-1] != available[-1][1]):
            break
    if difference is not None:
        raise SchemaError(
            f"{where}: not opened: its schema was not created by scorehouse ({difference}); "
            "load the score files into a new file"
        )
    return is_current, sorted(
        f"{kind.replace('_', ' ')} {printable(name)}" for kind, _, name in _foreign(there, expected)
    )


def printable(name: str) -> str:
    """A foreign name, made safe for a message.

    >>> printable("mine"), printable("a\\x1b[31m"), printable("a " * 40)
    ('mine', "'a\\\\x1b[31m'", "'a a a a a a a a a a a a a a a a a a a a '…")
    """
    if re.fullmatch(r"[\w.]+", name, re.ASCII) and len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]!r}{'…' if len(name) > _LONGEST else ''}"


def _expected(objects: Objects, applied: Iterable[str] | None) -> Expected:
    """Each object's definitions after some migrations."""
    order = [] if applied is None else ["ledger", *applied]
    found: dict[Name, list[frozenset[str]]] = {}
    for words, by_migration in objects.items():
        kind, schema, name = words.split(" ")
        steps = [by_migration[step] for step in order if step in by_migration]
        found[kind, schema, name] = [frozenset(text.split("+")) for text in steps[-1]] if steps else []
    return found


def _foreign(there: Defined, expected: Mapping[Name, object]) -> Iterator[Name]:
    own = {("schema", schema, schema) for schema in _SCHEMAS}
    return (name for name in there if name not in expected and name not in own)


def _difference(connection: duckdb.DuckDBPyConnection, there: Defined, expected: Expected) -> str | None:
    """The first object that conflicts with one of ours or DuckDB's; None if there is none."""
    for own, texts in expected.items():
        if own[0] == "table" and (there[own] not in texts if own in there else texts):
            return f"its table {own[1]}.{own[2]} {'differs' if own in there else 'is missing'}"
    relations = {name for kind, _, name in expected if kind in ("table", "view")}
    macros = {name for kind, _, name in expected if kind in ("macro", "table_macro")}
    foreign = list(_foreign(there, expected))
    if len(foreign) > _MOST_FOREIGN:
        return f"it defines {counted(len(foreign), 'object')} of other programs"
    for kind, schema, name in foreign:
        is_found = schema.lower() in _SCHEMAS
        taken: Collection[str] = ()
        if kind == "schema":
            is_found, taken = True, _SCHEMAS | _OTHER_SCHEMAS
        elif kind in ("table", "view", "index", "trigger"):
            taken = relations
        elif is_found and kind in ("macro", "table_macro"):
            taken = macros | _of_duckdb(connection, "function")
        elif is_found and kind == "type":
            taken = _of_duckdb(connection, "type")
        if is_found and name.lower() in taken:
            place = printable(name) if kind == "schema" else f"{printable(schema)}.{printable(name)}"
            return f"it has {_WORDS.get(kind, f'a {kind}')} {place}"
    return None


def _of_duckdb(connection: duckdb.DuckDBPyConnection, kind: str) -> frozenset[str]:
    """Names of DuckDB's own functions (with operators) or types; queried once, as a file's are listed with them."""
    if kind not in _DUCKDBS:
        query = f"SELECT DISTINCT {kind}_name FROM system.main.duckdb_{kind}s() WHERE database_name = 'system'"
        _DUCKDBS[kind] = frozenset(name.lower() for (name,) in connection.execute(query).fetchall())
    return _DUCKDBS[kind]
