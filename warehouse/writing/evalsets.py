"""Test sets and evaluation sets of a batch in the warehouse, with what the organisers declare of them."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import polars as pl

from warehouse.database.frames import insert, temporary, with_frame
from warehouse.database.stage import Batch
from warehouse.database.statements import statement
from warehouse.facts.testsets import TestsetFacts
from warehouse.names import LEVELS, LanguagePair
from warehouse.readers.vocabulary import without_regions, year_of_testset

Declared = Mapping[int, TestsetFacts | None]  # by the evaluation set's number on the stage
_sql = partial(statement, __package__)


def write_evalsets(batch: Batch, declared: Declared) -> tuple[dict[int, int], dict[int, int]]:
    """Insert or update test sets and evaluation sets; the ids of all and of those that were there, by number.

    temp.staged_evalset tells them to the other steps.
    """
    testset_ids = _write_testsets(batch, declared)
    held = {(testset_id, lp): id for testset_id, lp, id in batch.rows("SELECT testset_id, lp, evalset_id FROM evalset")}
    last = max(held.values(), default=0)
    evalset_ids, known, new = {}, {}, {}
    for stage in batch.stages:
        testset_id, lp = testset_ids[stage.evalset.testset], LanguagePair.parse(stage.evalset.lp)
        if (evalset_id := held.get((testset_id, stage.evalset.lp))) is not None:
            known[stage.evalset_no] = evalset_id
        else:
            evalset_id = last = last + 1
            row = (evalset_id, testset_id, stage.evalset.lp, lp.source, lp.target, without_regions(lp))
            new[stage.evalset_no] = row
        evalset_ids[stage.evalset_no] = evalset_id
    if new:
        columns = ("evalset_id", "testset_id", "lp", "source_language", "target_language", "lp_base")
        rows = pl.DataFrame(list(new.values()), columns, orient="row")
        insert(batch.connection, "evalset", rows.hstack(_standards(batch, declared, new)))
    if stated := [number for number in known if declared[number] is not None]:
        ids = pl.DataFrame({"evalset_id": [known[number] for number in stated]})
        with_frame(batch.connection, ids.hstack(_standards(batch, declared, stated)), _sql("update_evalsets"))
    numbered = [(number, id, declared[number] is not None) for number, id in evalset_ids.items()]
    schema = {"evalset_no": pl.Int32, "evalset_id": pl.Int32, "is_declared": pl.Boolean}
    temporary(batch.connection, "staged_evalset", pl.DataFrame(numbered, schema, orient="row"))
    return evalset_ids, known


def _write_testsets(batch: Batch, declared: Declared) -> dict[str, int]:
    """Insert or update test sets; the ids of all, by name."""
    held = dict(batch.rows("SELECT name, testset_id FROM testset"))
    facts_of = {s.evalset.testset: facts for s in batch.stages if (facts := declared[s.evalset_no]) is not None}
    new = sorted({stage.evalset.testset for stage in batch.stages} - held.keys())
    ids = held | {name: id for id, name in enumerate(new, start=max(held.values(), default=0) + 1)}
    if new:
        testset_ids = pl.Series("testset_id", [ids[name] for name in new])
        insert(batch.connection, "testset", _descriptions(new, facts_of).with_columns(testset_ids))
    if known := [name for name in facts_of if name in held]:
        with_frame(batch.connection, _descriptions(known, facts_of), _sql("update_testsets"))
    return ids


def _descriptions(names: Sequence[str], facts_of: Mapping[str, TestsetFacts]) -> pl.DataFrame:
    """Year and description of test sets; the year of the name where nothing is declared."""
    facts = [facts_of.get(name, TestsetFacts(name, year_of_testset(name))) for name in names]
    rows = [(name, one.year, one.description) for name, one in zip(names, facts, strict=True)]
    return pl.DataFrame(rows, {"name": pl.String, "year": pl.Int16, "description": pl.String}, orient="row")


def _standards(batch: Batch, declared: Declared, numbers: Collection[int]) -> pl.DataFrame:
    """What the organisers declare of some evaluation sets, a row for each."""
    evalsets = {stage.evalset_no: stage.evalset for stage in batch.stages}
    facts = [
        (declared[number] or TestsetFacts(evalsets[number].testset)).evalset(evalsets[number].lp) for number in numbers
    ]
    columns = {
        "standard_reference": [one.standard_reference for one in facts],
        "ranks_human_references": [one.ranks_human_references for one in facts],
        **{f"standard_human_{level}": [one.standard_human.get(level) for one in facts] for level in LEVELS},
    }
    return pl.DataFrame(columns).cast({pl.Null: pl.String})
