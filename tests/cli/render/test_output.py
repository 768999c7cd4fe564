"""What comes out: every format, the documented JSON, files, quiet, and where the warehouse is found."""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cli.ending import run_program
from cli.main import program
from tests.cli.running import Ran, Scorehouse, refused
from tests.helpers import together

RANK = ("rank", "sim24", "ja-en", "-m", "pa", "-m", "acc_eq(by=item)")
RANK_KEYS = [
    *("testset", "lp", "human", "metric", "base_metric", "measure", "value", "epsilon", "rank", "cluster"),
    *("n_systems", "n_segments", "n_pairs", "n_groups", "n_groups_nan", "n_missing", "system_score", "signature"),
]
COUNT_KEYS = [
    *("metric", "by", "group", "epsilon"),
    *("n_concordant", "n_discordant", "n_tied_human", "n_tied_metric", "n_tied_both"),
]


def _is_signature(line: str) -> bool:
    return line.startswith(("measure:", "counts:")) and "|testset:" in line


def test_rank_as_json_has_the_documented_objects(scorehouse: Scorehouse) -> None:
    rows = scorehouse(*RANK, "--format", "json").json
    assert [list(row) for row in rows] == [RANK_KEYS] * len(rows)
    by_measure = {measure: [r for r in rows if r["measure"] == measure] for measure in ("pa", "acc_eq(by=item)")}
    assert len(by_measure["pa"]) == len(by_measure["acc_eq(by=item)"]) == len(rows) / 2
    for row in by_measure["pa"]:
        assert row["epsilon"] is row["cluster"] is row["n_groups"] is row["n_groups_nan"] is None
        assert row["n_pairs"] == row["n_systems"] * (row["n_systems"] - 1) // 2
        assert row["system_score"] == "submitted"
        assert row["signature"].startswith("measure:pa|testset:sim24|lp:ja-en|human:mqm|")
    for row in by_measure["acc_eq(by=item)"]:
        assert row["epsilon"] >= 0
        assert row["system_score"] is None
        assert row["n_groups_nan"] == 0
        assert 0 < row["n_groups"] <= row["n_segments"]


def test_rank_as_json_is_sorted_by_value_with_competition_ranks_and_undefined_last(scorehouse: Scorehouse) -> None:
    rows = scorehouse("rank", "sim24", "ja-en", "-m", "kendall", "--format", "json").json
    values = [row["value"] for row in rows]
    n = values.index(None)
    assert values[n:] == [None] * (len(values) - n)
    assert [row["rank"] for row in rows[n:]] == [None] * (len(values) - n)
    assert [row["metric"] for row in rows[n:]] == sorted(row["metric"] for row in rows[n:])
    assert "Steady-src" in [row["metric"] for row in rows[n:]]  # a constant metric
    assert values[:n] == sorted(values[:n], reverse=True)
    assert [row["rank"] for row in rows[:n]] == [1 + sum(other > value for other in values[:n]) for value in values[:n]]
    for first, second in pairwise(rows[:n]):
        assert first["value"] > second["value"] or first["metric"] < second["metric"]


def test_metric_is_the_full_name_and_base_metric_the_one_without_reference(scorehouse: Scorehouse) -> None:
    rows = scorehouse("rank", "sim24", "ja-en", "-m", "pa", "--metrics", "sim*", "--format", "json").json
    named = {row["metric"]: row["base_metric"] for row in rows}
    assert named == {"simBLEU-refA": "simBLEU", "simTER-refA": "simTER", "simchrF-refA": "simchrF"}


@together(("by", "group"), [("none", "all"), ("item", "1"), ("system", "Alder-Base")])
def test_counts_as_json_has_the_documented_objects(by: str, group: str, scorehouse: Scorehouse) -> None:
    words = ("counts", "sim24", "cs-uk", "--by", by, "--metrics", "simBLEU", "--epsilon", "0.5", "--format", "json")
    rows = scorehouse(*words).json
    assert [list(row) for row in rows] == [COUNT_KEYS] * len(rows)
    assert {(row["metric"], row["by"], row["epsilon"]) for row in rows} == {("simBLEU-refA", by, 0.5)}
    assert all(type(row[key]) is int for row in rows for key in COUNT_KEYS[4:])
    if by == "none":
        assert [row["group"] for row in rows] == [group]
    else:
        assert all(isinstance(row["group"], str) for row in rows)
        assert len(rows) > 1


@pytest.mark.slow
def test_tables_for_reading_have_one_row_a_metric(scorehouse: Scorehouse) -> None:
    n_metrics = len({row["metric"] for row in scorehouse(*RANK, "--format", "json").json})
    table = scorehouse(*RANK).table
    assert len(table) == n_metrics + 2
    assert table[0].split()[:3] == ["#", "metric", "pa"]
    assert set(table[1]) == {"─", " "}
    markdown = scorehouse(*RANK, "--format", "markdown").table
    assert len(markdown) == n_metrics + 2
    assert all(line.startswith("| ") and line.endswith(" |") for line in markdown)
    latex = scorehouse(*RANK, "--format", "latex")
    assert latex.out.startswith("% ")
    assert latex.table[0].startswith(r"\begin{tabular}{lrrrrr}")
    assert latex.out.count(r" \\") == n_metrics + 1


def test_data_alone_are_on_stdout_and_each_result_has_its_signature_on_stderr(scorehouse: Scorehouse) -> None:
    ran = scorehouse(*RANK)
    assert "measure:" not in ran.out
    assert [line.split("|")[0] for line in ran.notes if _is_signature(line)] == [
        "measure:pa",
        "measure:acc_eq(by=item)",
    ]


@pytest.mark.slow
def test_quiet_leaves_the_data_alone(scorehouse: Scorehouse) -> None:
    """Without the sentence above a table, which is in JSON part of the data."""
    for form in ("table", "markdown", "latex", "csv", "json"):
        loud = scorehouse(*RANK, "--format", form)
        data = loud.out.splitlines() if form in ("csv", "json") else loud.table
        for words in (("-q", *RANK), (*RANK, "--quiet")):
            ran = scorehouse(*words, "--format", form)
            assert (ran.code, ran.out.splitlines(), ran.err) == (0, data, "")


def test_quiet_does_not_silence_errors(scorehouse: Scorehouse) -> None:
    refused(scorehouse("-q", "rank", "sim99", "en-de"), 2, "sim99")


@pytest.mark.parametrize("is_before", [True, False])
def test_options_may_stand_before_and_behind_the_command(
    is_before: bool, scorehouse: Scorehouse, tmp_path: Path, default_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCOREHOUSE_DB")
    options = ("--db", default_database, "--format", "csv", "-o", tmp_path / "sets.txt", "-q")
    command = ("list", "testsets")
    ran = scorehouse(*options, *command) if is_before else scorehouse(*command, *options)
    assert ran == Ran(0, "", "")
    assert (tmp_path / "sets.txt").read_text().startswith("testset,year,")


def test_the_named_warehouse_goes_before_the_one_of_the_environment(
    scorehouse: Scorehouse, tmp_path: Path, default_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCOREHOUSE_DB", str(tmp_path / "absent.duckdb"))
    refused(scorehouse("list", "testsets"), 4, "absent.duckdb", "scorehouse load")
    for words in (("--db", default_database, "list", "testsets"), ("list", "testsets", "--db", default_database)):
        assert scorehouse(*words).code == 0


def test_without_a_name_the_warehouse_lies_in_the_users_data_folder(
    scorehouse: Scorehouse, tmp_path: Path, default_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCOREHOUSE_DB")
    monkeypatch.setattr(sys, "platform", "linux")
    refused(scorehouse("list", "testsets"), 4, str(tmp_path / "data" / "scorehouse" / "scorehouse.duckdb"))
    (tmp_path / "data" / "scorehouse").mkdir(parents=True)
    shutil.copy(default_database, tmp_path / "data" / "scorehouse" / "scorehouse.duckdb")
    assert scorehouse("list", "testsets").code == 0


@together(
    ("name", "beginning"),
    [
        ("a.csv", "testset,"),
        ("a.tsv", "testset\t"),
        ("a.json", "[\n"),
        ("a.jsonl", '{"testset"'),
        ("a.md", "4 test sets are loaded, 4 with both metric and human scores.\n\n| testset "),
        ("a.tex", "% 4 test sets are loaded, 4 with both metric and human scores.\n\\begin{tabular}"),
        ("a.txt", "4 test sets are loaded, 4 with both metric and human scores.\ntestset  "),
    ],
)
def test_the_ending_of_the_file_tells_the_format(
    name: str, beginning: str, scorehouse: Scorehouse, tmp_path: Path
) -> None:
    ran = scorehouse("list", "testsets", "-o", tmp_path / name)
    assert (ran.code, ran.out) == (0, "")
    assert ran.notes == [f"wrote 4 rows to {tmp_path / name}"]
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(beginning)


@together("name", ["a.xyz", "a.csv.gz", "a.b/answer.html"])
def test_an_ending_that_stands_for_no_format_is_refused_before_anything_is_computed(
    name: str, scorehouse: Scorehouse, tmp_path: Path
) -> None:
    file = tmp_path / name
    words = ("--db", tmp_path / "absent.duckdb", "list", "testsets", "-o", file)
    refused(scorehouse(*words), 2, file.name, f"no format ends in {file.suffix}", ".csv, .tsv, .json", "--format")
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_ending_holds_a_table_and_a_chosen_format_goes_before_the_ending(
    scorehouse: Scorehouse, tmp_path: Path
) -> None:
    assert scorehouse("list", "testsets", "-o", tmp_path / "answer").code == 0
    assert (tmp_path / "answer").read_text(encoding="utf-8").startswith("4 test sets are loaded, ")
    assert scorehouse("list", "testsets", "-o", tmp_path / "a.xyz", "--format", "csv").code == 0
    assert (tmp_path / "a.xyz").read_text().startswith("testset,year")


def test_the_default_measures_are_spa_and_acc_eq(scorehouse: Scorehouse) -> None:
    rows = scorehouse("rank", "sim24", "cs-uk", "--format", "json").json
    assert list(dict.fromkeys(row["measure"] for row in rows)) == ["spa", "acc_eq(by=item)"]


def test_explain_names_every_system_and_metric_with_its_reason(scorehouse: Scorehouse) -> None:
    rows = scorehouse("rank", "sim24", "en-de", "--explain", "--format", "json").json
    assert [list(row) for row in rows] == [["kind", "name", "included", "reason"]] * len(rows)
    n_systems = scorehouse("sql", "FROM systems WHERE testset = 'sim24' AND lp = 'en-de'", "--format", "json").json
    n_metrics = scorehouse("list", "metrics", "sim24", "en-de", "--format", "json").json
    assert [row["kind"] for row in rows] == ["system"] * len(n_systems) + ["metric"] * len(n_metrics)
    why = {row["name"]: (row["included"], row["reason"]) for row in rows}
    assert why["refA"] == ("no", "the reference that the metrics use")
    assert why["Kestrel-24-refB"] == ("no", "computed with refB, not with reference refA")
    assert why["Kestrel-24-refA"] == ("yes", "")


def test_verbose_names_what_is_left_out(scorehouse: Scorehouse) -> None:
    short = scorehouse("rank", "sim24", "en-de", "-m", "pa")
    assert any("--explain says why" in line for line in short.notes)
    long = scorehouse("rank", "sim24", "en-de", "-m", "pa", "--verbose")
    assert any("Kestrel-24-refB" in line for line in long.notes)


def test_a_metric_that_is_not_defined_is_reported(scorehouse: Scorehouse) -> None:
    ran = scorehouse("rank", "sim24", "ja-en", "-m", "kendall")
    assert any(line.startswith("kendall is not defined for") and "Steady-src" in line for line in ran.notes)


@functools.cache
def _whole() -> Any:
    """The program with all its commands, built once."""
    return program()


@pytest.fixture
def completed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, simulated_database: Path
) -> Callable[[str], list[str]]:
    """What the shell is offered behind some words, in this process."""
    monkeypatch.setenv("SCOREHOUSE_DB", str(simulated_database))
    monkeypatch.setenv("_SCOREHOUSE_COMPLETE", "complete_bash")

    def complete(words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        with pytest.raises(SystemExit):
            run_program(_whole(), [])
        written = capsys.readouterr()
        assert written.err == ""
        return written.out.split()

    return complete


@pytest.mark.slow
@together(
    ("words", "offered"),
    [
        ("rank sim2", ["sim21", "sim22", "sim23", "sim24"]),
        ("rank sim24,sim21,sim2", [f"sim24,sim21,sim2{n}" for n in (1, 2, 3, 4)]),
        ("rank sim24 ", ["cs-uk", "en-de", "ja-en"]),
        ("rank sim99 ", []),
        ("list metrics s", ["sim21", "sim22", "sim23", "sim24"]),
        ("list metrics sim24 e", ["en-de"]),
        ("audit sim2", ["sim21", "sim22", "sim23", "sim24"]),
        ("export folder sim24 c", ["cs-uk"]),
        ("rank sim21 en-de --human ", ["wmt-raw", "wmt-z"]),
        ("rank sim21,sim23 en-de --human ", ["mqm", "wmt-raw", "wmt-z"]),
        ("rank --human w", ["wmt-raw", "wmt-z"]),
        ("counts sim24 en-de --metrics Kestrel-2", ["Kestrel-24-QE-src", "Kestrel-24-refA", "Kestrel-24-refB"]),
        ("compare sim24 en-de Kes", ["Kestrel-24-QE-src", "Kestrel-24-refA", "Kestrel-24-refB"]),
        ("compare sim24 all Kestrel-24-Q", ["Kestrel-24-QE-src"]),
        ("systems sim24 en-de --scorer simTER", ["simTER-refA"]),
        ("rank sim24 en-de --domain ", ["literary", "news", "social", "speech"]),
        ("rank sim24 en-de --document news-en.01", [f"news-en.01{n}" for n in range(5)]),
        ("rank sim24 en-de --systems Dog", ["Dogwood"]),
        ("rank sim24 en-de --reference r", ["refA", "refB"]),
        ("rank sim24 en-de -m acc", ["acc23", "acc_eq", "acc_rr", "accuracy"]),
        ("protocol wmt2", [f"wmt2{n}" for n in range(6)]),
        ("protocol wmt24 --on sim2", ["sim21", "sim22", "sim23", "sim24"]),
        ("protocol wmt24 --on sim24 --lp c", ["cs-uk"]),
        ("protocol wmt24 --on sim21 --human ", ["wmt-raw", "wmt-z"]),
        ("sql --example best-", ["best-by-two-measures", "best-metric", "best-of-each-kind", "best-systems-only"]),
        ("sql best-", []),
    ],
)
def test_completion_offers_what_fits_the_words_before(
    words: str, offered: list[str], completed: Callable[[str], list[str]]
) -> None:
    assert completed(f"scorehouse {words}") == offered


def test_completion_asks_the_warehouse_that_is_named_and_is_silent_where_there_is_none(
    completed: Callable[[str], list[str]], simulated_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("no database\n" * 100)
    for name in ("absent.duckdb", "notes.txt"):
        monkeypatch.setenv("SCOREHOUSE_DB", str(tmp_path / name))
        assert completed("scorehouse rank s") == []
    assert completed(f"scorehouse --db {simulated_database} rank sim24 c") == ["cs-uk"]
    assert completed(f"scorehouse rank --db {simulated_database} sim24 c") == ["cs-uk"]


@pytest.mark.slow
def test_completion_loads_nothing_heavy(simulated_database: Path) -> None:
    program = """
import os, sys
from cli.main import exit_code
try:
    exit_code([])
except SystemExit:
    pass
print(*sorted(set(sys.modules) & {"polars", "numpy", "scipy", "altair"}), file=sys.stderr)
"""
    environment = {
        **os.environ,
        "SCOREHOUSE_DB": str(simulated_database),
        "_SCOREHOUSE_COMPLETE": "complete_bash",
        "COMP_WORDS": "scorehouse rank sim24 en-de --metrics simTER",
        "COMP_CWORD": "5",
    }
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "simTER-refA" in done.stdout.split()
    assert done.stderr.split() == []
