"""What the warehouse holds of an evaluation set before a load, and what of a load is news to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from warehouse.database.statements import statement
from warehouse.database.updating import holds_nothing, reading
from warehouse.facts.testsets import TestsetFacts
from warehouse.names import LEVELS
from warehouse.readers.contents import Content
from warehouse.staging.lookups import EvalsetKey, of_evalsets

Identity = tuple[str, str]  # checksum and reader


@dataclass(frozen=True)
class Holdings:
    """What the warehouse holds of one evaluation set.

    loaded, refused: files by origin, with their identity; refused ones are recorded where they are skipped.
    standards: year, description, standard reference, standard human scores by level, whether human references
        are ranked; None where the evaluation set is new. outliers: systems marked so; systems: all names and spellings,
        each with its system.
    statuses: base name and status of metrics that organisers declare, by base name.
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

    def fresh(self, contents: Sequence[Content]) -> tuple[list[Content], list[Content]]:
        """Files that must be read: those with news, and those refused before with the same content.

        A file with news that declares segments or systems makes all files news, as the others are checked
        against it; one with a companion brings the companion along, one of a group the whole group.
        """
        changed, stale = [], []
        for content in contents:
            if self.refused.get(content.claim.origin) == content.identity:
                stale.append(content)
            elif self.loaded.get(content.claim.origin) != content.identity:
                changed.append(content)
        if any(content.claim.declares for content in changed):
            return list(contents), []
        groups = {content.claim.group for content in changed} - {None}
        members = {content.file_no for content in changed}
        changed += [c for c in contents if c.claim.group in groups and c.file_no not in members]
        stale = [content for content in stale if content not in changed]
        companions = {content.claim.companion for content in (*changed, *stale)}
        taken = {content.file_no for content in (*changed, *stale)}
        changed += [c for c in contents if c.claim.origin in companions and c.file_no not in taken]
        return changed, stale

    def agrees_with(self, declared: TestsetFacts | None) -> bool:
        """Whether the declared facts bring no change to what is held."""
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
    """What the warehouse file holds of some evaluation sets (test set, language pair); nothing where there is no file.

    connection: the load's own, to which the file is attached.
    Raises SchemaError: see `Warehouse.open`.
    """
    if holds_nothing(database):
        return {key: Holdings(*key) for key in keys}
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
    """What the warehouse has from one file, over all evaluation sets."""

    identities: frozenset[Identity] = frozenset()
    evalsets: tuple[EvalsetKey, ...] = ()
    n_evalsets: int = 0
    has_refused: bool = False

    def is_whole(self, sha256: str, reader: str) -> bool:
        """Whether all that a file with this content brings is there."""
        is_same = self.identities == {(sha256, reader)}
        return is_same and not self.has_refused and len(self.evalsets) == self.n_evalsets


def held_files(database: Path, connection: duckdb.DuckDBPyConnection, origins: Sequence[str]) -> dict[str, HeldFile]:
    """What the warehouse file has from the files of some origins. connection: as for `holdings`.

    Raises SchemaError: see `Warehouse.open`.
    """
    if not origins or holds_nothing(database):
        return {}
    with reading(database, connection) as ask:
        rows = ask(statement(__package__, "held_files"), {"origins": list(origins)})
    return {
        origin: HeldFile(frozenset(map(tuple, identities)), tuple(map(tuple, evalsets)), n_evalsets, has_refused)
        for origin, identities, evalsets, n_evalsets, has_refused in rows
    }
