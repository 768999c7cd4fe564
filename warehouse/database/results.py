"""Results that are kept in the warehouse under a key of everything that went into them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from warehouse.database.connection import Warehouse
from warehouse.database.updating import writing
from warehouse.errors import WarehouseError

PATIENCE = 1.0  # seconds to wait for another process before a result is not stored


@dataclass(frozen=True)
class StoredResult:
    """A result: payload is JSON; key, kind, signature and so on as the columns of table `result`."""

    key: str
    kind: str
    testset: str
    lp: str
    signature: str
    payload: str
    program_version: str
    seconds: float


def stored_payload(warehouse: Warehouse, key: str) -> str | None:
    """The payload kept under a key; None where there is none."""
    found = warehouse.rows("SELECT payload FROM result WHERE key = $key", {"key": key})
    return str(found[0][0]) if found else None


def store_results(path: Path, results: Sequence[StoredResult]) -> str | None:
    """Keep results in one short transaction, in place of those of the same keys.

    No warehouse may be open on the file in this process. Returns None, or why the results could not be stored.
    """
    if not path.exists():
        return f"{path}: the warehouse no longer exists"
    try:
        with duckdb.connect() as connection, writing(path, connection, patience=PATIENCE):
            for result in results:
                connection.execute(
                    """
                    INSERT OR REPLACE INTO result
                    VALUES (
                      $key, $kind, $testset, $lp, $signature, $payload, $program_version, $seconds,
                      (now() AT TIME ZONE 'UTC')::TIMESTAMP
                    )
                    """,
                    {**result.__dict__},
                )
    except (WarehouseError, duckdb.Error) as error:
        return str(error).splitlines()[0]
    return None
