"""What is known of metrics, languages and issues, written beside the evaluation sets that it concerns."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

import duckdb

from warehouse.database.statements import statement
from warehouse.facts.issues import issues
from warehouse.facts.languages import language_pair
from warehouse.facts.metrics import describe

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
    always = {scorer_id: describe(name) for _, scorer_id, name in scorers}
    connection.execute(
        _sql("update_scorers"),
        {
            "scorers": list(always),
            "families": [facts.family for facts in always.values()],
            "versions": [facts.version for facts in always.values()],
            "errors": [facts.is_error_measure for facts in always.values()],
        },
    )
    named = sorted({(testset_id, name) for testset_id, _, name in scorers})
    then = [describe(name, years[testset_id]) for testset_id, name in named]
    key: dict[str, object] = {
        "testsets": [testset_id for testset_id, _ in named],
        "names": [name for _, name in named],
    }
    connection.execute(
        _sql("delete_metric_facts"),
        {**key, "here": list(years)},
    )
    connection.execute(
        _sql("insert_metric_facts"),
        {
            **key,
            "families": [facts.family for facts in then],
            "versions": [facts.version for facts in then],
            "kinds": [facts.kind for facts in then],
            "free": [facts.is_reference_free for facts in then],
            "errors": [facts.is_error_measure for facts in then],
            "years": [facts.training_year for facts in then],
            "known": [facts.is_known for facts in then],
        },
    )


def _register_languages(connection: duckdb.DuckDBPyConnection, lps: Iterable[str]) -> None:
    pairs = [pair for lp in lps if (pair := language_pair(lp)) is not None]
    sides = list({side.code: side for pair in pairs for side in (pair.source, pair.target)}.values())
    if not sides:
        return
    connection.execute(
        _sql("insert_languages"),
        {
            "codes": [side.code for side in sides],
            "names": [side.name for side in sides],
            "scripts": [side.script for side in sides],
            "in_da": [side.in_da_training for side in sides],
        },
    )


def _register_issues(connection: duckdb.DuckDBPyConnection, testsets: Collection[str]) -> None:
    chosen = [issue for issue in issues() if issue.testset in testsets]
    if not chosen:
        return
    connection.execute(
        _sql("insert_issues"),
        {
            "testsets": [issue.testset for issue in chosen],
            "lps": [issue.lp for issue in chosen],
            "scorers": [issue.scorer for issue in chosen],
            "systems": [issue.system for issue in chosen],
            "issues": [issue.issue for issue in chosen],
            "citations": [issue.citation for issue in chosen],
        },
    )
