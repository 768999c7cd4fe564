"""Checksums of what is stored, kept beside it: a file whose blocks were swapped reads as sound.

A checksum depends on the rows alone, not on their order, on threads, or on DuckDB's own hash function.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import duckdb
import numpy as np

from warehouse.database.connection import Warehouse
from warehouse.database.statements import statement
from warehouse.errors import SchemaError

Columns = Callable[[str, Mapping[str, object]], Mapping[str, np.ndarray[Any, Any]]]

TABLES = ("score", "vector", "aggregate_score", "judgement", "rating", "segment", "segment_text", "system")
CATALOGUE = (
    *("testset", "evalset", "scorer", "metric_fact", "entry", "source", "system_spelling", "language", "known_issue"),
)
"""Tables that are checked as a whole; the statements number all of them in this order, from 0."""
_NAMES = (*TABLES, *CATALOGUE)
_WHOLE_FILE = 0  # instead of an evaluation set's number, of which the first is 1
_ODD = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # multipliers of SplitMix64
_PIECE = 1 << 16  # rows that are mixed at a time, which a processor's cache holds
_READ = 1 << 21  # scores that are read at a time
_sql = partial(statement, __package__)


@dataclass(frozen=True)
class Checksum:
    """Number of rows, and the sum of a number of 64 bits for each."""

    n_rows: int
    total: str


Checksums = dict[tuple[int, str], Checksum]
"""By evaluation set (0 for the whole file) and table; a table without rows has none."""


def write_checksums(connection: duckdb.DuckDBPyConnection, evalset_ids: Sequence[int]) -> None:
    """Keep the checksums of evaluation sets and of the catalogue in the attached warehouse, in place of earlier ones.

    To be called inside the transaction that changes the evaluation sets, when all their rows are there. One that is
    gone loses its own.
    """
    columns = partial(_columns, connection)
    found = _of_evalsets(columns, evalset_ids) | _of_catalogue(columns)
    connection.execute(
        "DELETE FROM checksum WHERE evalset_id IN (SELECT unnest($evalsets::INTEGER[]))",
        {"evalsets": [_WHOLE_FILE, *evalset_ids]},
    )
    if found:
        connection.execute(
            _sql("insert_checksums"),
            {
                "evalsets": [evalset_id for evalset_id, _ in found],
                "names": [name for _, name in found],
                "counts": [checksum.n_rows for checksum in found.values()],
                "sums": [checksum.total for checksum in found.values()],
            },
        )


def kept_checksums(warehouse: Warehouse) -> Checksums:
    """What was kept when the rows were written."""
    rows = warehouse.rows("SELECT evalset_id, name, n_rows, checksum FROM checksum")
    return {(evalset_id, name): Checksum(n_rows, total) for evalset_id, name, n_rows, total in rows}


def check_catalogue(warehouse: Warehouse, kept: Checksums) -> None:
    """Read the tables of the whole file, and look every key up that has an index.

    Raises SchemaError: rows are not those that were written, or an index does not find them.
    """
    found = _of_catalogue(warehouse.columns)
    changed = [name for name in CATALOGUE if kept.get((_WHOLE_FILE, name)) != found.get((_WHOLE_FILE, name))]
    if changed:
        raise damaged(warehouse, f"rows of {', '.join(changed)} are not those that were written")
    keys = warehouse.rows(_sql("keys"))
    by_key = {(name, id) for id in {id for _, id in keys} for (name,) in warehouse.rows(_sql("keyed_rows"), {"id": id})}
    if lost := [name for name, id in keys if (name, id) not in by_key]:
        raise damaged(warehouse, f"the index of {lost[0]} does not find {lost.count(lost[0])} of its rows")


def changed_tables(warehouse: Warehouse, kept: Checksums, evalset_id: int) -> list[str]:
    """Tables whose rows of an evaluation set do not add up to what was kept when they were written, in order."""
    found = _of_evalsets(warehouse.columns, [evalset_id])
    return [name for name in TABLES if kept.get((evalset_id, name)) != found.get((evalset_id, name))]


def damaged(warehouse: Warehouse, what: str) -> SchemaError:
    return SchemaError(
        f"{warehouse.path}: damaged, or changed by another program: {what}; load the scores into a new file"
    )


def _of_evalsets(columns: Columns, evalset_ids: Sequence[int]) -> Checksums:
    """columns: answers a query in NumPy columns, as `Warehouse.columns` does."""
    asked: dict[str, object] = {"evalsets": list(evalset_ids)}
    vectors = columns(_sql("checked_vectors"), asked)
    spans = _spans(vectors["vector_id"], vectors["n"])
    scores = (columns(_sql("checked_scores"), {**asked, "first": first, "last": last}) for first, last in spans)
    return _sums(scores, max(evalset_ids, default=0)) | _sums(
        iter([columns(_sql("checked_rows"), asked)]), max(evalset_ids, default=0)
    )


def _of_catalogue(columns: Columns) -> Checksums:
    return _sums(iter([columns(_sql("checked_catalogue"), {})]), _WHOLE_FILE)


def _spans(vectors: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """First and last of vectors that are read together, so that no answer has many more rows than `_READ`."""
    pieces = (np.cumsum(counts, dtype=np.int64) - 1) // _READ
    starts = np.flatnonzero(np.diff(pieces, prepend=-1))
    ends = np.append(starts, len(vectors))[1:] - 1
    return [(int(vectors[start]), int(vectors[end])) for start, end in zip(starts, ends, strict=True)]


def _sums(answers: Iterator[Mapping[str, np.ndarray[Any, Any]]], last_evalset: int) -> Checksums:
    """Checksums of rows with columns evalset_id, key, value, and number (of the table; without it, the first)."""
    n_slots = (last_evalset + 1) * len(_NAMES)
    sums, counts = np.zeros(n_slots, dtype=np.uint64), np.zeros(n_slots, dtype=np.int64)
    for found in answers:
        slots = found["evalset_id"].astype(np.int64) * len(_NAMES)
        if "number" in found:
            slots += found["number"]
        counts += np.bincount(slots, minlength=n_slots)
        for start in range(0, len(slots), _PIECE):
            piece = slice(start, start + _PIECE)
            np.add.at(sums, slots[piece], mixed(found["key"][piece], found["value"][piece]))
    return {
        (int(slot) // len(_NAMES), _NAMES[int(slot) % len(_NAMES)]): Checksum(
            int(counts[slot]), f"{int(sums[slot]):016x}"
        )
        for slot in np.flatnonzero(counts)
    }


def mixed(keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A number of 64 bits for each key with its value, where one bit of either changes about half of them (SplitMix64).

    >>> import numpy as np
    >>> [f"{number:x}" for number in mixed(np.array([1, 2], dtype=np.uint64), np.array([0.0, np.nan]))]
    ['e220a8397b1dcdaf', 'cbff414f082e4e34']
    """
    first, second, third = (np.uint64(number) for number in _ODD)
    mix = np.asarray(keys, dtype=np.uint64) * first
    mix += np.asarray(values, dtype=np.float64).view(np.uint64)
    mix ^= mix >> np.uint64(30)
    mix *= second
    mix ^= mix >> np.uint64(27)
    mix *= third
    mix ^= mix >> np.uint64(31)
    return mix


def _columns(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Mapping[str, object]
) -> dict[str, np.ndarray[Any, Any]]:
    found = connection.execute(query, dict(parameters)).fetchnumpy()
    return {
        name: column.filled(np.nan) if isinstance(column, np.ma.MaskedArray) else column
        for name, column in found.items()
    }
