"""What the warehouse holds of an evaluation set before a load, and what of a load is news to it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.catalogue import TestsetFacts
from warehouse.connection import PATIENCE, Warehouse, holds_nothing
from warehouse.names import LEVELS
from warehouse.readers import is_record_reader
from warehouse.readers.base import Content
from warehouse.stage import Evalset

Identity = tuple[str, str]  # checksum and reader


@dataclass(frozen=True)
class Holdings:
    """What the warehouse holds of one evaluation set.

    loaded, refused: files by origin, with their identity; refused ones are recorded under --skip-broken.
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
        outliers = {system for name, system in self.systems.items() if name in facts.outlier_systems}
        return self.standards == standards and self.outliers == outliers and self.statuses == statuses


_OF_THESE = """
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE (t.name, e.lp) IN (SELECT (n.testset, n.lp) FROM (SELECT unnest($testsets) AS testset, unnest($lps) AS lp) AS n)
"""
_STANDARDS = f"""
SELECT t.name, e.lp, t.year, t.description, e.standard_reference, e.standard_human_sys, e.standard_human_domain,
  e.standard_human_doc, e.standard_human_seg, e.ranks_human_references
FROM evalset AS e
{_OF_THESE}
"""
_FILES = f"""
SELECT t.name, e.lp, o.status, o.origin, o.sha256, o.reader
FROM source AS o
JOIN evalset AS e ON e.evalset_id = o.evalset_id
{_OF_THESE}
"""
_SYSTEMS = f"""
SELECT t.name, e.lp, n.name, y.name, y.is_outlier
FROM system AS y
JOIN (
  SELECT system_id, name FROM system
  UNION ALL
  SELECT system_id, spelling FROM system_spelling
) AS n ON n.system_id = y.system_id
JOIN evalset AS e ON e.evalset_id = y.evalset_id
{_OF_THESE}
"""
_STATUSES = f"""
SELECT t.name, e.lp, sc.base_name, n.status
FROM entry AS n
JOIN scorer AS sc ON sc.scorer_id = n.scorer_id
JOIN evalset AS e ON e.evalset_id = n.evalset_id
{_OF_THESE} AND NOT n.is_own AND n.status IS DISTINCT FROM 'no entry'
"""


def holdings(database: Path, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Holdings]:
    """What the warehouse file holds of some evaluation sets (test set, language pair); nothing where there is no file.

    Raises SchemaError: see `Warehouse.open`.
    """
    if holds_nothing(database):
        return {key: Holdings(*key) for key in keys}
    chosen = {"testsets": [testset for testset, _ in keys], "lps": [lp for _, lp in keys]}
    with Warehouse.open(database, patience=PATIENCE) as warehouse:
        standards, files, systems, statuses = (
            _grouped(warehouse.rows(query, chosen)) for query in (_STANDARDS, _FILES, _SYSTEMS, _STATUSES)
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
    evalsets: tuple[tuple[str, str], ...] = ()
    n_evalsets: int = 0
    has_refused: bool = False

    def is_whole(self, sha256: str, reader: str) -> bool:
        """Whether all that a file with this content brings is there."""
        is_same = self.identities == {(sha256, reader)}
        return is_same and not self.has_refused and len(self.evalsets) == self.n_evalsets


def held_files(database: Path, origins: Sequence[str]) -> dict[str, HeldFile]:
    """What the warehouse file has from the files of some origins.

    Raises SchemaError: see `Warehouse.open`.
    """
    if not origins or holds_nothing(database):
        return {}
    with Warehouse.open(database, patience=PATIENCE) as warehouse:
        rows = warehouse.rows(
            """
            SELECT
              o.origin, list((o.sha256, o.reader)), list((t.name, e.lp) ORDER BY t.name, e.lp), max(o.n_evalsets),
              bool_or(o.status = 'refused')
            FROM source AS o
            JOIN evalset AS e ON e.evalset_id = o.evalset_id
            JOIN testset AS t ON t.testset_id = e.testset_id
            WHERE o.origin IN (SELECT unnest($origins::VARCHAR[]))
            GROUP BY o.origin
            """,
            {"origins": list(origins)},
        )
    return {
        origin: HeldFile(frozenset(map(tuple, identities)), tuple(map(tuple, evalsets)), n_evalsets, has_refused)
        for origin, identities, evalsets, n_evalsets, has_refused in rows
    }


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[str, str], list[tuple[Any, ...]]]:
    """The rows' further columns, by test set and language pair."""
    grouped: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for testset, lp, *rest in rows:
        grouped[testset, lp].append(tuple(rest))
    return grouped


def known_evalset(database: Path, held: Holdings) -> Evalset:
    """The segments and systems that new files are checked against.

    Raises SchemaError: see `Warehouse.open`.
    """
    if held.standards is None:
        return Evalset(held.testset, held.lp)
    key = {"testset": held.testset, "lp": held.lp}
    with Warehouse.open(database, patience=PATIENCE) as warehouse:
        documents = warehouse.rows(
            """
            SELECT domain, document
            FROM segments
            WHERE testset = $testset AND lp = $lp AND position IS NOT NULL
            ORDER BY position
            """,
            key,
        )
        texts = warehouse.rows(
            "SELECT DISTINCT name FROM texts WHERE testset = $testset AND lp = $lp AND name IS NOT NULL", key
        )
        segments = warehouse.rows(
            """
            SELECT g.segment, g.position, g.document, g.index_in_document, g.domain, g.source_id IS NOT NULL
            FROM segment AS g
            JOIN evalset AS e ON e.evalset_id = g.evalset_id
            JOIN testset AS t ON t.testset_id = e.testset_id
            WHERE t.name = $testset AND e.lp = $lp
            ORDER BY g.segment
            """,
            key,
        )
        spellings = warehouse.rows(
            """
            SELECT y.name, x.spelling
            FROM system AS y
            JOIN evalset AS e ON e.evalset_id = y.evalset_id
            JOIN testset AS t ON t.testset_id = e.testset_id
            LEFT JOIN system_spelling AS x ON x.system_id = y.system_id
            WHERE t.name = $testset AND e.lp = $lp
            ORDER BY y.name, x.spelling
            """,
            key,
        )
        readers = warehouse.rows(
            """
            SELECT DISTINCT y.name, o.reader
            FROM vector AS v
            JOIN evalset AS e ON e.evalset_id = v.evalset_id
            JOIN testset AS t ON t.testset_id = e.testset_id
            JOIN system AS y ON y.system_id = v.system_id
            JOIN source AS o ON o.source_id = v.source_id
            WHERE t.name = $testset AND e.lp = $lp
            """,
            key,
        )
    is_declared = any(declared for *_, declared in segments)
    names = frozenset(name for name, _ in spellings)
    return Evalset(
        held.testset,
        held.lp,
        tuple(documents) if is_declared else (),
        frozenset(name for (name,) in texts),
        names=names,
        spellings={**{spelling: name for name, spelling in spellings if spelling is not None}, **{n: n for n in names}},
        fixed=frozenset(name for name, reader in readers if not is_record_reader(reader)) | {name for (name,) in texts},
        segments=tuple(tuple(segment) for *segment, _ in segments),
        is_declared=is_declared,
    )
