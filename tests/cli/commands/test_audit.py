"""`scorehouse audit` as a user runs it."""

from pathlib import Path

import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_bytes, tiny_layout, tiny_warehouse
from tests.sharing import written

KEYS = ["severity", "check", "testset", "lp", "subject", "finding", "n", "value", "query"]


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """The tiny task has a constant metric, and one against the humans."""
    return written(tmp_path / "tiny.duckdb", tiny_bytes())


@pytest.mark.slow
def test_findings_as_json_have_their_numbers_and_their_sql(scorehouse: Scorehouse, faulty: Path) -> None:
    rows = scorehouse("audit", "--db", faulty, "--format", "json").json
    assert [list(row) for row in rows] == [KEYS] * len(rows)
    assert {row["check"] for row in rows} >= {"constant", "coverage", "names"}
    (constant,) = [row for row in rows if row["check"] == "constant"]
    assert constant["subject"] == "Flat-src"
    assert constant["n"] == 4
    shown = scorehouse("sql", constant["query"], "--db", faulty, "--format", "json").json
    assert [row["n_distinct"] for row in shown] == [1, 1, 1, 1]


@pytest.mark.slow
def test_a_table_leaves_the_sql_to_the_flag_for_it(scorehouse: Scorehouse, faulty: Path) -> None:
    plain = scorehouse("audit", "--db", faulty)
    assert plain.code == 0
    assert "Most frequent warning (constant, 1, for example Flat-src): scores do not vary." in plain.out
    assert "SELECT" not in plain.out
    assert "--queries" in plain.err
    with_queries = scorehouse("audit", "--db", faulty, "--queries")
    assert "SELECT" in with_queries.out


@pytest.mark.slow
def test_strict_says_no_where_there_is_a_warning_and_still_shows_it(scorehouse: Scorehouse, faulty: Path) -> None:
    ran = scorehouse("audit", "tiny24", "en-de", "--db", faulty, "--strict", "--format", "json")
    assert ran.code == 1
    assert '"warning"' in ran.out


@pytest.mark.slow
def test_strict_says_yes_where_there_are_notes_alone(scorehouse: Scorehouse, tmp_path: Path) -> None:
    from tests.helpers import metric_tables

    metrics = {"Fine-src": metric_tables()["Fine-src"]}
    folder = tiny_layout(tmp_path / "layout", metrics=metrics)
    with tiny_warehouse(tmp_path, folder) as warehouse:
        database = warehouse.path
    ran = scorehouse("audit", "--db", database, "--strict", "--format", "json")
    assert ran.code == 0, ran.out
    assert {row["severity"] for row in ran.json} == {"info"}


@pytest.mark.slow
def test_checks_and_severities_can_be_chosen(scorehouse: Scorehouse, faulty: Path) -> None:
    rows = scorehouse("audit", "--db", faulty, "--check", "constant", "--format", "json").json
    assert {row["check"] for row in rows} == {"constant"}
    assert scorehouse("audit", "constant", "--db", faulty, "--format", "json").json == rows
    rows = scorehouse("audit", "--db", faulty, "--severity", "warning", "--format", "json").json
    assert {row["severity"] for row in rows} == {"warning"}


def test_an_unknown_check_is_refused_with_the_nearest(scorehouse: Scorehouse, faulty: Path) -> None:
    refused(scorehouse("audit", "--check", "shiftd", "--db", faulty), 2, "shiftd", "shifted")


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ((), " in tiny24 en-de; no error. "),
        (("coverage",), "1 note in tiny24 en-de; only coverage was checked. "),
        (("coverage", "constant"), " in tiny24 en-de; only coverage and constant were checked. "),
        (("shifted",), "No findings of these kinds in tiny24 en-de: shifted."),
    ],
)
def test_the_sentence_says_what_was_checked(
    scorehouse: Scorehouse, faulty: Path, checks: tuple[str, ...], said: str
) -> None:
    assert said in scorehouse("audit", "tiny24", "en-de", *checks, "--db", faulty).out.splitlines()[0]
