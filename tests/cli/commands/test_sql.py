"""A user's own SQL: answered where it reads the warehouse, refused where it would do anything else."""

import csv
import io
import json
import os
import re
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from tests.cli.running import Ran, Scorehouse, refused, unchanged
from tests.helpers import sampled, together


@together(
    "query", ["DELETE FROM score", "COPY testset TO 'testset.csv'", "CREATE TABLE mine AS PIVOT evalsets ON year"]
)
def test_sql_that_would_change_anything_is_refused(
    query: str, scorehouse: Scorehouse, default_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with unchanged(default_database):
        refused(scorehouse("sql", query), 2)
    assert list(tmp_path.iterdir()) == []


@together(
    ("query", "hints"),
    [
        ("SELECT 1; SELECT 2", ["expected one statement, found 2"]),
        ("SELECT 1; DROP TABLE score", ["expected one statement, found 2"]),
        ("", ["expected one statement, found 0"]),
        (" ; ", ["expected one statement, found 0"]),
        ("SELEC 1", ["syntax error", "SELEC"]),
        ("SELECT * FROM scoress", ["scoress", 'Did you mean "scores"']),
        ("SELECT lp FROM evalsets WHERE lp = en-de", ['"en"', "text takes single quotes: lp = 'en-de'"]),
        ('SELECT lp FROM evalsets WHERE lp = "en-de"', ['"en-de"', "text takes single quotes: lp = 'en-de'"]),
        ("SELECT lp FROM evalsets WHERE testset = wmt23.sent", ['"wmt23"', "text takes single quotes"]),
        ("SELECT metrc FROM scores", ["metrc", '"metric"']),
        ("SELECT 1 + 'a'", ["a"]),
        ("SELECT $lp", ["lp"]),
        ("SELECT [INTERVAL 3 DAY] AS d", ["column 'd'", "VARCHAR"]),
        ("SELECT '\udcff'", ["not UTF-8 text"]),
        ("PIVOT (FROM evalsets WHERE lp = $lp) ON year", ["cannot have parameters", "ON column IN (...)"]),
    ],
)
def test_sql_that_makes_no_sense_is_one_line(query: str, hints: list[str], scorehouse: Scorehouse) -> None:
    refused(scorehouse("sql", query), 2, *hints)


def test_nothing_but_rows_comes_from_the_process_of_a_query(scorehouse: Scorehouse) -> None:
    query = "SELECT current_setting('enable_progress_bar') AS bar"
    assert scorehouse("sql", query, "--format", "json").json == [{"bar": False}]


@pytest.mark.long("a process: 1 second")
@pytest.mark.usefixtures("own_processes")
@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are counted otherwise there")
def test_what_a_library_prints_does_not_stand_between_the_rows(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printing = tmp_path / "sitecustomize.py"
    printing.write_text(
        "import atexit, os, sys\nif 'adhoc_process' in ' '.join(sys.orig_argv):\n"
        "    import threading\n    threading.Timer(0.2, os.write, (1, b'printed')).start()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    query = "SELECT sum(hash(x) % 2) > 0 AS done FROM range(40000000) AS a(x)"
    assert scorehouse("sql", query, "--format", "json").json == [{"done": True}]


def test_sql_that_runs_for_ever_is_stopped(scorehouse: Scorehouse) -> None:
    endless = "SELECT count(*) FROM scores AS a, scores AS b, scores AS c WHERE sin(a.value + b.value + c.value) > 2"
    start = time.perf_counter()
    refused(scorehouse("sql", endless, "--timeout", "0.3"), 4, "more than 0.3 s", "--timeout")
    assert time.perf_counter() - start < 30  # it would run for years


def test_sql_that_takes_too_much_memory_is_stopped(scorehouse: Scorehouse) -> None:
    greedy = "SELECT list(a.value + b.value) FROM scores AS a, (SELECT value FROM scores LIMIT 100) AS b"
    refused(scorehouse("sql", greedy, "--memory", "50MB", "--timeout", "60"), 4, "out of memory")


def test_a_table_on_stdout_is_cut_and_says_so(scorehouse: Scorehouse) -> None:
    ran = scorehouse("sql", "SELECT i FROM range(5) AS t(i) ORDER BY i DESC", "--max-rows", "2")
    assert (ran.code, ran.notes) == (0, ["cut after row 2; --max-rows allows more"])
    assert ran.out.split()[-2:] == ["4", "3"]
    assert scorehouse("sql", "SELECT i FROM range(2) AS t(i)", "--max-rows", "2").notes == []
    assert scorehouse("sql", "DESCRIBE testsets", "--max-rows", "1").notes == [
        "cut after row 1; --max-rows allows more"
    ]


@pytest.mark.parametrize("words", [("-o", "out.txt"), ("-o", "out.csv"), ("--format", "csv"), ("--format", "json")])
def test_what_programs_read_is_never_cut(
    words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(scorehouse("sql", "FROM range(5)", "--max-rows", "2", *words), 4, "more rows than 2", "--max-rows", "LIMIT")
    assert list(tmp_path.iterdir()) == []
    assert scorehouse("sql", "FROM range(5)", "--max-rows", "5", *words).code == 0


def test_a_memory_limit_that_is_none_is_refused(scorehouse: Scorehouse) -> None:
    refused(scorehouse("sql", "SELECT 1", "--memory", "plenty"), 2, "memory limit 'plenty'")


@together(
    "query",
    [
        "WITH one AS (SELECT 1 AS n) SELECT n FROM one",
        "DESCRIBE scores",
        "SHOW TABLES",
        "SUMMARIZE internal.evalset",
        "PIVOT evalsets ON year, lp USING sum(n_systems) GROUP BY source_language; ",
        "WITH wide AS (FROM evalsets) PIVOT wide ON year IN (2021, 2022) USING count(*)",
        "explain (FORMAT json) FROM (PIVOT evalsets ON year)",
        "DESCRIBE PIVOT evalsets ON year",
        "SELECT 1;",
        "SELECT ';--' AS x",
        "SELECT 1 /* ; -- */",
        "FROM (PIVOT evalsets ON year USING count(*) GROUP BY lp) ORDER BY lp -- years",
    ],
)
def test_sql_that_only_reads_is_answered(query: str, scorehouse: Scorehouse) -> None:
    ran = scorehouse("sql", query)
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out.splitlines()) >= 3


def _answer(ran: Ran) -> object:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


@together(
    "words",
    [
        ("-p", "lp", "en-de", "-p", "n", "2"),
        ("-p", "lp=en-de", "--parameter", "n=2"),
        ("--parameter", "n", "2", "-p", "lp", "en-de"),
    ],
)
def test_parameters_are_values_and_never_text_of_the_query(words: tuple[str, ...], scorehouse: Scorehouse) -> None:
    query = "SELECT testset FROM evalsets WHERE lp = $lp ORDER BY testset LIMIT $n"
    assert _answer(scorehouse("sql", query, *words, "--format", "json")) == [{"testset": "sim21"}, {"testset": "sim22"}]


def test_a_parameter_may_be_negative_text_or_hold_quotes(scorehouse: Scorehouse) -> None:
    words = ("-p", "a", "-1.5", "-p", "b", "'; DROP TABLE score; --", "-p", "c", "007", "--format", "json")
    expected = [{"a": -1.5, "b": "'; DROP TABLE score; --", "c": "007"}]
    assert _answer(scorehouse("sql", "SELECT $a AS a, $b AS b, $c AS c", *words)) == expected


@together(
    ("words", "hints"),
    [
        (("-p", "a"), ["-p a", "a value behind the name"]),
        (("-p", "1a", "2"), ["1a", "NAME VALUE"]),
        (("-p", "other", "2"), ["parameters: a"]),
        (("-p", "a", "1", "-p", "b", "2", "-p", "c", "3"), ["parameters: b, c"]),
        ((), ["parameters: a"]),
    ],
)
def test_parameters_that_do_not_fit_are_refused(
    words: tuple[str, ...], hints: list[str], scorehouse: Scorehouse
) -> None:
    refused(scorehouse("sql", "SELECT $a", *words), 2, *hints)


def test_a_query_may_come_from_a_file_or_from_stdin(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "question.sql"
    file.write_text("-- mine\nSELECT 'ä' AS letter;\n", encoding="utf-8")
    for words in (("-f", file), ("--file", file)):
        assert _answer(scorehouse("sql", *words, "--format", "json")) == [{"letter": "ä"}]
    for words in (("-",), ()):
        with file.open(encoding="utf-8") as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            assert _answer(scorehouse("sql", *words, "--format", "json")) == [{"letter": "ä"}]


def test_a_parameter_of_a_query_without_any_is_refused(scorehouse: Scorehouse) -> None:
    refused(scorehouse("sql", "SELECT 1", "-p", "a", "1"), 2, "argument", "count mismatch")


@pytest.mark.parametrize("content", [b"", b"  \n\t\n"])
def test_a_query_that_is_empty_is_reported_with_the_ways_to_give_one(
    content: bytes, scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "question.sql"
    file.write_bytes(content)
    refused(scorehouse("sql", "-f", file), 2, "question.sql: empty", "--schema")
    for words in (("-",), ()):
        with file.open(encoding="utf-8") as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            refused(scorehouse("sql", *words), 2, "stdin: empty", "as an argument", "--file", "--schema")


def test_stdin_that_is_no_text_or_closed_is_reported(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "binary").write_bytes(b"SELECT '\xff'")
    with (tmp_path / "binary").open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        refused(scorehouse("sql"), 2, "stdin: cannot be read")
    monkeypatch.setattr("sys.stdin", None)
    refused(scorehouse("sql"), 2, "no query")


def test_a_query_has_one_source(scorehouse: Scorehouse, tmp_path: Path) -> None:
    file = tmp_path / "question.sql"
    refused(scorehouse("sql", "-f", file), 2, "question.sql", "cannot be read")
    file.write_bytes(b"SELECT '\xff'")
    refused(scorehouse("sql", "-f", file), 2, "question.sql", "cannot be read")
    refused(scorehouse("sql", "SELECT 1", "-f", file), 2, "not both")
    refused(scorehouse("sql", "--schema", "-f", file), 2, "--schema takes the name")


def test_columns_with_one_name_differ_in_the_answer(scorehouse: Scorehouse) -> None:
    assert _answer(scorehouse("sql", "SELECT 1 AS a, 2 AS a", "--format", "json")) == [{"a": 1, "a_1": 2}]


def test_sums_of_whole_numbers_are_whole(scorehouse: Scorehouse) -> None:
    query = "SELECT sum(n_lps) AS n, sum(1.5) AS x FROM testsets"
    assert _answer(scorehouse("sql", query, "--format", "json")) == [{"n": 12, "x": 6.0}]


def test_the_schema_tells_what_every_view_column_and_macro_means(scorehouse: Scorehouse) -> None:
    rows = scorehouse("sql", "--schema", "--format", "json").json
    assert all(row["meaning"] for row in rows)
    kinds = [row["kind"] for row in rows]
    assert list(dict.fromkeys(kinds)) == ["view", "macro", "table"]
    columns = [row["column"] for row in rows if row["name"] == "scores"]
    assert columns == [
        None,
        *("testset", "year", "lp", "domain", "document", "segment"),
        *("system", "metric", "base_metric", "family", "kind", "reference", "scale", "value"),
    ]
    macros = {row["name"].partition("(")[0] for row in rows if row["kind"] == "macro"}
    assert {"tau_a", "tau_b", "tau_10", "tau_13", "tau_14", "tau_23", "acc23", "concordance"} <= macros


def test_the_schema_fits_on_a_page(scorehouse: Scorehouse) -> None:
    lines = scorehouse("sql", "--schema").out.splitlines()
    assert len(lines) > 300
    assert max(map(len, lines)) <= 100


@pytest.mark.slow
def test_the_schema_of_one_view_macro_or_table_is_printed_alone(scorehouse: Scorehouse) -> None:
    lines = scorehouse("sql", "--schema", "testsets").out.splitlines()
    assert lines[:3] == [
        "view testsets",
        "  Test sets, with counts of what is loaded. One row per test set.",
        "  testset      VARCHAR   Test set, such as wmt23.",
    ]
    assert [line.split()[0] for line in lines[2:] if re.match(r"  \w+ +[A-Z]+ ", line)] == [
        *("testset", "year", "kind", "description", "n_lps", "n_metrics", "n_humans", "n_scores")
    ]
    for name, first in (
        ("acc23", "macro acc23(c, d, th, tm, thm)"),
        ("score", "table internal.score"),
        ("internal.score", "table internal.score"),
    ):
        assert scorehouse("sql", "--schema", name).out.splitlines()[0] == first
        rows = scorehouse("sql", name, "--schema", "--format", "json").json
        assert len({row["name"] for row in rows}) == 1
    refused(scorehouse("sql", "--schema", "testset s"), 2, "unknown view, macro or table", "'testsets'")


def test_the_list_of_tables_is_that_of_the_public_views(scorehouse: Scorehouse) -> None:
    names = {row["name"] for row in scorehouse("sql", "SHOW TABLES", "--format", "json").json}
    assert names == {
        row["name"] for row in scorehouse("sql", "--schema", "--format", "json").json if row["kind"] == "view"
    }


@together("words", [("--example",), ("--example", "list")])
def test_examples_are_listed_with_their_questions(words: tuple[str, ...], scorehouse: Scorehouse) -> None:
    rows = scorehouse("sql", *words, "--format", "json").json
    assert len(rows) >= 30
    assert {"example": "best-metric", "question": "Which metric is best for each language pair and year?"} in rows


@pytest.mark.slow
def test_an_example_is_printed_and_run(scorehouse: Scorehouse) -> None:
    ran = scorehouse("sql", "--example", "two-protocols", "--format", "json")
    assert (ran.code, len(ran.json)) == (0, 6)
    lines = ran.err.splitlines()
    assert lines[0] == "-- Which systems were judged by two protocols, and do the protocols agree?"
    assert "FROM human_pairs" in lines
    query = "\n".join(lines[1:])
    again = scorehouse("sql", query, "--format", "json").json
    quiet = scorehouse("sql", "two-protocols", "--example", "-q", "--format", "json")
    for found in (again, quiet.json):  # the last digit of a correlation follows the order of the rows
        assert found == [{name: pytest.approx(value) for name, value in row.items()} for row in ran.json]
    assert quiet.err == ""


def test_an_example_that_there_is_not_is_refused(scorehouse: Scorehouse, tmp_path: Path) -> None:
    refused(scorehouse("sql", "--example", "best-metrics"), 2, "unknown example 'best-metrics'", "'best-metric'")
    refused(scorehouse("sql", "--example", "best-metric", "--schema"), 2, "neither --schema nor --file")
    refused(scorehouse("sql", "--example", "-f", tmp_path / "x.sql"), 2, "neither --schema nor --file")


ODD_ROWS = """
    SELECT i AS n, f, CAST(i / 3 AS FLOAT) AS narrow, s AS a, s || 'x' AS a, sum(i) OVER (ORDER BY i) AS total,
           CAST(i AS DECIMAL(9, 2)) / 4 AS part, CAST(i * 1.25 AS DECIMAL(9, 3)) AS exact, i > 2 AS is_late,
           CAST(CASE WHEN i < 3 THEN 'low' END AS ENUM ('low', 'high')) AS "the ""level"", in words"
    FROM (VALUES (1, 1e-5::DOUBLE, 'a'), (2, 1e16, 'x,y'), (3, 'inf', E'"q"\nnext'), (4, 'nan', NULL), (5, NULL, ''),
                 (6, 0.1, E'tab\there'), (7, -1.5e300, ' # é ')) AS rows(i, f, s)
    ORDER BY i DESC
"""


def _read(file: Path | io.StringIO, kind: str) -> object:
    """What programs find in a file of results, with numbers as numbers."""
    text = file.read_text(encoding="utf-8") if isinstance(file, Path) else file.getvalue()
    if kind in ("csv", "tsv"):
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="," if kind == "csv" else "\t"))
        return [
            [float(cell) if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?|-?inf", cell) else cell for cell in r] for r in rows
        ]
    return json.loads(text) if kind == "json" else [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("kind", "query"),
    sampled(
        2,
        "a process for each query: 5 seconds",
        ["csv", "tsv", "json", "jsonl"],
        [
            ODD_ROWS,
            f"FROM ({ODD_ROWS}) WHERE n > 100",
            "SELECT NULL::VARCHAR AS s UNION ALL SELECT '' UNION ALL SELECT 'a'",
            "SELECT 1 AS n, [1.5, 'nan'::DOUBLE] AS l, {'a': 1} AS s, TIMESTAMP '2024-05-01 10:00' AS t, '1' AS i",
            "SELECT 1 AS n, 12345678901234567890::HUGEINT AS too_large",
            "SELECT lp, testset FROM evalsets WHERE year = $year -- last",
            "PIVOT evalsets ON year USING count(*) GROUP BY lp",
            "DESCRIBE testsets",
        ],
    ),
)
def test_a_file_holds_what_stdout_would(kind: str, query: str, scorehouse: Scorehouse, tmp_path: Path) -> None:
    words = ("-p", "year", "2022") if "$" in query else ()
    printed = scorehouse("sql", query, *words, "--format", kind)
    assert printed.code == 0, printed.err
    file = tmp_path / f"it's.{kind}"
    ran = scorehouse("sql", query, *words, "-o", file)
    assert (ran.code, ran.out) == (0, "")
    found = _read(file, kind)
    assert found == _read(io.StringIO(printed.out), kind)
    assert isinstance(found, list)
    n_rows = len(found) - (kind in ("csv", "tsv"))
    assert ran.notes == [f"wrote {n_rows} {'row' if n_rows == 1 else 'rows'} to {file}"]


def test_a_parquet_file_has_missing_for_nan_and_whole_sums(scorehouse: Scorehouse, tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    assert scorehouse("sql", ODD_ROWS, "-o", file).code == 0
    found = pl.read_parquet(file)
    assert found["f"].to_list() == [-1.5e300, 0.1, None, None, float("inf"), 1e16, 1e-5]
    assert found.schema["total"] == pl.Int64
    assert found.schema["exact"] == pl.Float64
    assert found["a"].to_list()[2:4] == ["", None]
    assert found.columns[:5] == ["n", "f", "narrow", "a", "a_1"]


@pytest.mark.slow
def test_rows_that_go_to_a_file_take_little_memory(scorehouse: Scorehouse, tmp_path: Path) -> None:
    query = "SELECT i AS n, md5(CAST(i AS VARCHAR)) AS text FROM range(500000) AS rows(i)"  # 20 MB and more
    limits = ("--memory", "30MB", "--timeout", "300")
    refused(scorehouse("sql", query, *limits, "--format", "csv"), 4, "out of memory", "-o FILE.parquet")
    files = [f"rows.{kind}" for kind in ("csv", "json", "jsonl", "parquet", "tsv")]
    assert [scorehouse("sql", query, *limits, "-o", tmp_path / file).code for file in files] == [0] * 5
    assert sorted(file.name for file in tmp_path.iterdir()) == files


def test_a_query_that_is_stopped_leaves_the_file_as_it_was(scorehouse: Scorehouse, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("mine")
    endless = "SELECT a.value, b.system FROM scores AS a, scores AS b, scores AS c"
    refused(scorehouse("sql", endless, "--timeout", "0.5", "-o", file), 4, "more than 0.5 s", "--timeout")
    refused(scorehouse("sql", endless, "--max-rows", "9", "-o", file), 4, "more rows than 9", "--max-rows")
    refused(scorehouse("sql", "SELECT 1 AS a, CAST(lp AS INTEGER) AS b FROM evalsets", "-o", file), 2, "Conversion")
    assert [one.read_text() for one in tmp_path.iterdir()] == ["mine"]


def test_a_query_whose_rows_go_to_a_file_reads_no_other(scorehouse: Scorehouse, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,42424242\n")
    refused(scorehouse("sql", f"SELECT * FROM read_csv('{secret}')", "-o", tmp_path / "out.csv"), 2, "disabled")
    refused(
        scorehouse("sql", f"COPY testsets TO '{tmp_path / 'x.csv'}'", "-o", tmp_path / "out.csv"), 2, "may only read"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["secret.csv"]


def test_formulas_are_defused_in_a_file_too(scorehouse: Scorehouse, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    assert scorehouse("sql", "SELECT 1 AS n, '=1+1' AS text", "--safe-cells", "-o", file).code == 0
    assert file.read_text() == "n,text\n1,'=1+1\n"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device")
def test_a_query_without_an_end_is_refused(scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(scorehouse("sql", "-f", "/dev/zero"), 2, "more than 10,000,000 bytes, expected a query")
    with Path("/dev/zero").open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        refused(scorehouse("sql"), 2, "stdin: more than 10,000,000 bytes")
