"""A copy of a warehouse: a new file created by the migrations, with the rows of all or some test sets; no texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from warehouse.database import literal
from warehouse.database.connection import Warehouse
from warehouse.database.opening import plain_path
from warehouse.database.updating import in_memory, writing
from warehouse.errors import SourceError, unknown
from warehouse.export.parquet import TABLE_COLUMNS

TEXTS = "segment_text"
_EVALSETS = "evalset_id IN (SELECT evalset_id FROM internal.evalset)"
_VECTORS = "vector_id IN (SELECT vector_id FROM internal.vector)"
_CHOSEN: Mapping[str, str] = {
    "testset": "name IN (SELECT unnest($testsets::VARCHAR[]))",
    "evalset": "testset_id IN (SELECT testset_id FROM internal.testset)",
    "segment": _EVALSETS,
    "segment_text": _EVALSETS,
    "system": _EVALSETS,
    "system_spelling": "system_id IN (SELECT system_id FROM internal.system)",
    "entry": _EVALSETS,
    "source": _EVALSETS,
    "vector": _EVALSETS,
    "scorer": "scorer_id IN (SELECT scorer_id FROM internal.vector UNION SELECT scorer_id FROM internal.entry)",
    "score": _VECTORS,
    "aggregate_score": _VECTORS,
    "judgement": _VECTORS,
    "span": "judgement_id IN (SELECT judgement_id FROM internal.judgement)",
    "preference": "vector_a IN (SELECT vector_id FROM internal.vector)",
    "known_issue": "testset IN (SELECT name FROM internal.testset)",
    "metric_fact": "testset_id IN (SELECT testset_id FROM internal.testset)",
    "language": "true",
    "result": "testset IN (SELECT name FROM internal.testset)",
}
"""Which rows belong to the chosen test sets, in terms of tables that were copied before."""
_PLACED = "replace({}, path, parse_filename(path))"
_OTHER_VALUES = {
    ("source", "path"): _PLACED.format("origin"),
    ("source", "origin"): _PLACED.format("origin"),
    ("source", "fault"): _PLACED.format("fault"),
}
"""Where the files lay is the owner's matter: the copy has the name that they go by, without folders of this machine."""


def copy_warehouse(
    database: Path, target: Path, testsets: Sequence[str] | None = None, *, with_texts: bool = False
) -> dict[str, int]:
    """Copy a warehouse to a new file as small as DuckDB makes it; the number of rows by table.

    testsets: only these; None: all. The copy has every view and macro, and no path of a loaded file.
    Raises SourceError: the file already exists. QuestionError: an unknown test set. SchemaError: see `Warehouse.open`;
    the copy cannot be written.
    """
    if target.exists():
        raise SourceError(f"{target} already exists")
    with Warehouse.open(database) as warehouse:
        known = [name for (name,) in warehouse.rows("SELECT name FROM testset ORDER BY name")]
    for one in testsets or ():
        if one not in known:
            raise unknown("test set", one, known)
    chosen = list(known if testsets is None else testsets)
    counts = {}
    with in_memory(database, below=target.parent) as connection, writing(target, connection):
        connection.execute(f"ATTACH {literal(plain_path(database))} AS original (READ_ONLY)")
        connection.execute("BEGIN")
        for table, condition in _CHOSEN.items():
            if table == TEXTS and not with_texts:
                continue
            columns = [name for name, _ in connection.execute(TABLE_COLUMNS, {"table": table}).fetchall()]
            names = ", ".join(columns)
            values = ", ".join(_OTHER_VALUES.get((table, name), name) for name in columns)
            parameters = {"testsets": chosen} if "$testsets" in condition else {}
            ((counts[table],),) = connection.execute(
                f"INSERT INTO internal.{table} ({names}) SELECT {values} FROM original.internal.{table} "
                f"WHERE {condition.replace('internal.', 'warehouse_file.internal.')}",
                parameters,
            ).fetchall()
        connection.execute("COMMIT")
        connection.execute("DETACH original")
        connection.execute("CHECKPOINT warehouse_file")
    return counts
