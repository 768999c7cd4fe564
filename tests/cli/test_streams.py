"""Standard streams that are closed or full: one line, no traceback, and nothing of ours in their place."""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.main import COMMANDS
from tests.cli.running import PROGRAM, Ran, Scorehouse, examples
from tests.helpers import tiny_layout, tiny_warehouse, together
from tests.sharing import copies_for_new_files

FULL = Path("/dev/full")
SET = ("sim24", "ja-en")
OTHER = "other.duckdb"
TINY = "tiny.duckdb"
WORDS = {
    "show": ("show", *SET, "1"),
    "rank": ("rank", *SET, "-m", "pa"),
    "compare": ("compare", *SET, "-m", "pa", "--draws", "5"),
    "protocol": ("protocol", "wmt24", "--on", "tiny24", "--lp", "en-de", "--all-metrics", "--db", TINY),
    "thresholds, ties": ("thresholds", "tiny24", "en-de", "--ties", "--db", TINY),
    "trend": ("trend", "tiny24", "en-de", "-m", "pearson", "--draws", "5", "--anchor", "Fine", "--db", TINY),
    "deltas": ("deltas", "sim24", "simBLEU", "--human", "mqm", "--draws", "5"),
    "noise": ("noise", *SET, "-m", "pdp", "--draws", "1"),
    "plan": (
        *("plan", *SET, "Oriole", "Embermatch", "-m", "pearson"),
        *("--segments", "1-40", "--simulations", "20", "--draws", "20"),
    ),
    "deltas, hard": ("deltas", "tiny24", "--hard", "--at-most", "9", "--db", TINY),
    "audit": ("audit", "tiny24", "en-de", "--db", TINY),
    "export": ("export", "scores", "tiny24", "--db", TINY),
    "annotators": ("annotators", *SET, "--draws", "20"),
    "paper": ("paper",),
    "systems": ("systems", *SET, "--draws", "5"),
    "thresholds": ("thresholds", *SET, "--metrics", "simBLEU"),
    "diff": ("diff", OTHER, "--testset", "sim24", "--lp", "ja-en", "--exit-zero"),
    "report": ("report", "sim24", "--lp", "ja-en", "--section", "overview", "-o", "-"),
    "demo": ("demo", "-q"),
}
"""Cheap words for commands whose example takes long, or needs files."""
CHANGES = ("load", "compute", "add", "remove", "explore")
"""They have no answer without a change: see the test of their own; or none but an address."""
ANSWERS = {
    **{name: tuple(shlex.split(examples(name)[0])) for name in COMMANDS if name not in CHANGES},
    **WORDS,
    "sql --schema": ("sql", "--schema"),
    "sql --example": ("sql", "--example"),
    "list, csv": ("list", "testsets", "--format", "csv"),
    "list, parquet": ("list", "testsets", "--format", "parquet"),
    "--help": ("--help",),
    "rank --help": ("rank", "--help"),
    "--version": ("--version",),
    "nothing": (),
}
"""Words that have something on stdout: those of every command of the program."""


def _ask(scorehouse: Scorehouse, name: str, database: Path, folder: Path) -> Ran:
    """Run the words of an answer, from a folder with the other warehouse if they name one."""
    words = ANSWERS[name]
    if TINY in words:
        tiny_warehouse(folder).close()
    if OTHER in words:
        shutil.copy(database, folder / OTHER)
    return scorehouse(*(folder / word if word in (OTHER, TINY) else word for word in words))


@contextlib.contextmanager
def _stdout_that_takes_nothing(monkeypatch: pytest.MonkeyPatch, kind: str = "closed") -> Iterator[str]:
    """Put a closed, a full or a broken stdout in place of that of the tests; what is said of it."""
    if kind == "broken":
        reading, number = os.pipe()
        os.close(reading)
    elif kind == "full":
        if not FULL.exists():
            pytest.skip("no device here that is full")
        number = os.open(FULL, os.O_WRONLY)
    else:
        number = os.open(os.devnull, os.O_RDONLY)
    with monkeypatch.context() as patch:
        stream = os.fdopen(number, "w", encoding="utf-8")
        patch.setattr(sys, "stdout", stream)
        yield {"closed": "closed", "full": "No space left", "broken": ""}[kind]
        with contextlib.suppress(OSError):
            stream.close()


def _refused(ran: Ran, why: str) -> bool:
    errors = [line for line in ran.notes if line.startswith("error: ")]
    return ran.code == 4 and len(errors) == 1 and why in errors[0]


def _every(number: int) -> list[Any]:
    """Every command, each of three streams with its third of them; the others with `--all`."""
    why = "every command with every kind of a stream that takes nothing: a minute"
    marks = [[] if place % 3 == number else [pytest.mark.long(why)] for place in range(len(ANSWERS))]
    return [pytest.param(name, marks=mark) for name, mark in zip(ANSWERS, marks, strict=True)]


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize("name", _every(0))
def test_an_answer_that_nobody_takes_is_one_line_and_exit_code_4(
    name: str, scorehouse: Scorehouse, default_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with _stdout_that_takes_nothing(monkeypatch) as why:
        ran = _ask(scorehouse, name, default_database, tmp_path)
    assert _refused(ran, why), ran


@pytest.mark.every(4)
@pytest.mark.parametrize("name", _every(1))
def test_a_full_disk_below_stdout_is_one_line_and_exit_code_4(
    name: str, scorehouse: Scorehouse, default_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with _stdout_that_takes_nothing(monkeypatch, "full") as why:
        ran = _ask(scorehouse, name, default_database, tmp_path)
    assert _refused(ran, why), ran


@pytest.mark.every(4)
@pytest.mark.parametrize("name", _every(2))
def test_an_answer_for_a_reader_who_has_gone_away_is_no_error(
    name: str, scorehouse: Scorehouse, default_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with _stdout_that_takes_nothing(monkeypatch, "broken"):
        ran = _ask(scorehouse, name, default_database, tmp_path)
    errors = [line for line in ran.notes if line.startswith("error: ")]
    assert (ran.code, errors) == (2 if name == "nothing" else 0, [])


@pytest.mark.slow
def test_commands_that_change_the_warehouse_do_so_and_say_that_nobody_took_their_report(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "w.duckdb"
    layout = tiny_layout(tmp_path / "scores", testset="tiny24")
    for words in (("load", layout), ("compute", "bleu", "tiny24", "en-de"), ("remove", "tiny24")):
        with _stdout_that_takes_nothing(monkeypatch) as why:
            ran = scorehouse(*words, "--db", database)
        assert _refused(ran, why) or (ran.code == 0 and "error" not in ran.err), (words, ran)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="closes streams by the words of a POSIX shell")
@together(("closing", "n_lines"), [(">&-", 1), ("<&- >&- 2>&-", 0)])
def test_streams_that_the_shell_closed_are_not_taken_for_files_of_ours(
    closing: str, n_lines: int, default_database: Path
) -> None:
    before = default_database.read_bytes()
    command = " ".join(f"'{word}'" for word in (*PROGRAM, "list", "testsets", "--db", str(default_database)))
    ran = subprocess.run(["sh", "-c", f"{command} {closing}"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (4, "", n_lines)
    assert default_database.read_bytes() == before


def test_help_for_a_reader_who_goes_away_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = subprocess.run([*PROGRAM, "--help"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files as POSIX does")
@pytest.mark.parametrize("command", ["load", "export", "export csv", "export mtme", "sql -o", "rank -o", "compute"])
def test_a_full_disk_is_said_as_such_with_exit_code_4(
    command: str, scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit on the size of files stands for the disk: the system refuses the same writes by another word."""
    import resource

    layout, out = tiny_layout(tmp_path / "scores"), tmp_path / "out"
    words: dict[str, tuple[object, ...]] = {
        "load": ("load", layout, "--db", tmp_path / "w.duckdb"),
        "export": ("export", out),
        "export csv": ("export", out, "--format", "csv"),
        "export mtme": ("export", out, "--format", "mtme"),
        "sql -o": ("sql", "FROM range(9999)", "-o", tmp_path / "x.csv"),
        "rank -o": ("list", "metrics", *SET, "-o", tmp_path / "x.json"),
        "compute": ("compute", "bleu", "tiny24", "en-de"),
    }
    if command == "compute":
        tiny_warehouse(tmp_path).close()
        monkeypatch.setenv("SCOREHOUSE_DB", str(tmp_path / "tiny.duckdb"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it would be cut off, and stay so
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = scorehouse("list", "testsets", "--format", "json").json
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        with copies_for_new_files(False):  # the copy would have no room either
            ran = scorehouse(*words[command])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert _refused(ran, "the disk is full"), ran
    assert scorehouse("list", "testsets", "--format", "json").json == before
    assert [path for path in tmp_path.iterdir() if path.name.startswith(("x.", "."))] == []
