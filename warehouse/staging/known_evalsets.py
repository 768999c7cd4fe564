"""What the warehouse knows of evaluation sets that new files are laid out beside: segments and systems."""

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import duckdb

from warehouse.database.stage import Evalset
from warehouse.database.updating import Ask, reading
from warehouse.readers.recognition import is_record_reader
from warehouse.staging.holdings import Holdings
from warehouse.staging.lookups import EvalsetKey, of_evalsets

_LOOKUPS = ("held_documents", "held_texts", "held_segments", "system_names", "held_readers")


class KnownEvalsets:
    """The segments and systems of evaluation sets that new files are checked against; looked up when first asked for.

    connection: the load's own, to which the file is attached meanwhile. opening: held by whoever has the database open.
    helds: what the warehouse holds of those that may be asked for.
    Looking up raises SchemaError: see `Warehouse.open`.
    """

    def __init__(
        self,
        database: Path,
        connection: duckdb.DuckDBPyConnection,
        opening: threading.Lock,
        helds: Sequence[Holdings],
    ) -> None:
        self._database = database
        self._connection = connection
        self._opening = opening
        self._keys = [(held.testset, held.lp) for held in helds if held.standards is not None]

    def of(self, held: Holdings) -> Evalset:
        """What is known of one of them."""
        if held.standards is None:  # nothing to look up: no need to wait for those that are being written
            return Evalset(held.testset, held.lp)
        return self._all[held.testset, held.lp]

    @cached_property
    def _all(self) -> dict[EvalsetKey, Evalset]:
        with self._opening, reading(self._database, self._connection) as ask:
            return known_evalsets(ask, self._keys)


def known_evalsets(ask: Ask, keys: Sequence[EvalsetKey]) -> dict[EvalsetKey, Evalset]:
    """What a warehouse knows of evaluation sets that it has. ask: runs a statement there, with its parameters."""
    documents, texts, segments, spellings, readers = (of_evalsets(ask, name, keys) for name in _LOOKUPS)
    found = {}
    for key in keys:
        is_declared = any(declared for declared, *_ in segments[key])
        with_texts = frozenset(name for (name,) in texts[key])
        named = {name for name, reader in readers[key] if not is_record_reader(reader)}
        found[key] = Evalset(
            *key,
            tuple((domain, document) for domain, document in documents[key]) if is_declared else (),
            with_texts,
            names=frozenset(system for _, system, _ in spellings[key]),
            spellings={spelling: system for spelling, system, _ in spellings[key]},
            fixed=with_texts | named,
            segments=tuple(
                (number, position, document, index, domain)
                for _, number, position, document, index, domain in segments[key]
            ),
            is_declared=is_declared,
        )
    return found
