"""What exported files must hold before a row of them is answered or written.

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

IN_PLACE = ("segment_text", "score", "judgement", "span", "preference")
"""Tables that may be large: views of the files, of which a question reads what it needs."""
IDENTIFIED = ("evalset", "source", "system", "vector", "judgement")  # tables whose rows have an identifier
IDENTIFIERS = {f"{name}_id": name for name in IDENTIFIED} | {"vector_a": "vector", "vector_b": "vector"}
_REFERENCES = {**IDENTIFIERS, "scorer_id": "scorer", "segment": "segment"}
_FREE = ("evalset", "segment", "judgement")  # their segments are their own: judgements may be of a tutorial
_KEYS: Mapping[str, Sequence[str]] = {
    "source": ["source_id"],
    "segment": ["place, segment"],
    "segment_text": ["place, kind, name, segment"],
    "system": ["system_id"],
    "system_spelling": ["system_id, spelling"],
    "scorer": ["place, scorer_id", "place, kind, name"],
    "entry": ["place, scorer_id"],
    "vector": ["vector_id", "place, scorer_id, system_id, level"],
    "aggregate_score": ["vector_id, unit"],
    "judgement": ["judgement_id"],
    "preference": ["vector_a, vector_b, segment, ranking"],
}
"""What no two rows share. Errors (`span`) may be equal; scores are sorted, which costs less to see."""
Place = tuple[str, str]


def places_with(table: str, batch: Manifest, places: Iterable[Place]) -> list[Place]:
    """Those of some evaluation sets that have a file of a table."""
    return [place for place in places if table in batch[place].files]


def rows_of(folder: Path, table: str, places: Sequence[Place]) -> str:
    """The rows of a table in the files of evaluation sets, as a table function of DuckDB."""
    paths = (partition_file(folder, table, EvalsetKey(0, *place)) for place in places)
    files = ", ".join(literal(pattern(plain_path(path))) for path in paths)
    return f"read_parquet([{files}], hive_partitioning = false, file_row_number = true)"


def check_rows(connection: duckdb.DuckDBPyConnection, folder: Path, batch: Manifest) -> dict[int, Place]:
    """Check evaluation sets that were exported together; returns them by identifier, in its order.

    connection: to a database with the tables of a warehouse. The exported rows are then in temp.checked_TABLE, where
    `place` is the identifier of the evaluation set that the file is of.
    Raises SourceError: the first fault. duckdb.Error: a file cannot be read.
    """
    columns = {table: dict(connection.execute(TABLE_COLUMNS, {"table": table}).fetchall()) for table in TABLES}
    for table in TABLES:
        _check_columns(connection, folder, table, columns[table], places_with(table, batch, batch))
    by_id = _evalsets(connection, folder, batch)
    ids = {place: number for number, place in by_id.items()}
    places = {table: places_with(table, batch, ids) for table in TABLES}
    for table, having in places.items():
        rows = f"{rows_of(folder, table, having)} AS p" if having else f"(FROM {table} LIMIT 0) AS p"
        place = f"{[ids[one] for one in having]}[p.file_index::INTEGER + 1]" if having else "NULL::INTEGER"
        kind = "VIEW" if table in IN_PLACE else "TABLE"
        connection.execute(f"CREATE OR REPLACE TEMP {kind} checked_{table} AS SELECT p.*, {place} AS place FROM {rows}")
    for table, having in places.items():
        wrong = _wrong_values(connection, table, columns[table])
        query = f"SELECT place, count(*), {', '.join(wrong)} FROM temp.checked_{table} GROUP BY place"
        there = {number: (n, are) for number, n, *are in connection.execute(query).fetchall()}
        for one in having:
            n, are = there.get(ids[one], (0, []))
            if n != (expected := batch[one].files[table].rows):
                raise _unsound(folder, table, one, f"{n} rows, and {expected} in the manifest")
            for found, is_wrong in zip(wrong.values(), are, strict=False):
                if is_wrong:
                    raise _unsound(folder, table, one, found)
    for table in TABLES:
        for found, query in _relations(table, columns[table]):
            ((number,),) = connection.execute(query).fetchall()
            if number is not None:
                raise _unsound(folder, table, by_id[number], found)
    return by_id


def _unsound(folder: Path, table: str, place: Place, found: str) -> SourceError:
    return SourceError(f"{table} of {' '.join(place)} has {found}; {AGAIN}", about=str(folder))


def _check_columns(
    connection: duckdb.DuckDBPyConnection, folder: Path, table: str, columns: Mapping[str, str], places: Sequence[Place]
) -> None:
    """Check that files have the columns of the schema, and those that `export` adds, with their types and no others."""
    _, joined, *_ = TABLES[table]
    described = connection.execute(f"DESCRIBE SELECT {selected(table, columns)} FROM {table} AS x {joined}").fetchall()
    expected = {f"{name} {kind}" for name, kind, *_ in described}
    paths = [plain_path(partition_file(folder, table, EvalsetKey(0, *place))) for place in places]
    files = ", ".join(literal(pattern(path)) for path in paths)
    query = f"SELECT file_name, name || ' ' || coalesce(duckdb_type, 'with columns') FROM parquet_schema([{files}])"
    found: dict[str, list[str]] = {path: [] for path in paths}
    for path, column in connection.execute(query).fetchall() if files else ():
        found[path].append(column)
    for place, (_, *there) in zip(places, found.values(), strict=True):
        if lacking := expected - {*there}:
            raise _unsound(folder, table, place, f"no column {min(lacking)}")
        if more := Counter(there) - Counter(expected):
            raise _unsound(folder, table, place, f"a column {min(more)} that is not the schema's")


def _evalsets(connection: duckdb.DuckDBPyConnection, folder: Path, batch: Manifest) -> dict[int, Place]:
    """The evaluation sets by identifier, in its order; each has a file with one row."""
    places = places_with("evalset", batch, batch)
    query = f"SELECT evalset_id, file_index FROM {rows_of(folder, 'evalset', places)} WHERE evalset_id > 0 ORDER BY ALL"
    found = [(number, places[index]) for number, index in connection.execute(query).fetchall()] if places else []
    by_id = dict(found)
    for place in batch:
        if Counter(by_id.values())[place] != 1 or len(by_id) < len(found):
            raise _unsound(folder, "evalset", place, "not one row with an identifier of its own")
    return by_id


def _wrong_values(connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, str]) -> dict[str, str]:
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
    if "evalset_id" in columns:
        wrong["bool_or(evalset_id <> place)"] = "a row of another evaluation set"
    if table in IDENTIFIED:
        wrong[f"min({table}_id) < 1"] = f"{table}_id below 1"
    constraints = connection.execute(
        "SELECT constraint_type, expression, constraint_column_names[1] FROM duckdb_constraints() "
        "WHERE schema_name = 'internal' AND table_name = $table AND constraint_type IN ('NOT NULL', 'CHECK')",
        {"table": table},
    ).fetchall()
    in_files = selected(table, columns)
    for kind, expression, name in constraints:
        if kind == "NOT NULL" and f'"{name}"' in in_files:
            wrong[f"count({name}) < count(*)"] = f"a row without {name}"
        elif kind == "CHECK" and columns[name] != "DOUBLE":
            wrong[f"NOT bool_and({expression})"] = f"another {name} than expected: {expression}"
    return wrong


def _relations(table: str, columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What rows must not have with others, and a query for the first evaluation set that has it."""
    rows = f"temp.checked_{table}"
    for key in _KEYS.get(table, ()):
        found = f"two rows with the same {key.removeprefix('place, ')}"
        yield (
            found,
            f"SELECT min(place) FROM (SELECT min(place) AS place FROM {rows} GROUP BY {key} HAVING count(*) > 1)",
        )
    for name in columns:
        parent = _REFERENCES.get(name)
        if parent in (None, table, "evalset") or (name == "segment" and table in _FREE):
            continue
        own = "segment" if parent == "segment" else f"{parent}_id"
        yield (
            f"a {name} that is not in {parent}",
            f"SELECT min(x.place) FROM {rows} AS x ANTI JOIN temp.checked_{parent} AS y "
            f"ON y.{own} = x.{name} AND y.place = x.place WHERE x.{name} IS NOT NULL",
        )
    if table == "score":
        yield "two rows with the same vector_id, segment, or unsorted ones", statement(__package__, "unsorted_scores")
    if table == "vector":
        yield "other n_values, n_missing or level than its scores", statement(__package__, "counted_vectors")
