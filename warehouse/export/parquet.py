"""Parquet for other engines, partitioned by test set and language pair; holds all that is needed to come back.

One folder per table: TABLE/testset=NAME/lp=PAIR/data.parquet. Shared identifiers are kept, and names stand
beside them where a question would need them. The manifest has every file with its rows, size and checksum.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from warehouse.database.connection import Warehouse
from warehouse.errors import SourceError
from warehouse.export.exported import EvalsetKey, ExportedEvalset, beside, copy, write_text
from warehouse.names import EXPORT_MANIFEST

MANIFEST = EXPORT_MANIFEST
VERSION = 2
_FORMAT = "scorehouse parquet"
_AGAIN = "export it again, into a new folder"
_SHOWN = 3  # files named in a message


@dataclass(frozen=True)
class FileRecord:
    """What the manifest says of one file."""

    rows: int
    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path, rows: int) -> "FileRecord":
        """The record of a file as it is now."""
        with path.open("rb") as file:
            return cls(rows, path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


Files = Mapping[str, FileRecord]  # by table
Manifest = dict[tuple[str, str], Files]  # by test set and language pair


def partition_file(folder: Path, table: str, key: EvalsetKey) -> Path:
    """Where the rows of a table lie."""
    return folder / table / key.partition / "data.parquet"


def is_export(folder: Path) -> bool:
    """Whether a folder holds exported Parquet."""
    return (folder / MANIFEST).is_file()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put the manifest into its place. Raises OSError: the folder can't be written."""
    data: dict[str, Any] = {
        "format": _FORMAT,
        "version": VERSION,
        "evalsets": [
            {"testset": testset, "lp": lp, "files": {table: asdict(file) for table, file in files.items()}}
            for (testset, lp), files in sorted(manifest.items())
        ],
    }
    write_text(folder / MANIFEST, json.dumps({**data, "sha256": _seal(data)}, indent=1) + "\n")


def read_manifest(folder: Path) -> Manifest:
    """Files of each table by test set and language pair.

    Raises SourceError: the manifest is missing, is none, was changed, or belongs to another version of the program.
    """
    path = folder / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != _FORMAT or data["version"] != VERSION:
            found = f"{data['format']}, version {data['version']}"
            raise ValueError(f"{found}, expected {_FORMAT}, version {VERSION}, as this version of scorehouse writes it")
        if data.pop("sha256") != _seal(data):
            raise ValueError("its content does not match its checksum")
        return {
            (evalset["testset"], evalset["lp"]): {
                table: FileRecord(**record) for table, record in evalset["files"].items()
            }
            for evalset in data["evalsets"]
        }
    except OSError as error:
        raise SourceError(
            f"cannot be read: {error.strerror}; expected a folder that `export` wrote", about=str(path)
        ) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise SourceError(f"not the manifest of a complete export: {error}; {_AGAIN}", about=str(path)) from error


def check_files(folder: Path, manifest: Manifest) -> None:
    """Check that a folder holds the files of its manifest, or of some of its evaluation sets, byte for byte.

    Raises SourceError: it does not; the first such files are named.
    """
    listed = {
        partition_file(folder, table, EvalsetKey(0, testset, lp)): record
        for (testset, lp), files in manifest.items()
        for table, record in files.items()
    }
    try:
        missing = [path for path in listed if not path.is_file()]
        changed = [path for path, record in listed.items() if path not in missing and not _is_same(path, record)]
    except OSError as error:
        raise SourceError(f"cannot be read: {error}", about=str(folder)) from error
    wrong = [
        f"{len(found)} of {len(listed)} files {what}: {_named(folder, found)}"
        for found, what in ((missing, "missing"), (changed, "differ from the manifest"))
        if found
    ]
    if wrong:
        raise SourceError(f"not a complete export: {'; '.join(wrong)}; {_AGAIN}", about=str(folder))


def _is_same(path: Path, record: FileRecord) -> bool:
    return path.stat().st_size == record.bytes and FileRecord.of(path, record.rows) == record


def _named(folder: Path, paths: Iterable[Path]) -> str:
    names = [path.relative_to(folder).as_posix() for path in paths]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _seal(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


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
    "preference": (
        "scorer, system_a, system_b",
        f"""(
          SELECT p.*, v.evalset_id, sc.name AS scorer, y.name AS system_a, z.name AS system_b
          FROM preference AS p
          JOIN vector AS v ON v.vector_id = p.vector_a {NAMES}
          JOIN vector AS w ON w.vector_id = p.vector_b
          JOIN system AS z ON z.system_id = w.system_id
        )""",
        "vector_a, vector_b, ranking",
    ),
}
"""Tables that are exported: columns beside the table's own, where its rows come from with evalset_id, their order."""
_NOT_IN_FILES = {"testset_id", "lp", "testset"}  # folders tell


TABLE_COLUMNS = "SELECT name FROM pragma_table_info($table) ORDER BY cid"


def export_parquet(warehouse: Warehouse, key: EvalsetKey, folder: Path) -> ExportedEvalset:
    """Write one evaluation set's partitions; each file takes its place once it is complete, the manifest comes last.

    Raises SourceError: a manifest there that is not an export's. OSError: the folder can't be written.
    """
    manifest = read_manifest(folder) if is_export(folder) else {}
    files = {}
    for table, (more, origin, order) in TABLES.items():
        own = [name for (name,) in warehouse.rows(TABLE_COLUMNS, {"table": table}) if name not in _NOT_IN_FILES]
        columns = ", ".join([f'"{name}"' for name in own] + ([more] if more else []))
        query = f"SELECT {columns} FROM {origin} AS x WHERE x.evalset_id = {key.evalset_id:d} ORDER BY {order}"
        with beside(partition_file(folder, table, key)) as fresh:
            files[table] = FileRecord.of(fresh, copy(warehouse, query, fresh, "FORMAT parquet, COMPRESSION zstd"))
    write_manifest(folder, {**manifest, (key.testset, key.lp): files})
    n_rows, n_bytes = sum(file.rows for file in files.values()), sum(file.bytes for file in files.values())
    return ExportedEvalset(key.testset, key.lp, len(files), n_rows, n_bytes)
