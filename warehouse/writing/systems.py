"""Systems of the evaluation sets of a batch in the warehouse: named, renamed, removed, marked as outliers."""

from collections.abc import Mapping
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


def tell_renamed(batch: Batch) -> None:
    """Note the systems that have another name now."""
    for stage in batch.stages:
        where = f"{stage.evalset.testset} {stage.evalset.lp}"
        stage.notes += [f"{where}: system {old} is now {new}" for old, new in sorted(stage.renamed.items())]


def write_systems(batch: Batch) -> None:
    """Insert the systems and spellings that the files bring; canonical names follow."""
    for name in ("insert_systems", "insert_spellings", "update_canonical_names"):
        batch.connection.execute(_sql(name))


def remove_nameless_systems(batch: Batch) -> None:
    """Delete systems that no file names any more."""
    batch.connection.execute(_sql("delete_nameless_systems"))


def mark_outliers(batch: Batch, declared: Declared, evalset_ids: Mapping[int, int]) -> None:
    """Mark the systems that the organisers declare as outliers, under whatever name, and no others."""
    named = of_evalsets(batch.rows, "system_names", [(s.evalset.testset, s.evalset.lp) for s in batch.stages])
    outliers = []
    for stage in batch.stages:
        if (facts := declared[stage.evalset_no]) is not None:
            systems = {name: system for name, system, _ in named[stage.evalset.testset, stage.evalset.lp]}
            found = facts.evalset(stage.evalset.lp).outliers(systems)
            outliers += [(evalset_ids[stage.evalset_no], system) for system in sorted(found)]
    columns = {"evalsets": [evalset_id for evalset_id, _ in outliers], "systems": [system for _, system in outliers]}
    batch.connection.execute(_sql("update_outliers"), columns)
