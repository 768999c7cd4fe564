"""What an export names and tells."""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import duckdb

from warehouse.database.connection import Warehouse
from warehouse.database.opening import is_of_damage, plain_path
from warehouse.errors import SchemaError, is_of_full_disk


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
class Exported:
    """What was written of one evaluation set: n_rows in n_files of n_bytes; notes: what found no place."""

    testset: str
    lp: str
    n_files: int
    n_rows: int
    n_bytes: int
    notes: tuple[str, ...] = ()


def quoted(name: str) -> str:
    """A name as part of a path: what could end a folder's name or begin another is percent-encoded."""
    encoded = quote(name, safe=" +,()@")
    return encoded.replace(".", "%2E") if set(encoded) == {"."} else encoded


def copy(
    warehouse: Warehouse, query: str, path: Path, options: str, parameters: Mapping[str, object] | None = None
) -> int:
    """Write the rows of one of the program's own queries to a file; how many there were.

    Raises OSError: the file can't be written. SchemaError: the warehouse is damaged.
    """
    target = plain_path(path).replace("'", "''")
    try:
        ((n_rows,),) = warehouse.rows(f"COPY ({query}) TO '{target}' ({options})", parameters)
    except SchemaError as error:
        cause = error.__cause__
        if isinstance(cause, duckdb.IOException) and not is_of_damage(cause):
            first = str(cause).splitlines()[0]
            if is_of_full_disk(first):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
            raise OSError(f"{path}: can't be written: {first}") from error
        raise
    return int(n_rows)
