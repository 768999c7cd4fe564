"""Test sets and evaluation sets of a batch in the warehouse, with what the organisers declare of them."""

from collections.abc import Mapping
from functools import partial

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
    connection = batch.connection
    names = sorted({stage.evalset.testset for stage in batch.stages})
    years = [year_of_testset(name) for name in names]
    connection.execute(_sql("insert_testsets"), {"names": names, "years": years})
    testset_ids = dict(batch.rows("SELECT name, testset_id FROM testset"))
    held = {(testset_id, lp): id for testset_id, lp, id in batch.rows("SELECT testset_id, lp, evalset_id FROM evalset")}
    last = max(held.values(), default=0)
    evalset_ids, known, new = {}, {}, []
    for stage in batch.stages:
        testset_id, lp = testset_ids[stage.evalset.testset], LanguagePair.parse(stage.evalset.lp)
        if (evalset_id := held.get((testset_id, stage.evalset.lp))) is not None:
            known[stage.evalset_no] = evalset_id
        else:
            evalset_id = last = last + 1
            new.append((evalset_id, testset_id, stage.evalset.lp, lp.source, lp.target, without_regions(lp)))
        evalset_ids[stage.evalset_no] = evalset_id
    if new:
        columns = ("ids", "testsets", "lps", "sources", "targets", "bases")
        connection.execute(_sql("insert_evalsets"), dict(zip(columns, map(list, zip(*new, strict=True)), strict=True)))
    numbered = {
        "numbers": list(evalset_ids),
        "ids": list(evalset_ids.values()),
        "declared": [declared[number] is not None for number in evalset_ids],
    }
    connection.execute(_sql("staged_evalset"), numbered)
    _write_standards(batch, declared, evalset_ids)
    return evalset_ids, known


def _write_standards(batch: Batch, declared: Declared, evalset_ids: Mapping[int, int]) -> None:
    """What the organisers declare of test sets and evaluation sets."""
    told = [(stage, facts) for stage in batch.stages if (facts := declared[stage.evalset_no]) is not None]
    if not told:
        return
    testsets = {stage.evalset.testset: facts for stage, facts in told}
    batch.connection.execute(
        _sql("update_testsets"),
        {
            "names": list(testsets),
            "years": [facts.year for facts in testsets.values()],
            "descriptions": [facts.description for facts in testsets.values()],
        },
    )
    of_pairs = [facts.evalset(stage.evalset.lp) for stage, facts in told]
    batch.connection.execute(
        _sql("update_evalsets"),
        {
            "ids": [evalset_ids[stage.evalset_no] for stage, _ in told],
            "references": [facts.standard_reference for facts in of_pairs],
            "ranks": [facts.ranks_human_references for facts in of_pairs],
            **{level: [facts.standard_human.get(level) for facts in of_pairs] for level in LEVELS},
        },
    )
