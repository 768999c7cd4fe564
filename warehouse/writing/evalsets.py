"""Test sets and evaluation sets in the warehouse, with facts on their metrics, languages and issues."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial

import duckdb
import polars as pl

from warehouse.database import statement
from warehouse.database.frames import insert, temporary, with_frame
from warehouse.database.stage import Batch
from warehouse.facts.issues import Issue, issues
from warehouse.facts.languages import language_pair
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import TestsetFacts
from warehouse.names import LEVELS, LanguagePair
from warehouse.readers.automatic_scores import UNSUBMITTED
from warehouse.readers.vocabulary import without_regions, year_of_testset

Declared = Mapping[int, TestsetFacts | None]  # by the evaluation set's number on the stage
_sql = partial(statement, __package__)


def write_evalsets(batch: Batch, declared: Declared) -> tuple[dict[int, int], dict[int, int]]:
    """Insert or update test sets and evaluation sets; returns all ids and the ids of existing ones, by number.

    The other steps read them from temp.staged_evalset.
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
    """Insert or update test sets; returns all ids by name."""
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
    """Year and description of test sets; by default the year in the name."""
    facts = [facts_of.get(name, TestsetFacts(name, year_of_testset(name))) for name in names]
    rows = [(name, one.year, one.description) for name, one in zip(names, facts, strict=True)]
    return pl.DataFrame(rows, {"name": pl.String, "year": pl.Int16, "description": pl.String}, orient="row")


def _standards(batch: Batch, declared: Declared, numbers: Collection[int]) -> pl.DataFrame:
    """The organisers' declarations for some evaluation sets, one row each."""
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


_ALWAYS = {"scorer_id": pl.Int32, "family": pl.String, "version": pl.String, "is_error_measure": pl.Boolean}
_OF_A_YEAR = {
    **dict.fromkeys(("family", "version", "kind"), pl.String),
    "is_reference_free": pl.Boolean,
    "is_error_measure": pl.Boolean,
    "training_year": pl.Int16,
    "is_known": pl.Boolean,
}
_OF_AN_ISSUE = dict.fromkeys((one.name for one in fields(Issue)), pl.String)


def register(connection: duckdb.DuckDBPyConnection, evalset_ids: Sequence[int]) -> None:
    """Write facts on evaluation sets' metrics, languages and issues into the attached warehouse.

    Call this inside the transaction that writes the evaluation sets, after their scorers. It replaces the facts of
    earlier calls. `scorer` gets the family, version and direction that hold in all years; `metric_fact` has them for
    the year of the test set.
    """
    evalsets = connection.execute(_sql("evalsets_to_register"), {"evalsets": list(evalset_ids)}).fetchall()
    _register_metrics(connection, evalset_ids, {testset_id: year for testset_id, _, year, _ in evalsets})
    _register_languages(connection, [lp for *_, lp in evalsets])
    _register_issues(connection, {testset for _, testset, _, _ in evalsets})


def _register_metrics(
    connection: duckdb.DuckDBPyConnection, evalset_ids: Sequence[int], years: Mapping[int, int | None]
) -> None:
    scorers = connection.execute(_sql("metrics_to_register"), {"evalsets": list(evalset_ids)}).fetchall()
    facts = [(scorer_id, describe(name)) for _, scorer_id, name in scorers]
    always = [(scorer_id, one.family, one.version, one.is_error_measure) for scorer_id, one in facts]
    with_frame(connection, pl.DataFrame(always, _ALWAYS, orient="row"), _sql("update_scorers"))
    named = sorted({(testset_id, name) for testset_id, _, name in scorers})
    then = [
        {"testset_id": testset_id, "base_name": name}
        | {column: getattr(describe(name, years[testset_id]), column) for column in _OF_A_YEAR}
        for testset_id, name in named
    ]
    rows = pl.DataFrame(then, {"testset_id": pl.Int16, "base_name": pl.String} | _OF_A_YEAR)
    here = {"here": list(years)}
    if connection.execute("SELECT 1 FROM metric_fact WHERE list_contains($here, testset_id) LIMIT 1", here).fetchall():
        with_frame(connection, rows, _sql("delete_metric_facts"), here)
    insert(connection, "metric_fact", rows)


def _register_languages(connection: duckdb.DuckDBPyConnection, lps: Iterable[str]) -> None:
    pairs = [pair for lp in lps if (pair := language_pair(lp)) is not None]
    sides = {side.code: side for pair in pairs for side in (pair.source, pair.target)}.values()
    if sides:
        columns = ("code", "name", "script", "in_da_training")
        rows = [{name: getattr(side, name) for name in columns} for side in sides]
        with_frame(connection, pl.DataFrame(rows), _sql("insert_languages"))


def _register_issues(connection: duckdb.DuckDBPyConnection, testsets: Collection[str]) -> None:
    if chosen := [issue for issue in issues() if issue.testset in testsets]:
        with_frame(connection, pl.DataFrame(chosen, _OF_AN_ISSUE), _sql("insert_issues"))


def remove_vectors(connection: duckdb.DuckDBPyConnection) -> None:
    """Delete the vectors of temp.removed_vector (vector_id) with their scores, judgements and marked errors.

    Call this inside a transaction; sources, systems, scorers and entries stay.
    """
    connection.execute(_sql("delete_vectors"))


def mark_unsubmitted(connection: duckdb.DuckDBPyConnection) -> None:
    """Mark exactly the metrics of temp.staged_evalset that were not submitted to the metrics task."""
    connection.execute(_sql("update_unsubmitted"), {"readers": UNSUBMITTED})


def delete_unnamed(connection: duckdb.DuckDBPyConnection) -> None:
    """Delete systems that no file of temp.staged_evalset names any longer, and segments that none names or declares."""
    for name in ("delete_nameless_systems", "update_taught_systems", "delete_nameless_segments", "count_segments"):
        connection.execute(_sql(name))
