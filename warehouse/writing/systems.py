"""Systems of the evaluation sets of a batch in the warehouse: named, renamed, removed, marked as outliers."""

from collections.abc import Collection, Mapping
from functools import partial

from warehouse.database.stage import Batch
from warehouse.database.statements import statement
from warehouse.staging.lookups import of_evalsets
from warehouse.writing.evalsets import Declared

_sql = partial(statement, __package__)


def rename_systems(batch: Batch, evalset_ids: Mapping[int, int]) -> None:
    """Systems that a better name has come for. evalset_ids: by number, of those that the warehouse has."""
    renamed = [
        (evalset_ids[stage.evalset_no], old, new)
        for stage in batch.stages
        if stage.evalset_no in evalset_ids
        for old, new in sorted(stage.renamed.items())
    ]
    if not renamed:
        return
    columns = dict(zip(("ids", "old", "new"), map(list, zip(*renamed, strict=True)), strict=True))
    batch.connection.execute(_sql("staged_rename"), columns)
    batch.connection.execute(_sql("rename_systems"))


def report_renamed(batch: Batch) -> None:
    """Note the systems that have another name now."""
    for stage in batch.stages:
        where = f"{stage.evalset.testset} {stage.evalset.lp}"
        stage.notes += [f"{where}: system {old} is now {new}" for old, new in sorted(stage.renamed.items())]


def write_systems(batch: Batch) -> None:
    """Insert the systems and spellings that the files bring; canonical names follow."""
    batch.connection.execute(_sql("insert_systems"))
    if batch.has("spelling"):
        batch.connection.execute(_sql("insert_spellings"))
    batch.connection.execute(_sql("update_canonical_names"))


def remove_nameless_systems(batch: Batch) -> None:
    """Delete systems that no file names any more."""
    batch.connection.execute(_sql("delete_nameless_systems"))


def mark_outliers(batch: Batch, declared: Declared, evalset_ids: Mapping[int, int], known: Collection[int]) -> None:
    """Mark the systems that the organisers declare as outliers, under whatever name, and no others.

    known: numbers of the evaluation sets that may have some marked already.
    """
    stated = [(s, every.evalset(s.evalset.lp)) for s in batch.stages if (every := declared[s.evalset_no]) is not None]
    chosen = [(stage, facts) for stage, facts in stated if facts.outlier_systems or stage.evalset_no in known]
    if not chosen:
        return
    named = of_evalsets(batch.rows, "system_names", [(s.evalset.testset, s.evalset.lp) for s, _ in chosen])
    outliers = []
    for stage, facts in chosen:
        systems = {name: system for name, system, _ in named[stage.evalset.testset, stage.evalset.lp]}
        outliers += [(evalset_ids[stage.evalset_no], system) for system in sorted(facts.outliers(systems))]
    columns = {"evalsets": [evalset_id for evalset_id, _ in outliers], "systems": [system for _, system in outliers]}
    batch.connection.execute(_sql("update_outliers"), columns)
