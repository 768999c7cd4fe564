"""Warehouse files as a stranger may forge them: what each defines, and what becomes of it when it is opened.

`{secret}` stands for a file whose content nothing may show, `{out}` for one that nothing may make, `{url}` for an
address of this machine at which somebody listens.
"""

import itertools
from pathlib import Path

import duckdb

from tests.helpers import tiny_bytes
from tests.sharing import written

_READ = "SELECT content FROM read_text('{secret}')"
_BODIES = (
    f"({_READ})",
    "'COPY (SELECT 42) TO ''{out}'''",
    "'INSTALL mine FROM ''{url}'''",
)
_ARGUMENTS = {0: "", 1: "a", 2: "a, b", 3: "a, b, c", 4: "a, b, c, d"}
_HIDDEN = {
    "FORMAT": 4,
    "REPLACE": 3,
    "Count_Star": 0,
    "ANY_VALUE": 1,
    "SUM": 1,
    "BOOL_OR": 1,
    "LIST_CONTAINS": 2,
    "NULLIF": 2,
    "COALESCE ": 2,
    "+": 2,
    "||": 2,
    "~~": 2,
    "list_value": 2,
    "now": 0,
    "current_database": 0,
    "current_setting": 1,
    "Struct_Pack": 1,
    "row": 2,
    "string_agg": 2,
    "array_extract": 2,
    "date_part": 2,
}
"""Functions and operators of DuckDB that our statements call, with their number of arguments."""


def _macros() -> dict[str, tuple[str, str]]:
    found = {}
    for number, (name, n) in enumerate(_HIDDEN.items()):
        schema, body = ("main", "internal")[number % 2], _BODIES[number % 3]
        ending = "noted" if name.endswith(" ") else "refused"
        found[f"macro {schema}.{name}"] = f'CREATE MACRO {schema}."{name}"({_ARGUMENTS[n]}) AS {body}', ending
    return found


def _as_table(view: str, of: str = _READ) -> str:
    return f"CREATE OR REPLACE VIEW {view} AS {of}"


FORGED: dict[str, tuple[str, str]] = {
    **_macros(),
    "table macro duckdb_views": (f"CREATE MACRO main.duckdb_views() AS TABLE {_READ}", "refused"),
    "table macro duckdb_columns": (f"CREATE MACRO internal.DUCKDB_COLUMNS() AS TABLE {_READ}", "refused"),
    "table macro range": (f"CREATE MACRO main.range(a) AS TABLE {_READ}", "refused"),
    "table macro unnest": (f"CREATE MACRO main.unnest(a) AS TABLE {_READ}", "refused"),
    "own macro changed": (f"CREATE OR REPLACE MACRO tau_a(c, d, th, tm, thm) AS ({_READ})", "anew"),
    "own macro, another case": (f"DROP MACRO tau_a; CREATE MACRO TAU_A(c, d, th, tm, thm) AS ({_READ})", "refused"),
    "own macro in the other schema": (f"CREATE MACRO internal.scale_of(a, b) AS ({_READ})", "refused"),
    "own macro with more arguments": (
        f"CREATE OR REPLACE MACRO tau_13(c, d, th, tm, thm) AS c, (c, d) AS ({_READ})",
        "anew",
    ),
    "table macro with the name of a macro": (f"CREATE MACRO main.tau_b(a) AS TABLE {_READ}", "refused"),
    "macro of comments": (f"CREATE OR REPLACE MACRO internal.common_meaning(name) AS ({_READ})", "anew"),
    "own view changed": (_as_table("testsets"), "anew"),
    "own view gone": ("DROP VIEW trends", "anew"),
    "view without end": (
        _as_table("evalsets", "SELECT count(*) AS n FROM range(1000000000) a, range(1000000000) b"),
        "anew",
    ),
    "view of a device": (_as_table("results", "SELECT * FROM read_blob('/dev/zero')"), "anew"),
    "view in a table's place": (f"DROP TABLE internal.score; {_as_table('internal.score')}", "refused"),
    "view in the ledger's place": (
        f"DROP TABLE internal.schema_migration; {_as_table('internal.schema_migration')}",
        "refused",
    ),
    "view that hides a table": (_as_table("main.score"), "refused"),
    "view that hides a table, another case": (_as_table('main."EVALSET"'), "refused"),
    "view that hides a view": (_as_table("internal.testsets"), "refused"),
    "view of a user": (_as_table("main.mine"), "noted"),
    "view in a schema of its own": (f"CREATE SCHEMA other; {_as_table('other.scores')}", "noted"),
    "table in a view's place": ("DROP VIEW trends; CREATE TABLE main.trends (x INTEGER)", "refused"),
    "table that hides a table": ("CREATE TABLE main.Result (key VARCHAR)", "refused"),
    "table of a user": ("CREATE TABLE main.mine (x INTEGER CHECK (x > 1))", "noted"),
    "table gone": ("DROP TABLE internal.known_issue", "refused"),
    "column gone": ("ALTER TABLE internal.judgement DROP COLUMN rater", "refused"),
    "column more": ("ALTER TABLE internal.judgement ADD COLUMN mine INTEGER", "refused"),
    "column of another type": ("ALTER TABLE internal.segment ALTER phenomenon TYPE BLOB", "refused"),
    "default that calls": ("ALTER TABLE internal.vector ALTER n_missing SET DEFAULT 1 + 1", "refused"),
    "default that calls a macro": (
        "CREATE MACRO main.mine() AS 1; ALTER TABLE internal.vector ALTER n_missing SET DEFAULT mine()",
        "refused",
    ),
    "default that is an own value": ("ALTER TABLE internal.entry ALTER is_own SET DEFAULT true", "refused"),
    "generated column": (
        "DROP TABLE internal.score; CREATE TABLE internal.score (vector_id INTEGER, segment INTEGER, "
        "value DOUBLE GENERATED ALWAYS AS (segment + 1.0))",
        "refused",
    ),
    "check that calls": (
        "DROP TABLE internal.score; CREATE TABLE internal.score (vector_id INTEGER NOT NULL, segment INTEGER NOT NULL, "
        "value DOUBLE CHECK (abs(value) >= 0))",
        "refused",
    ),
    "foreign key": (
        "CREATE TABLE internal.mine (x SMALLINT REFERENCES internal.testset (testset_id))",
        "noted",
    ),
    "index on a table": ("CREATE INDEX mine ON internal.score (value)", "refused"),
    "index on an expression": ("CREATE INDEX mine ON internal.vector ((vector_id + 1))", "refused"),
    "index of a user": ("CREATE TABLE main.mine (x INTEGER); CREATE INDEX one ON main.mine (x)", "noted"),
    "type of a user": ("CREATE TYPE main.mine AS ENUM ('a', 'b')", "noted"),
    "column of a type of a user": (
        "CREATE TYPE main.mine AS ENUM ('x'); ALTER TABLE internal.segment ALTER phenomenon TYPE mine USING NULL",
        "refused",
    ),
    "sequence": ("CREATE SEQUENCE main.mine", "noted"),
    "schema temp": ("CREATE SCHEMA temp", "refused"),
    "schema system": ("CREATE SCHEMA System", "refused"),
    "schema memory": ("CREATE SCHEMA memory", "refused"),
    "schema warehouse_file": ("CREATE SCHEMA warehouse_file", "refused"),
    "schema internal in capitals": (
        f'DROP SCHEMA internal CASCADE; CREATE SCHEMA "INTERNAL"; {_as_table("INTERNAL.score")}',
        "refused",
    ),
    "name with signs of a terminal": ('CREATE TABLE main."\x1b[31m\x1b]0;x\x07" (x INTEGER)', "noted"),
    "comment with signs of a terminal": ("COMMENT ON VIEW scores IS '\x1b[31m\x1b]0;x\x07'", "ours"),
    "trigger": (
        "CREATE TRIGGER mine AFTER INSERT ON internal.result FOR EACH STATEMENT "
        "INSERT INTO internal.language VALUES ('xx', 'x', NULL, true)",
        "refused",
    ),
}
"""What a file is made to define, and what opening it must do: refuse it, make views anew, note the rest, or nothing."""
AGES = ("current", "older")
CASES = tuple(itertools.product(FORGED, AGES))


def forge(path: Path, what: str, age: str = "current", **places: object) -> Path:
    """A warehouse whose file defines something; older: its views are those of an earlier version.

    Raises duckdb.Error: this DuckDB cannot define it.
    """
    written(path, tiny_bytes())
    if what == "trigger":
        _as_of_storage_2(path)
    with duckdb.connect(str(path)) as connection:
        for statement in FORGED[what][0].format(**places).split("; "):
            connection.execute(statement)
        if age == "older" and what not in ("view in the ledger's place", "schema internal in capitals"):
            connection.execute("UPDATE internal.schema_migration SET sha256 = 'x' WHERE name = 'views'")
            if what != "own view gone":
                connection.execute("DROP VIEW IF EXISTS phenomena")
    return path


def _as_of_storage_2(path: Path) -> None:
    """Only files of DuckDB 2.0 hold triggers."""
    copy = path.with_name("copy.duckdb")
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS old; ATTACH '{copy}' AS new (STORAGE_VERSION 'v2.0.0')")
        connection.execute("COPY FROM DATABASE old TO new")
    copy.replace(path)
