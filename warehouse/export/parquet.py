"""Parquet for other engines, partitioned by test set and language pair; holds all that is needed to come back.

One folder a table: TABLE/testset=NAME/lp=PAIR/data.parquet. The identifiers that tables share are kept, and names stand
beside them where a question would need them.
"""

from pathlib import Path

from warehouse.database.connection import Warehouse
from warehouse.export.exported import EvalsetKey, Exported, copy
from warehouse.export.files import beside
from warehouse.export.manifest import FileRecord, is_export, partition_file, read_manifest, write_manifest

NAMES = "JOIN scorer AS sc ON sc.scorer_id = v.scorer_id JOIN system AS y ON y.system_id = v.system_id"
TABLES: dict[str, tuple[str, str, str]] = {
    "evalset": (
        "year, description",
        "(SELECT e.*, t.year, t.description FROM evalset AS e JOIN testset AS t ON t.testset_id = e.testset_id)",
        "evalset_id",
    ),
    "source": ("", "source", "source_id"),
    "segment": ("", "segment", "segment"),
    "segment_text": ("", "segment_text", "kind, name, segment"),
    "system": ("", "system", "system_id"),
    "system_spelling": (
        "",
        "(SELECT x.*, y.evalset_id FROM system_spelling AS x JOIN system AS y ON y.system_id = x.system_id)",
        "system_id, spelling",
    ),
    "scorer": (
        "",
        """(
          SELECT sc.*, k.evalset_id
          FROM scorer AS sc
          JOIN (SELECT evalset_id, scorer_id FROM vector UNION SELECT evalset_id, scorer_id FROM entry) AS k
            ON k.scorer_id = sc.scorer_id
        )""",
        "scorer_id",
    ),
    "entry": ("", "entry", "scorer_id"),
    "vector": (
        "kind, scorer, system",
        f"(SELECT v.*, sc.kind, sc.name AS scorer, y.name AS system FROM vector AS v {NAMES})",
        "vector_id",
    ),
    "score": (
        "kind, scorer, system",
        f"""(
          SELECT s.*, v.evalset_id, sc.kind, sc.name AS scorer, y.name AS system
          FROM score AS s
          JOIN vector AS v ON v.vector_id = s.vector_id {NAMES}
        )""",
        "vector_id, segment",
    ),
    "aggregate_score": (
        "kind, scorer, system, level",
        f"""(
          SELECT s.*, v.evalset_id, sc.kind, sc.name AS scorer, y.name AS system, v.level
          FROM aggregate_score AS s
          JOIN vector AS v ON v.vector_id = s.vector_id {NAMES}
        )""",
        "vector_id, unit",
    ),
    "judgement": (
        "scorer, system",
        f"""(
          SELECT s.*, v.evalset_id, sc.name AS scorer, y.name AS system
          FROM judgement AS s
          JOIN vector AS v ON v.vector_id = s.vector_id {NAMES}
        )""",
        "judgement_id",
    ),
    "span": (
        "",
        """(
          SELECT r.*, r.rowid AS place_in_table, v.evalset_id
          FROM span AS r
          JOIN judgement AS j ON j.judgement_id = r.judgement_id
          JOIN vector AS v ON v.vector_id = j.vector_id
        )""",
        "judgement_id, place_in_table",
    ),
}
"""Tables that are exported: columns beside the table's own, where its rows come from with evalset_id, their order."""
_NOT_IN_FILES = {"testset_id", "lp", "testset"}  # folders tell


TABLE_COLUMNS = "SELECT name FROM pragma_table_info($table) ORDER BY cid"


def export_parquet(warehouse: Warehouse, key: EvalsetKey, folder: Path) -> Exported:
    """Write one evaluation set's partitions; each file takes its place once it is complete, the manifest comes last.

    Raises SourceError: a manifest there that is not an export's. OSError: the folder can't be written.
    """
    manifest = read_manifest(folder, TABLES) if is_export(folder) else {}
    files = {}
    for table, (more, origin, order) in TABLES.items():
        own = [name for (name,) in warehouse.rows(TABLE_COLUMNS, {"table": table}) if name not in _NOT_IN_FILES]
        columns = ", ".join([f'"{name}"' for name in own] + ([more] if more else []))
        query = f"SELECT {columns} FROM {origin} AS x WHERE x.evalset_id = {key.evalset_id:d} ORDER BY {order}"
        with beside(partition_file(folder, table, key)) as fresh:
            files[table] = FileRecord.of(fresh, copy(warehouse, query, fresh, "FORMAT parquet, COMPRESSION zstd"))
    write_manifest(folder, {**manifest, (key.testset, key.lp): files})
    n_rows, n_bytes = sum(file.rows for file in files.values()), sum(file.bytes for file in files.values())
    return Exported(key.testset, key.lp, len(files), n_rows, n_bytes)
