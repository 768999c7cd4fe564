"""`scorehouse audit` as a user runs it."""

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_bytes, tiny_layout, tiny_warehouse
from tests.sharing import written
from warehouse.database import checksums

KEYS = ["severity", "check", "testset", "lp", "subject", "finding", "n", "value", "query"]


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """The tiny task has a constant metric, and one against the humans."""
    return written(tmp_path / "tiny.duckdb", tiny_bytes())


@pytest.mark.slow
def test_findings_as_json_have_their_numbers_and_their_sql(scorehouse: Scorehouse, faulty: Path) -> None:
    rows = scorehouse("audit", "--db", faulty, "--format", "json").json
    assert [list(row) for row in rows] == [KEYS] * len(rows)
    assert {row["check"] for row in rows} >= {"constant", "negative", "coverage", "names"}
    (constant,) = [row for row in rows if row["check"] == "constant"]
    assert constant["subject"] == "Flat-src"
    assert constant["n"] == 4
    shown = scorehouse("sql", constant["query"], "--db", faulty, "--format", "json").json
    assert [row["n_distinct"] for row in shown] == [1, 1, 1, 1]


@pytest.mark.slow
def test_a_table_leaves_the_sql_to_the_flag_for_it(scorehouse: Scorehouse, faulty: Path) -> None:
    plain = scorehouse("audit", "--db", faulty)
    assert plain.code == 0
    assert "SELECT" not in plain.out
    assert "--queries" in plain.err
    with_queries = scorehouse("audit", "--db", faulty, "--queries")
    assert "SELECT" in with_queries.out


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


def test_checks_and_severities_can_be_chosen(scorehouse: Scorehouse, faulty: Path) -> None:
    rows = scorehouse("audit", "--db", faulty, "--check", "negative", "--format", "json").json
    assert {row["check"] for row in rows} == {"negative"}
    rows = scorehouse("audit", "--db", faulty, "--severity", "warning", "--format", "json").json
    assert {row["severity"] for row in rows} == {"warning"}


def test_unknown_names_are_refused_with_the_nearest(scorehouse: Scorehouse, faulty: Path) -> None:
    refused(scorehouse("audit", "tiny42", "--db", faulty), 2, "tiny42", "tiny24")
    refused(scorehouse("audit", "tiny24", "de-en", "--db", faulty), 2, "de-en", "en-de")
    refused(scorehouse("audit", "--check", "shiftd", "--db", faulty), 2, "shiftd", "shifted")


def _changed(scorehouse: Scorehouse, database: Path) -> list[tuple[str, str]]:
    rows = scorehouse("audit", "--deep", "--check", "checksum", "--db", database, "--format", "json").json
    assert all((row["check"], row["severity"]) == ("checksum", "error") for row in rows)
    return [(row["lp"], row["subject"]) for row in rows]


@pytest.mark.long("all that writes: 2 seconds")
def test_whatever_writes_keeps_the_checksums(scorehouse: Scorehouse, tmp_path: Path) -> None:
    database, out, back = tmp_path / "w.duckdb", tmp_path / "out", tmp_path / "back.duckdb"
    first, second = (tiny_layout(tmp_path / lp, lp=lp) for lp in ("en-de", "de-en"))
    own = tmp_path / "own.csv"
    own.write_text("".join(f"{system},{0.5 + n / 8}\n" for n, system in enumerate(("system", "Ash", "Beech"))))
    own.write_text(own.read_text().replace("system,0.5", "system,score"))
    steps: tuple[tuple[object, ...], ...] = (
        ("load", first),
        ("load", second),
        ("compute", "bleu", "tiny24", "en-de"),
        ("add", own, "--testset", "tiny24", "--lp", "en-de", "--metric", "Mine", "--reference-free"),
        ("remove", "Mine"),
        ("migrate",),
        ("export", out),
        ("unload", "tiny24", "de-en"),
    )
    for words in steps:
        ran = scorehouse(*words, "--db", database)
        assert ran.code == 0, (words, ran)
        assert _changed(scorehouse, database) == [], words
    (first / "metric-scores" / "en-de" / "Flat-src.seg.score").write_text(
        "".join(f"{system}\t{n}\n" for system in ("Ash", "Beech", "Cherry", "refA") for n in range(5))
    )
    for words in (("load", first, "--db", database), ("load", out, "--db", back)):
        ran = scorehouse(*words)
        assert ran.code == 0, (words, ran)
        assert _changed(scorehouse, words[-1]) == [], words  # type: ignore[arg-type]


SCORES = "UPDATE internal.aggregate_score SET value = 0.125 WHERE value IS NOT NULL"
TEXT = "UPDATE internal.segment_text SET text = text || ' ' WHERE kind = 'source' AND segment = 1"
NAME = "UPDATE internal.system SET name = 'Oak' WHERE name = 'Ash'"


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("change", "table"),
    [
        ("UPDATE internal.score SET value = value + 1e-9 WHERE vector_id = 1 AND segment = 2", "score"),
        ("UPDATE internal.score SET segment = 3 - segment WHERE vector_id = 1 AND segment IN (1, 2)", "score"),
        ("INSERT INTO internal.score FROM internal.score WHERE vector_id = 1", "score"),
        (f"{SCORES}; {TEXT}; {NAME}", "aggregate_score, segment_text, system"),
        *(
            pytest.param(change, table, marks=pytest.mark.long("a change for each: 1 second"))
            for change, table in (
                (SCORES, "aggregate_score"),
                (TEXT, "segment_text"),
                (NAME, "system"),
                ("UPDATE internal.segment SET document = NULL WHERE segment = 1", "segment"),
                ("DELETE FROM internal.score WHERE vector_id = 1", "score"),
            )
        ),
        ("DELETE FROM internal.checksum WHERE name = 'segment'", "segment"),
        ("DELETE FROM internal.segment WHERE segment = 1", "score, segment"),  # the views show fewer scores, too
        (
            "CREATE TEMP TABLE t AS FROM internal.score; DELETE FROM internal.score; "
            "INSERT INTO internal.score FROM t ORDER BY value",
            "",
        ),
    ],
)
def test_rows_that_are_not_those_that_were_written_are_an_error(
    change: str, table: str, scorehouse: Scorehouse, faulty: Path
) -> None:
    """Other rows or none or more of them are; the same in another order are not."""
    with duckdb.connect(str(faulty)) as connection:
        connection.execute(change)
    ran = scorehouse("audit", "--deep", "--check", "names", "--strict", "--db", faulty, "--format", "json")
    assert ran.code == (1 if table else 0)
    found = [(row["lp"], row["subject"]) for row in json.loads(ran.out) if row["check"] == "checksum"]
    assert found == ([("en-de", table)] if table else [])


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE internal.evalset SET standard_human_seg = 'esa'",
        "UPDATE internal.entry SET status = 'primary'",
        "DELETE FROM internal.metric_fact",
        "DELETE FROM internal.checksum",
    ],
)
def test_a_changed_catalogue_is_a_damaged_file(change: str, scorehouse: Scorehouse, faulty: Path) -> None:
    with duckdb.connect(str(faulty)) as connection:
        connection.execute(change)
    refused(scorehouse("audit", "--deep", "--db", faulty), 4, "damaged", "not those that were written")


def test_rows_that_their_index_does_not_find_are_a_damaged_file(
    scorehouse: Scorehouse, faulty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scans show them, joins that look them up lose them."""
    text = checksums._sql
    lost = "system_id = $id AND system_id <> 2"
    monkeypatch.setattr(checksums, "_sql", lambda name: text(name).replace("system_id = $id", lost))
    refused(scorehouse("audit", "--deep", "--db", faulty), 4, "the index of system does not find 1 of its rows")
