"""What is known of metrics, languages and issues, written beside the evaluation sets that it concerns."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial

import duckdb
import polars as pl

from warehouse.database.frames import insert, with_frame
from warehouse.database.statements import statement
from warehouse.facts.issues import Issue, issues
from warehouse.facts.languages import language_pair
from warehouse.facts.metrics import describe

_ALWAYS = {"scorer_id": pl.Int32, "family": pl.String, "version": pl.String, "is_error_measure": pl.Boolean}
_OF_A_YEAR = {
    **dict.fromkeys(("family", "version", "kind"), pl.String),
    "is_reference_free": pl.Boolean,
    "is_error_measure": pl.Boolean,
    "training_year": pl.Int16,
    "is_known": pl.Boolean,
}
_OF_AN_ISSUE = dict.fromkeys((one.name for one in fields(Issue)), pl.String)
_sql = partial(statement, __package__)


def register(connection: duckdb.DuckDBPyConnection, evalset_ids: Sequence[int]) -> None:
    """Write into the attached warehouse what is known of evaluation sets' metrics, languages and issues.

    To be called inside the transaction that writes the evaluation sets, once their scorers are there. What an earlier
    call wrote is replaced. `scorer` gets the family, version and direction that hold in all years; `metric_fact`
    has them for the year of the test set.
    """
    evalsets = connection.execute(
        _sql("evalsets_to_register"),
        {"evalsets": list(evalset_ids)},
    ).fetchall()
    _register_metrics(connection, evalset_ids, {testset_id: year for testset_id, _, year, _ in evalsets})
    _register_languages(connection, [lp for *_, lp in evalsets])
    _register_issues(connection, {testset for _, testset, _, _ in evalsets})


def _register_metrics(
    connection: duckdb.DuckDBPyConnection, evalset_ids: Sequence[int], years: Mapping[int, int | None]
) -> None:
    scorers = connection.execute(
        _sql("metrics_to_register"),
        {"evalsets": list(evalset_ids)},
    ).fetchall()
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
