"""The warehouse's data on evaluation sets before a load, and which files are new to it."""

import threading
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from warehouse.database import statement
from warehouse.database.stage import Evalset
from warehouse.database.updating import Ask, reading
from warehouse.facts.testsets import TestsetFacts
from warehouse.names import LEVELS
from warehouse.readers.claims import EvalsetKey
from warehouse.readers.contents import Content
from warehouse.readers.recognition import is_record_reader

Rows = list[tuple[Any, ...]]
_EVALSETS = "SELECT e.evalset_id, t.name, e.lp FROM evalset AS e JOIN testset AS t ON t.testset_id = e.testset_id"


def of_evalsets(ask: Ask, name: str, keys: Sequence[EvalsetKey]) -> dict[EvalsetKey, Rows]:
    """Result of a query in `sql` by evaluation set: the columns after the identifier.

    ask: runs a statement with its parameters. Evaluation sets without rows get an empty result.
    """
    wanted, grouped = set(keys), defaultdict[EvalsetKey, Rows](list)
    chosen = {number: (testset, lp) for number, testset, lp in ask(_EVALSETS, {}) if (testset, lp) in wanted}
    for number, *rest in ask(statement(__package__, name), {"evalsets": list(chosen)}) if chosen else ():
        grouped[chosen[number]].append(tuple(rest))
    return grouped


Identity = tuple[str, str]  # checksum and reader


@dataclass(frozen=True)
class Holdings:
    """The warehouse's data on one evaluation set.

    loaded, refused: files by origin, with their identity; refused files are recorded if they are skipped.
    standards: year, description, standard reference, standard human scores by level, whether human references
        are ranked; None if the evaluation set is new. outliers: marked systems; systems: all names and spellings,
        each with its system.
    statuses: base name and status of the organisers' declared metrics, by base name.
    """

    testset: str
    lp: str
    loaded: dict[str, Identity] = field(default_factory=dict)
    refused: dict[str, Identity] = field(default_factory=dict)
    standards: tuple[object, ...] | None = None
    systems: Mapping[str, str] = field(default_factory=dict)
    outliers: frozenset[str] = frozenset()
    statuses: frozenset[tuple[str, str | None]] = frozenset()

    @property
    def sources(self) -> dict[str, Identity]:
        """All files by origin, loaded or refused."""
        return {**self.loaded, **self.refused}

    def was_refused(self, content: Content) -> bool:
        """Whether a file was refused with this content."""
        return self.refused.get(content.claim.origin) == content.identity

    def fresh(self, contents: Sequence[Content]) -> list[Content]:
        """Files that must be read: new or changed files, and files refused before with the same content.

        If a new file declares segments or systems, all files are read again, because they are checked against
        it. A file with a companion is read with the companion, and a file of a group with the whole group.
        """
        changed = [content for content in contents if self.sources.get(content.claim.origin) != content.identity]
        if any(content.claim.declares for content in changed):
            return list(contents)
        groups = {content.claim.group for content in changed} - {None}
        taken = {content.file_no: content for content in changed}
        taken |= {c.file_no: c for c in contents if c.claim.group in groups or self.was_refused(c)}
        companions = {content.claim.companion for content in taken.values()}
        return [c for c in contents if c.file_no in taken or c.claim.origin in companions]

    def agrees_with(self, declared: TestsetFacts | None) -> bool:
        """Whether the declared facts equal the warehouse's."""
        if declared is None:
            return self.standards is not None
        facts = declared.evalset(self.lp)
        human = tuple(facts.standard_human.get(level) for level in LEVELS)
        standards = (
            declared.year,
            declared.description,
            facts.standard_reference,
            *human,
            facts.ranks_human_references,
        )
        statuses = frozenset((name, declared.status(self.lp, name)) for name, _ in self.statuses)
        outliers = facts.outliers(self.systems)
        return self.standards == standards and self.outliers == outliers and self.statuses == statuses


def holdings(
    database: Path, connection: duckdb.DuckDBPyConnection, keys: Sequence[EvalsetKey]
) -> dict[EvalsetKey, Holdings]:
    """The warehouse file's data on some evaluation sets (test set, language pair); empty if there is no file.

    connection: the load's own, to which the file is attached.
    Raises SchemaError: see `Warehouse.open`.
    """
    with reading(database, connection) as ask:
        standards = of_evalsets(ask, "held_standards", keys)
        files, systems, statuses = (
            of_evalsets(ask, name, list(standards)) for name in ("held_sources", "system_names", "held_statuses")
        )
    return {
        key: Holdings(
            *key,
            loaded={origin: (sha256, reader) for status, origin, sha256, reader in files[key] if status == "loaded"},
            refused={origin: (sha256, reader) for status, origin, sha256, reader in files[key] if status == "refused"},
            standards=standards[key][0] if key in standards else None,
            systems={name: system for name, system, _ in systems[key]},
            outliers=frozenset(system for _, system, is_outlier in systems[key] if is_outlier),
            statuses=frozenset(statuses[key]),
        )
        for key in keys
    }


@dataclass(frozen=True)
class HeldFile:
    """The warehouse's data from one file, over all evaluation sets."""

    identities: frozenset[Identity] = frozenset()
    evalsets: tuple[EvalsetKey, ...] = ()
    n_evalsets: int = 0
    has_refused: bool = False

    def is_whole(self, sha256: str, reader: str) -> bool:
        """Whether everything from a file with this content is in the warehouse."""
        is_same = self.identities == {(sha256, reader)}
        return is_same and not self.has_refused and len(self.evalsets) == self.n_evalsets


def held_files(database: Path, connection: duckdb.DuckDBPyConnection, origins: Sequence[str]) -> dict[str, HeldFile]:
    """The warehouse file's data from files of some origins. connection: as for `holdings`.

    Raises SchemaError: see `Warehouse.open`.
    """
    if not origins:
        return {}
    with reading(database, connection) as ask:
        rows = ask(statement(__package__, "held_files"), {"origins": list(origins)})
    return {
        origin: HeldFile(frozenset(map(tuple, identities)), tuple(map(tuple, evalsets)), n_evalsets, has_refused)
        for origin, identities, evalsets, n_evalsets, has_refused in rows
    }


_LOOKUPS = ("held_texts", "held_segments", "system_names", "held_readers")


class KnownEvalsets:
    """The segments and systems of evaluation sets that new files are checked against; looked up when first requested.

    connection: the load's own, to which the file is attached meanwhile. opening: lock held while the database is open.
    helds: the warehouse's data on the evaluation sets that may be requested.
    Looking up raises SchemaError: see `Warehouse.open`.
    """

    def __init__(
        self, database: Path, connection: duckdb.DuckDBPyConnection, opening: threading.Lock, helds: Sequence[Holdings]
    ) -> None:
        self._database = database
        self._connection = connection
        self._opening = opening
        self._keys = [(held.testset, held.lp) for held in helds if held.standards is not None]

    def of(self, held: Holdings, origins: Collection[str] = ()) -> Evalset:
        """Known segments and systems of one evaluation set.

        origins: of the files that are staged. Segments that no file declares and only their earlier versions name are
        not known.
        """
        if held.standards is None:  # nothing to look up: no need to wait for those that are being written
            return Evalset(held.testset, held.lp)
        known = self._all[held.testset, held.lp]
        if known.is_declared or held.loaded.keys().isdisjoint(origins):
            return known
        asked = {"testset": held.testset, "lp": held.lp, "origins": list(origins)}
        with self._opening, reading(self._database, self._connection) as ask:
            left = {segment for (segment,) in ask(statement(__package__, "segments_of_others"), asked)}
        return replace(known, segments=tuple(row for row in known.segments if row[0] in left))

    @cached_property
    def _all(self) -> dict[EvalsetKey, Evalset]:
        with self._opening, reading(self._database, self._connection) as ask:
            return known_evalsets(ask, self._keys)


def known_evalsets(ask: Ask, keys: Sequence[EvalsetKey]) -> dict[EvalsetKey, Evalset]:
    """Known segments and systems of evaluation sets in a warehouse. ask: runs a statement there with its parameters."""
    texts, segments, spellings, readers = (of_evalsets(ask, name, keys) for name in _LOOKUPS)
    found = {}
    for key in keys:
        is_declared = any(declared for declared, *_ in segments[key])
        with_texts = frozenset(name for (name,) in texts[key])
        named = {name for name, reader in readers[key] if not is_record_reader(reader)}
        found[key] = Evalset(
            *key,
            tuple((row[-1], row[3]) for row in segments[key] if row[2] is not None) if is_declared else (),
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
