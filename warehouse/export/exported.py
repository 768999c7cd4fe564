"""Names, results and files of an export; each file is moved into place when complete."""

import contextlib
import errno
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

import duckdb

from warehouse.database import literal
from warehouse.database.connection import Warehouse
from warehouse.database.opening import is_of_damage, plain_path
from warehouse.errors import SchemaError, is_of_full_disk
from warehouse.names import UNFINISHED_EXPORT
from warehouse.wording import first_line


@dataclass(frozen=True)
class EvalsetKey:
    """An evaluation set of a warehouse."""

    evalset_id: int
    testset: str
    lp: str

    @property
    def partition(self) -> str:
        """Folders of its partition, as Hive names them.

        >>> EvalsetKey(1, "wmt25", "en-sr_Cyrl_RS").partition
        'testset=wmt25/lp=en-sr_Cyrl_RS'
        """
        return f"testset={quoted(self.testset)}/lp={quoted(self.lp)}"


@dataclass(frozen=True)
class ExportedEvalset:
    """The export of one evaluation set: n_rows in n_files with n_bytes; notes: data that did not fit."""

    testset: str
    lp: str
    n_files: int
    n_rows: int
    n_bytes: int
    notes: tuple[str, ...] = ()


class UnfitError(ValueError):
    """An evaluation set, or a part of it, that a format cannot hold."""


@cache
def quoted(name: str) -> str:
    """A name as part of a path: characters that could end or begin a folder's name are percent-encoded."""
    encoded = quote(name, safe=" +,()@")
    return encoded.replace(".", "%2E") if set(encoded) == {"."} else encoded


def copy(
    warehouse: Warehouse, query: str, path: Path, options: str, parameters: Mapping[str, object] | None = None
) -> int:
    """Write the rows of one of the program's own queries to a file; returns their number.

    Raises OSError: the file can't be written. SchemaError: the warehouse is damaged.
    """
    try:
        ((n_rows,),) = warehouse.rows(f"COPY ({query}) TO {literal(plain_path(path))} ({options})", parameters)
    except SchemaError as error:
        cause = error.__cause__
        if isinstance(cause, duckdb.IOException) and not is_of_damage(cause):
            if is_of_full_disk(first_line(cause)):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
            raise OSError(f"{path}: can't be written: {first_line(cause)}") from error
        raise
    return int(n_rows)


def copy_each(
    warehouse: Warehouse, queries: Mapping[Path, str], options: str, parameters: Mapping[str, object] | None = None
) -> dict[Path, int]:
    """The number of rows of each file that has any; see `copy`."""
    counts = {}
    for path, query in queries.items():
        with replacing_file(path) as fresh:
            n_rows = copy(warehouse, query, fresh, options, parameters)
        if n_rows:
            counts[path] = n_rows
        else:
            path.unlink()
    return counts


UNKNOWN_DOMAIN = "all"  # in files that need one of every document
PARQUET = "FORMAT parquet, COMPRESSION zstd"
LONGEST_NAME = 200  # bytes of a file's name without what stands before it and behind it


@contextlib.contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """A hidden file next to the path, to be written in the block; it replaces the path at the end.

    If the block fails, the existing file is kept. Missing folders are made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.tmp")
    try:
        yield fresh
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> Path:
    """Write a text as UTF-8 with unchanged line ends; returns the path."""
    with replacing_file(path) as fresh:
        fresh.write_bytes(text.encode())
    return path


def is_unfinished(folder: Path) -> bool:
    """Whether an export into the folder was begun and not finished."""
    return (folder / UNFINISHED_EXPORT).is_file()


@contextlib.contextmanager
def unfinished(folder: Path, form: str) -> Iterator[None]:
    """Mark a folder as an export in progress; `load` refuses it until the block has ended.

    If the block fails before it has written anything, nothing is left.
    """
    mark, is_new = folder / UNFINISHED_EXPORT, not folder.exists()
    write_text(mark, json.dumps({"format": form}) + "\n")
    try:
        yield
    except BaseException:
        if is_new and list(folder.iterdir()) == [mark]:
            mark.unlink()
            folder.rmdir()
        raise
    mark.unlink()
