"""Checksums of what is stored of each evaluation set, kept beside it: a file whose blocks were swapped reads as sound.

A checksum depends on the rows alone, not on their order, on threads, or on DuckDB's own hash function.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb

from warehouse.database.statements import statement

if TYPE_CHECKING:
    import numpy as np

Columns = Callable[[str, Mapping[str, object]], "Mapping[str, np.ndarray[Any, Any]]"]
Rows = Callable[[str, Mapping[str, object]], "list[tuple[Any, ...]]"]
Checksums = dict[tuple[int, str], str]  # by evaluation set and table

TABLES = (
    *("score", "vector", "aggregate_score", "judgement", "rating", "segment", "segment_text", "system", "scorer"),
)
_ODD = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # multipliers of SplitMix64
_PIECE = 1 << 16  # rows that are mixed at a time, which a processor's cache holds
_sql = partial(statement, __package__)


def checksums(columns: Columns, evalset_ids: Sequence[int]) -> Checksums:
    """What the rows of evaluation sets add up to, table by table; a table without rows of one has none there.

    columns: answers a query in NumPy columns, as `Warehouse.columns` does.
    """
    import numpy as np

    asked = {"evalsets": list(evalset_ids)}
    n_slots = (max(evalset_ids, default=0) + 1) * len(TABLES)
    sums, counts = np.zeros(n_slots, dtype=np.uint64), np.zeros(n_slots, dtype=np.int64)
    for name in ("checked_scores", "checked_rows"):
        found = columns(_sql(name), asked)
        slots = found["evalset_id"].astype(np.int64) * len(TABLES)
        if "number" in found:
            slots += found["number"]
        counts += np.bincount(slots, minlength=n_slots)
        for start in range(0, len(slots), _PIECE):
            piece = slice(start, start + _PIECE)
            np.add.at(sums, slots[piece], mixed(found["key"][piece], found["value"][piece]))
    return {
        (int(slot) // len(TABLES), TABLES[int(slot) % len(TABLES)]): f"{int(counts[slot])}:{int(sums[slot]):016x}"
        for slot in np.flatnonzero(counts)
    }


def mixed(keys: "np.ndarray[Any, Any]", values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """A number of 64 bits for each key with its value, where one bit of either changes about half of them (SplitMix64).

    >>> import numpy as np
    >>> [f"{number:x}" for number in mixed(np.array([1, 2], dtype=np.uint64), np.array([0.0, np.nan]))]
    ['e220a8397b1dcdaf', 'cbff414f082e4e34']
    """
    import numpy as np

    first, second, third = (np.uint64(number) for number in _ODD)
    mix = np.asarray(keys, dtype=np.uint64) * first
    mix += np.asarray(values, dtype=np.float64).view(np.uint64)
    mix ^= mix >> np.uint64(30)
    mix *= second
    mix ^= mix >> np.uint64(27)
    mix *= third
    mix ^= mix >> np.uint64(31)
    return mix


def write_checksums(connection: duckdb.DuckDBPyConnection, evalset_ids: Sequence[int]) -> None:
    """Keep the checksums of evaluation sets in the attached warehouse in place of earlier ones.

    To be called inside the transaction that changes the evaluation sets, when all their rows are there. One that is
    gone loses its own.
    """
    found = checksums(partial(_columns, connection), evalset_ids)
    connection.execute(
        "DELETE FROM checksum WHERE evalset_id IN (SELECT unnest($evalsets::INTEGER[]))",
        {"evalsets": list(evalset_ids)},
    )
    if found:
        connection.execute(
            "INSERT INTO checksum SELECT unnest($ids::INTEGER[]), unnest($names::VARCHAR[]), unnest($sums::VARCHAR[])",
            {
                "ids": [evalset_id for evalset_id, _ in found],
                "names": [name for _, name in found],
                "sums": list(found.values()),
            },
        )


def changed_tables(rows: Rows, columns: Columns, evalset_id: int) -> list[str]:
    """Tables whose rows of an evaluation set do not add up to what was kept when they were written, in order.

    rows, columns: answer a query, as the methods of `Warehouse` do.
    """
    kept: dict[str, str] = dict(
        rows("SELECT name, checksum FROM checksum WHERE evalset_id = $evalset", {"evalset": evalset_id})
    )
    found = {name: checksum for (_, name), checksum in checksums(columns, [evalset_id]).items()}
    return [name for name in TABLES if kept.get(name) != found.get(name)]


def _columns(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Mapping[str, object]
) -> "dict[str, np.ndarray[Any, Any]]":
    import numpy as np

    found = connection.execute(query, dict(parameters)).fetchnumpy()
    return {
        name: column.filled(np.nan) if isinstance(column, np.ma.MaskedArray) else column
        for name, column in found.items()
    }
