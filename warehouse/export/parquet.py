"""Parquet for other engines, partitioned by test set and language pair, with all data needed for import.

One folder per table: TABLE/testset=NAME/lp=PAIR/data.parquet. Shared identifiers are kept, and names are
added if queries need them. The manifest has every file with its rows, size and checksum.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from warehouse.database.buckets import Bucket
from warehouse.database.connection import Warehouse
from warehouse.errors import SourceError
from warehouse.export.exported import PARQUET, EvalsetKey, ExportedEvalset, copy_each, replacing_file, write_text
from warehouse.grouping import grouped
from warehouse.names import EXPORT_MANIFEST
from warehouse.progress import Progress
from warehouse.wording import first_names

MANIFEST = EXPORT_MANIFEST
VERSION = 3
_FORMAT = "scorehouse parquet"
AGAIN = "export it again, into a new folder"


@dataclass(frozen=True)
class FileRecord:
    """The manifest's record of one file."""

    rows: int
    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path, rows: int) -> "FileRecord":
        """The record of a file in its current state."""
        if isinstance(path, Bucket):
            return cls(rows, *path.asked("size, sha256(content)"))
        with path.open("rb") as file:
            return cls(rows, path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


Files = Mapping[str, FileRecord]  # by table; a table without a file has no rows


@dataclass(frozen=True)
class Partition:
    """The manifest's record of one evaluation set.

    batch: the call to `export` that wrote it; identifiers are only consistent within a batch.
    program: the version of scorehouse that wrote it.
    """

    files: Files
    batch: int
    program: str


Manifest = dict[tuple[str, str], Partition]  # by test set and language pair


def partition_file(folder: Path, table: str, key: EvalsetKey) -> Path:
    """The path of a table's rows."""
    return folder / f"{table}/{key.partition}/data.parquet"


def is_export(folder: Path) -> bool:
    """Whether a folder holds exported Parquet."""
    return (folder / MANIFEST).is_file()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest. Raises OSError: the folder can't be written."""
    data: dict[str, Any] = {
        "format": _FORMAT,
        "version": VERSION,
        "evalsets": [
            {"testset": testset, "lp": lp, **asdict(partition)} for (testset, lp), partition in sorted(manifest.items())
        ],
    }
    write_text(folder / MANIFEST, json.dumps({**data, "sha256": _seal(data)}, indent=1) + "\n")


def read_manifest(folder: Path) -> Manifest:
    """Files of each table by test set and language pair.

    Raises SourceError: the manifest is missing, invalid or changed, or belongs to another version of the program.
    """
    path = folder / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != _FORMAT or data["version"] not in (2, VERSION):
            found = f"{data['format']}, version {data['version']}"
            raise ValueError(f"{found}, expected {_FORMAT}, version {VERSION}, as this version of scorehouse writes it")
        if data.pop("sha256") != _seal(data):
            raise ValueError("its content does not match its checksum")
        return {
            (_text(evalset["testset"]), _text(evalset["lp"])): Partition(
                {table: _record(record) for table, record in evalset["files"].items() if TABLES[table]},
                int(evalset.get("batch", number)),
                _text(evalset.get("program", "")),
            )
            for number, evalset in enumerate(data["evalsets"])
        }
    except OSError as error:
        raise SourceError(
            f"cannot be read: {error.strerror}; expected a folder that `export` wrote", about=str(path)
        ) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"not the manifest of a complete export: {error}; {AGAIN}", about=str(path)) from error


def _record(data: Mapping[str, Any]) -> FileRecord:
    """A file's record in the manifest. Raises ValueError: a value is of another type."""
    if {name: type(value) for name, value in data.items()} != {"rows": int, "bytes": int, "sha256": str}:
        raise ValueError(f"{data!r} is no file's rows, bytes and sha256")
    return FileRecord(**data)


def _text(value: Any) -> str:
    """A name in the manifest. Raises ValueError: it is not a text."""
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(f"{value!r} is no name")
    return value


def listed(folder: Path, manifest: Manifest) -> dict[Path, FileRecord]:
    """The files of a manifest, for all or some evaluation sets."""
    return {
        partition_file(folder, table, EvalsetKey(0, testset, lp)): record
        for (testset, lp), partition in manifest.items()
        for table, record in partition.files.items()
    }


def check_files(folder: Path, manifest: Manifest) -> None:
    """Check that a folder's files match its manifest byte for byte, for all or some evaluation sets.

    Raises SourceError: they do not; the first such files are named.
    """
    files = [*listed(folder, manifest).items()]
    n = -(-len(files) // _AT_ONCE) or 1
    try:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            parts = pool.map(partial(_faults, folder.resolve()), (files[k : k + n] for k in range(0, len(files), n)))
            faulty = [(path.relative_to(folder).as_posix(), fault) for part in parts for path, fault in part]
    except OSError as error:
        raise SourceError(f"cannot be read: {error}", about=str(folder)) from error
    wrong = [
        f"{len(found)} of {len(files)} files {fault}: {first_names(found)}"
        for fault in _FAULTS
        if (found := [name for name, one in faulty if one == fault])
    ]
    if wrong:
        raise SourceError(f"not a complete export: {'; '.join(wrong)}; {AGAIN}", about=str(folder))


_AT_ONCE = 8  # files that are compared: most of the time goes into waiting for a bucket
_FAULTS = ("whose links lead out of the folder", "missing", "differ from the manifest")


def _faults(root: Path, files: Iterable[tuple[Path, FileRecord]]) -> list[tuple[Path, str]]:
    """The files with which something is wrong, and what."""
    found = []
    for path, record in files:
        if not path.resolve().is_relative_to(root):
            found.append((path, _FAULTS[0]))
        elif not path.is_file():
            found.append((path, _FAULTS[1]))
        elif FileRecord.of(path, record.rows) != record:
            found.append((path, _FAULTS[2]))
    return found


def _seal(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


_NAMED = """(
  SELECT v.vector_id, v.evalset_id, v.level, sc.kind, sc.name AS scorer, y.name AS system
  FROM vector AS v
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
  JOIN system AS y ON y.system_id = v.system_id
)"""
_OF_VECTOR = f"JOIN {_NAMED} AS v ON v.vector_id = x.vector_id"
_SCORERS = "(SELECT evalset_id, scorer_id FROM vector UNION SELECT evalset_id, scorer_id FROM entry)"
TABLES: dict[str, tuple[str, str, str, str]] = {
    "evalset": ("t.year, t.description", "JOIN testset AS t ON t.testset_id = x.testset_id", "x", "evalset_id"),
    "source": ("", "", "x", "source_id"),
    "segment": ("", "", "x", "segment"),
    "segment_text": ("", "", "x", "kind, name, segment"),
    "system": ("", "", "x", "system_id"),
    "system_spelling": ("", "JOIN system AS y ON y.system_id = x.system_id", "y", "x.system_id, spelling"),
    "scorer": ("", f"JOIN {_SCORERS} AS k ON k.scorer_id = x.scorer_id", "k", "x.scorer_id"),
    "entry": ("", "", "x", "scorer_id"),
    "vector": ("v.kind, v.scorer, v.system", _OF_VECTOR, "x", "x.vector_id"),
    "score": ("v.kind, v.scorer, v.system", _OF_VECTOR, "v", "x.vector_id, segment"),
    "aggregate_score": ("v.kind, v.scorer, v.system, v.level", _OF_VECTOR, "v", "x.vector_id, unit"),
    "judgement": ("v.scorer, v.system", _OF_VECTOR, "v", "judgement_id"),
    "span": (
        "",
        "JOIN judgement AS j ON j.judgement_id = x.judgement_id JOIN vector AS v ON v.vector_id = j.vector_id",
        "v",
        "x.judgement_id, x.rowid",
    ),
    "preference": (
        "v.scorer, v.system AS system_a, w.system AS system_b",
        f"JOIN {_NAMED} AS v ON v.vector_id = x.vector_a JOIN {_NAMED} AS w ON w.vector_id = x.vector_b",
        "v",
        "vector_a, vector_b, ranking",
    ),
}
"""Tables that are exported: columns beside their own, what is joined, whose evalset_id tells the partition, order."""
_NOT_IN_FILES = {"testset_id", "lp", "testset"}  # folders tell


TABLE_COLUMNS = "SELECT name, type FROM pragma_table_info($table) ORDER BY cid"


def selected(table: str, columns: Iterable[str]) -> str:
    """A table's columns in files, as a query for them names them."""
    own = (f'x."{name}"' for name in columns if name not in _NOT_IN_FILES)
    return ", ".join([*own, *filter(None, [TABLES[table][0]])])


def export_parquet(
    warehouse: Warehouse, keys: Sequence[EvalsetKey], folder: Path, progress: Progress | None = None
) -> list[ExportedEvalset]:
    """Write the partitions of evaluation sets; each file is moved into place when complete, the manifest last.

    Small evaluation sets are read together, with one query per table, and large ones are streamed one by one.
    Raises SourceError: the folder has a manifest that is not an export's. OSError: the folder can't be written.
    """
    manifest = read_manifest(folder) if is_export(folder) else {}
    batch = 1 + max((partition.batch for partition in manifest.values()), default=-1)
    done: list[ExportedEvalset] = []
    sizes = dict(warehouse.rows(_ROWS))
    for group in grouped(keys, lambda key: sizes.get(key.evalset_id, 0), lambda _, n: n > _ROWS_TOGETHER):
        if progress is not None:
            progress(f"{group[0].testset} {group[0].lp}: writing", len(done), len(keys))
        written: dict[EvalsetKey, dict[str, FileRecord]] = {key: {} for key in group}
        for table in TABLES:
            for key, record in _write(warehouse, table, group, folder):
                written[key][table] = record
        for key, files in written.items():
            manifest[key.testset, key.lp] = Partition(files, batch, version("scorehouse"))
            n_rows, n_bytes = (sum(getattr(file, name) for file in files.values()) for name in ("rows", "bytes"))
            done.append(ExportedEvalset(key.testset, key.lp, len(files), n_rows, n_bytes))
    write_manifest(folder, manifest)
    return done


_ROWS_TOGETHER = 500_000  # scores of evaluation sets that are read together
_ROWS = """
    SELECT evalset_id, sum(n)::BIGINT
    FROM (SELECT evalset_id, n_values AS n FROM vector UNION ALL SELECT evalset_id, 1 FROM segment_text)
    GROUP BY evalset_id
"""


def _write(
    warehouse: Warehouse, table: str, keys: Sequence[EvalsetKey], folder: Path
) -> Iterator[tuple[EvalsetKey, FileRecord]]:
    """Write a table's files for some evaluation sets; returns the evaluation sets with rows."""
    _, joined, whose, order = TABLES[table]
    columns = selected(table, [name for name, _ in warehouse.rows(TABLE_COLUMNS, {"table": table})])
    chosen = ", ".join(f"{key.evalset_id:d}" for key in keys)
    source = f"FROM {table} AS x {joined} WHERE {whose}.evalset_id IN ({chosen}) ORDER BY {order}"
    paths = {key.evalset_id: partition_file(folder, table, key) for key in keys}
    if len(keys) == 1:
        written = copy_each(warehouse, dict.fromkeys(paths.values(), f"SELECT {columns} {source}"), PARQUET)
    else:
        written = {}
        rows = warehouse.frame(f"SELECT {whose}.evalset_id AS partition_of, {columns} {source}")
        for (evalset,), part in rows.partition_by("partition_of", as_dict=True, include_key=False).items():
            with replacing_file(paths[evalset]) as fresh:
                part.write_parquet(fresh)
            written[paths[evalset]] = part.height
    for key in keys:
        if n_rows := written.get(path := paths[key.evalset_id]):
            yield key, FileRecord.of(path, n_rows)
        else:
            _remove_file(path)


def _remove_file(path: Path) -> None:
    """Delete a file of an export, and folders that become empty."""
    path.unlink(missing_ok=True)
    for folder in list(path.parents)[:3]:
        if not folder.is_dir() or any(folder.iterdir()):
            return
        folder.rmdir()
