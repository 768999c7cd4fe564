"""Removal of a file's, a folder's or a test set's data from the warehouse: all or nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.database.updating import in_memory, in_one_transaction, writing
from warehouse.errors import NEAR, QuestionError, unknown
from warehouse.wording import counted, first_names
from warehouse.writing.evalsets import delete_unnamed, mark_unsubmitted, register, remove_vectors

Rows = Callable[[str, Mapping[str, object]], list[tuple[Any, ...]]]
_sql = partial(statement, "warehouse.writing")
_NEARLY = 0.8  # likeness of a name that is offered for removal


@dataclass(frozen=True)
class RemovedEvalset:
    """Data removed from one evaluation set. is_gone: nothing is left of it."""

    testset: str
    lp: str
    n_files: int
    n_scores: int
    n_judgements: int
    n_texts: int
    is_gone: bool


@dataclass(frozen=True)
class _Source:
    source_id: int
    evalset_id: int
    testset: str
    lp: str
    origin: str
    path: str
    bundle: str | None
    status: str
    declares_segments: bool
    own_metrics: list[tuple[str, str]] | None  # full and base names

    @property
    def own_names(self) -> set[str]:
        return {name for names in self.own_metrics or () for name in names}

    def lies_in(self, place: Path) -> bool:
        """Whether it was loaded from a file or from anywhere below a folder."""
        path = Path(self.path)
        return any(
            one in (other, *other.parents) for one, other in ((place, path), (place.absolute(), path.absolute()))
        )


def unload(
    database: Path, target: str, lp: str | None = None, *, testset: str | None = None, dry_run: bool = False
) -> list[RemovedEvalset]:
    """Remove a user's own metric, or all data of a test set, of a file or folder, or of one source by its origin.

    A metric is removed with all its variants, unless a variant is named in full. lp, testset: remove only there.
    dry_run: change nothing, only report. Files that make scores together (annotations and their score file, the files
    of one campaign) are removed together. Empty evaluation sets are removed, and so are stored results of changed ones;
    remaining systems keep their names.
    Raises QuestionError: nothing of that name was loaded, or other files depend on segments that would be removed; then
    nothing changes. SchemaError: see `Warehouse.open`.
    """
    with Warehouse.open(database) as warehouse:
        chosen, metric = _chosen(warehouse.rows, target, testset, lp)
        if dry_run:
            return _counted(warehouse.rows, chosen, metric)
    with in_memory(database) as connection, writing(database, connection), in_one_transaction(connection):

        def rows(query: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
            return connection.execute(query, dict(parameters)).fetchall()

        chosen, metric = _chosen(rows, target, testset, lp)
        counted = _counted(rows, chosen, metric)
        _remove(connection, chosen, metric)
    return counted


def _not_there(held: Sequence["_Source"], target: str) -> QuestionError:
    """The error for a name that is neither a user metric nor loaded, with similar names or else all names.

    Test sets and sources, whose removal costs most, are offered only if their names are nearly the same.
    """
    own = {name for source in held for name in source.own_names}
    loaded = {name for source in held for name in (source.testset, source.origin)}
    kind = "user metric, test set, source or loaded path"
    near = unknown(kind, target, own)
    if NEAR in str(near):
        return near
    folded = {name.lower(): name for name in loaded}
    alike = {folded[name] for name in get_close_matches(target.lower(), folded, cutoff=_NEARLY)}
    alike |= {name for name in loaded if len(target) > 2 and target.lower() in name.lower()}
    if alike:
        return unknown(kind, target, alike)
    names = sorted(own | {source.testset for source in held})
    available = f"available: {first_names(names, 8)}" if names else "none are available"
    return QuestionError(f"unknown {kind} {target!r}; {available}")


def _chosen(rows: Rows, target: str, testset: str | None, lp: str | None) -> tuple[list[_Source], str | None]:
    """The sources named by a user metric, a test set, an origin or a path, with sources that make scores together with
    them; and the metric, if a metric is named."""
    held = [_Source(*row) for row in rows(_sql("held_sources"), {})]
    named = _named(held, target)
    if not named:
        raise _not_there(held, target)
    metric = target if target in named[0].own_names else None
    in_testset = [source for source in named if testset in (None, source.testset)]
    if testset is not None and not in_testset:
        raise unknown("test set", testset, {source.testset for source in named}, where=target)
    chosen = [source for source in in_testset if lp in (None, source.lp)]
    if lp is not None and not chosen:
        raise unknown("language pair", lp, {source.lp for source in in_testset}, where=testset or target)
    bundles = {(source.evalset_id, source.bundle) for source in chosen if source.bundle is not None}
    ids = {source.source_id for source in chosen}
    chosen = [source for source in held if source.source_id in ids or (source.evalset_id, source.bundle) in bundles]
    _check_segments(held, chosen)
    return chosen, metric


def _named(held: Sequence[_Source], target: str) -> list[_Source]:
    place = Path(target)
    for found in (
        [source for source in held if target in source.own_names],
        [source for source in held if source.testset == target],
        [source for source in held if source.origin == target],
        [source for source in held if target and source.lies_in(place)],
    ):
        if found:
            return found
    return []


def _check_segments(held: Sequence[_Source], chosen: Sequence[_Source]) -> None:
    """Raises QuestionError: a selected file declares segments of other files that are not selected."""
    ids = {source.source_id for source in chosen}
    for source in chosen:
        if source.declares_segments:
            left = [
                other.origin
                for other in held
                if other.evalset_id == source.evalset_id and other.source_id not in ids and other.status == "loaded"
            ]
            if left:
                where = f"{source.testset} {source.lp}"
                raise QuestionError(
                    f"{source.origin} defines the segments of {where}, which "
                    f"{counted(len(left), 'other file needs', 'other files need')}, such as {left[0]}; "
                    f"remove those too, or all of {where}"
                )


def _counted(rows: Rows, chosen: Sequence[_Source], metric: str | None) -> list[RemovedEvalset]:
    found = rows(_sql("count_sources"), {"sources": [source.source_id for source in chosen], "metric": metric})
    return [RemovedEvalset(*row) for row in found]


def _remove(connection: duckdb.DuckDBPyConnection, chosen: Sequence[_Source], metric: str | None) -> None:
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE unloaded_source AS "
        "SELECT unnest($sources::INTEGER[]) AS source_id, $metric::VARCHAR AS metric",
        {"sources": [source.source_id for source in chosen], "metric": metric},
    )
    connection.execute(_sql("unload_sources"))
    remove_vectors(connection)
    for name in ("delete_sources", "delete_stale_results"):
        connection.execute(_sql(name))
    delete_unnamed(connection)
    for name in ("update_canonical_names", "delete_entries", "delete_empty"):
        connection.execute(_sql(name))
    mark_unsubmitted(connection)
    testsets = sorted({source.testset for source in chosen})
    left = connection.execute(
        """
        SELECT e.evalset_id
        FROM evalset AS e
        JOIN testset AS t ON t.testset_id = e.testset_id
        WHERE t.name IN (SELECT unnest($testsets::VARCHAR[]))
        """,
        {"testsets": testsets},
    ).fetchall()
    register(connection, [evalset_id for (evalset_id,) in left])
