"""What exported files must hold before a row of them is answered or imported.

Columns and types of the schema, as many rows as the manifest says, values that a load accepts, unique keys, and
references within the evaluation set.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import duckdb

from warehouse.database import literal, statement
from warehouse.database.opening import pattern, plain_path
from warehouse.errors import SourceError
from warehouse.export.exported import EvalsetKey
from warehouse.export.parquet import AGAIN, TABLE_COLUMNS, TABLES, Manifest, partition_file, selected
from warehouse.names import LARGEST_SCORE
from warehouse.wording import counted

IN_PLACE = ("segment_text", "score", "judgement", "span", "preference")
"""Tables that may be large: views of the files, of which a question reads what it needs."""
IDENTIFIED = ("evalset", "source", "system", "vector", "judgement")  # tables whose rows have an identifier
_UNIQUE = (
    ("evalset", "batch, evalset_id"),
    ("source", "batch, source_id"),
    ("system", "batch, system_id"),
    ("system", "place, name"),
    ("scorer", "place, kind, name"),
    ("vector", "batch, vector_id"),
    ("vector", "place, scorer_id, system_id, level"),
    ("judgement", "batch, judgement_id"),
)
"""What no two rows share, beside that by which the rows of a file are sorted."""
_REFERENCES = (
    *((table, "evalset_id", "evalset") for table in ("source", "segment", "segment_text", "system", "entry", "vector")),
    ("segment", "source_id", "source"),
    ("segment_text", "source_id", "source"),
    ("segment_text", "segment", "segment"),
    ("system_spelling", "system_id", "system"),
    ("entry", "scorer_id", "scorer"),
    ("vector", "source_id", "source"),
    ("vector", "scorer_id", "scorer"),
    ("vector", "system_id", "system"),
    ("score", "segment", "segment"),
    ("judgement", "vector_id", "vector"),  # its segment may be a tutorial's
    ("span", "judgement_id", "judgement"),
    ("preference", "vector_a", "vector"),
    ("preference", "vector_b", "vector"),
    ("preference", "segment", "segment"),
)
"""What names a row of another table of the evaluation set, beside vectors of scores: see `sql/counted_vectors.sql`."""
Place = tuple[str, str]


def files_of(folder: Path, table: str, places: Iterable[Place]) -> list[str]:
    """The files of a table, as DuckDB takes them."""
    return [plain_path(partition_file(folder, table, EvalsetKey(0, *place))) for place in places]


def rows_of(folder: Path, table: str, places: Iterable[Place]) -> str:
    """The rows of a table in the files of evaluation sets, as a table function of DuckDB."""
    files = _quoted(files_of(folder, table, places))
    return f"read_parquet([{files}], hive_partitioning = false, file_row_number = true)"


def _quoted(files: Iterable[str]) -> str:
    return ", ".join(literal(pattern(file)) for file in files)


def check_rows(connection: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> list[Place]:
    """Check evaluation sets of an export; returns them in the order of their batches and identifiers.

    connection: to a database with the tables of a warehouse. The exported rows are then in temp.checked_TABLE, where
    `place` is the number in this order of the evaluation set that the file is of, and `batch` its batch.
    Raises SourceError: the first fault. duckdb.Error: a file cannot be read.
    """
    columns = {table: dict(connection.execute(TABLE_COLUMNS, {"table": table}).fetchall()) for table in TABLES}
    for table in TABLES:
        having = [place for place, one in manifest.items() if table in one.files]
        columns[table] = _checked_columns(connection, folder, table, columns[table], having)
    for place, one in manifest.items():
        if "evalset" not in one.files or one.files["evalset"].rows != 1:
            raise _unsound(folder, "evalset", place, "not one row")
    query = f"SELECT file_index, evalset_id FROM {rows_of(folder, 'evalset', manifest)} ORDER BY ALL"
    ids = dict(connection.execute(query).fetchall())
    by_id = [(one.batch, ids.get(number) or 0, place) for number, (place, one) in enumerate(manifest.items())]
    places = [place for *_, place in sorted(by_id)]
    for table in TABLES:
        numbers = {place: number for number, place in enumerate(places) if table in manifest[place].files}
        more = "0 AS place, 0 AS batch"
        if numbers:
            whose = ([*numbers.values()], [manifest[place].batch for place in numbers])
            more = "{}[x.file_index::INTEGER + 1] AS place, {}[x.file_index::INTEGER + 1] AS batch".format(*whose)
        rows = f"{rows_of(folder, table, numbers)} AS x" if numbers else f"{table} LIMIT 0"
        kind = "VIEW" if table in IN_PLACE else "TABLE"
        query = f"SELECT {', '.join(columns[table])}, {more} FROM {rows}"
        connection.execute(f"CREATE OR REPLACE TEMP {kind} checked_{table} AS {query}")
    constraints = connection.execute(_CONSTRAINTS).fetchall()
    for table in TABLES:
        wrong = _wrong_values(table, columns[table], [rest for name, *rest in constraints if name == table])
        query = f"SELECT place, count(*), {', '.join(wrong)} FROM temp.checked_{table} GROUP BY place"
        there = {number: (n, are) for number, n, *are in connection.execute(query).fetchall()}
        for number, place in enumerate(places):
            n, are = there.get(number, (0, []))
            if n != (expected := manifest[place].files[table].rows if table in manifest[place].files else 0):
                raise _unsound(folder, table, place, f"{counted(n, 'row')}, not {expected} as in the manifest")
            for found, is_wrong in zip(wrong.values(), are, strict=False):
                if is_wrong:
                    raise _unsound(folder, table, place, found)
    for table, found, query in _relations():
        ((number,),) = connection.execute(query).fetchall()
        if number is not None:
            raise _unsound(folder, table, places[number], found)
    return places


def _unsound(folder: Path, table: str, place: Place, found: str) -> SourceError:
    return SourceError(f"{table} of {' '.join(place)} has {found}; {AGAIN}", about=str(folder))


def _checked_columns(
    connection: duckdb.DuckDBPyConnection, folder: Path, table: str, columns: Mapping[str, str], places: Sequence[Place]
) -> dict[str, str]:
    """The columns of a table's files that are read, with their types.

    Raises SourceError: a file does not have the columns that `export` writes, or has others.
    """
    _, joined, *_ = TABLES[table]
    described = connection.execute(f"DESCRIBE SELECT {selected(table, columns)} FROM {table} AS x {joined}").fetchall()
    expected = {f"{name} {kind}": (name, kind) for name, kind, *_ in described}
    found: dict[str, list[str]] = {file: [] for file in files_of(folder, table, places)}
    column = "name || ' ' || coalesce(duckdb_type, 'with columns')"  # the first is the whole
    query = f"SELECT file_name, {column} FROM parquet_schema([{_quoted(found)}])"
    for file, named in connection.execute(query).fetchall() if found else ():
        found[file].append(named)
    for place, (_, *there) in zip(places, found.values(), strict=True):
        if lacking := expected.keys() - {*there}:
            raise _unsound(folder, table, place, f"no column {min(lacking)}")
        if more := Counter(there) - Counter([*expected]):
            raise _unsound(folder, table, place, f"a column {min(more)} that is not the schema's")
    return {name: kind for name, kind in expected.values() if name in columns or table == "evalset"}


_CONSTRAINTS = """
    SELECT table_name, constraint_type, expression, constraint_column_names[1]
    FROM duckdb_constraints()
    WHERE schema_name = 'internal' AND constraint_type IN ('NOT NULL', 'CHECK')
"""


def _wrong_values(table: str, columns: Mapping[str, str], constraints: Iterable[Sequence[str]]) -> dict[str, str]:
    """Aggregates that are true where a value is wrong, and what to say of it.

    A number is compared after its aggregation: DuckDB takes the bounds that a file states for those of all numbers, and
    NaN is in none.
    """
    wrong = {"false": ""}
    for name, kind in columns.items():
        if kind == "DOUBLE":
            wrong[f"max(abs({name})) > {LARGEST_SCORE!r}"] = f"a {name} that no load accepts"
        elif kind == "TIMESTAMP":
            wrong[f"NOT bool_and(isfinite({name}))"] = f"an infinite {name}"
    if table in IDENTIFIED:
        wrong[f"min({table}_id) < 1"] = f"{table}_id below 1"
    for kind, expression, name in constraints:
        if kind == "NOT NULL" and name in columns:
            wrong[f"count({name}) < count(*)"] = f"a row without {name}"
        elif kind == "CHECK" and columns[name] != "DOUBLE":
            wrong[f"NOT bool_and({expression})"] = f"another {name} than expected: {expression}"
    return wrong


def _relations() -> Iterator[tuple[str, str, str]]:
    """What rows of a table must not have with others, and a query for the first evaluation set that has it."""
    for table, (*_, order) in TABLES.items():
        if table != "span":  # two errors may be equal
            query = statement(__package__, "unsorted").format(table=table, order=order)
            yield table, f"rows that are unsorted or the same by {order.replace('x.', '')}", query
    for table, key in _UNIQUE:
        repeated = f"SELECT min(place) AS place FROM temp.checked_{table} GROUP BY {key} HAVING count(*) > 1"
        yield table, f"two rows with the same {key.partition(', ')[2]}", f"SELECT min(place) FROM ({repeated})"
    for table, name, parent in _REFERENCES:
        own = name if name == parent else f"{parent}_id"
        named = f"SELECT DISTINCT place, {name} AS {own} FROM temp.checked_{table} WHERE {name} IS NOT NULL"
        query = f"SELECT min(place) FROM ({named}) ANTI JOIN temp.checked_{parent} USING (place, {own})"
        yield table, f"a {name} that is not in {parent}", query
    yield "vector", "other n_values, n_missing or level than its scores", statement(__package__, "counted_vectors")
