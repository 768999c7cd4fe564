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
            **_columns(always.values(), families="family", versions="version", errors="is_error_measure"),
        },
    )
    named = sorted({(testset_id, name) for testset_id, _, name in scorers})
    then = [describe(name, years[testset_id]) for testset_id, name in named]
    key: dict[str, object] = {
        "testsets": [testset_id for testset_id, _ in named],
        "names": [name for _, name in named],
    }
    here = {"here": list(years)}
    if connection.execute("SELECT 1 FROM metric_fact WHERE list_contains($here, testset_id) LIMIT 1", here).fetchone():
        connection.execute(_sql("delete_metric_facts"), {**key, **here})
    connection.execute(
        _sql("insert_metric_facts"),
        {
            **key,
            **_columns(
                then,
                families="family",
                versions="version",
                kinds="kind",
                free="is_reference_free",
                errors="is_error_measure",
                years="training_year",
                known="is_known",
            ),
        },
    )


def _register_languages(connection: duckdb.DuckDBPyConnection, lps: Iterable[str]) -> None:
    pairs = [pair for lp in lps if (pair := language_pair(lp)) is not None]
    sides = list({side.code: side for pair in pairs for side in (pair.source, pair.target)}.values())
    if not sides:
        return
    connection.execute(
        _sql("insert_languages"),
        _columns(sides, codes="code", names="name", scripts="script", in_da="in_da_training"),
    )


def _register_issues(connection: duckdb.DuckDBPyConnection, testsets: Collection[str]) -> None:
    chosen = [issue for issue in issues() if issue.testset in testsets]
    if not chosen:
        return
    connection.execute(
        _sql("insert_issues"),
        _columns(
            chosen,
            testsets="testset",
            lps="lp",
            scorers="scorer",
            systems="system",
            issues="issue",
            citations="citation",
        ),
    )


def _columns(rows: Iterable[object], **attributes: str) -> dict[str, object]:
    """Lists as parameters of a statement: under each name that attribute of every row."""
    every = list(rows)
    return {name: [getattr(row, attribute) for row in every] for name, attribute in attributes.items()}
