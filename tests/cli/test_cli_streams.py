"""Standard streams that are closed or full: one line, no traceback, and nothing of ours in their place."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.main import COMMANDS
from tests.cli.running import PROGRAM, Ran, Scorehouse
from tests.helpers import tiny_layout
from tests.sharing import copies_for_new_files

FULL = Path("/dev/full")
SET = ("sim24", "ja-en")
OTHER = "other.duckdb"
ANSWERS = {
    "list": ("list", "testsets"),
    "show": ("show", *SET, "1"),
    "rank": ("rank", *SET, "-m", "pa"),
    "compare": ("compare", *SET, "-m", "pa", "--draws", "5"),
    "protocol": ("protocol", "wmt24", "--on", "sim24", "--lp", "ja-en"),
    "protocols": ("protocols", "sim24", "--matrix"),
    "trend": ("trend", "all", "ja-en", "-m", "pa", "--draws", "5"),
    "systems": ("systems", *SET, "--draws", "5"),
    "means": ("means", *SET),
    "counts": ("counts", *SET),
    "ties": ("ties", *SET),
    "thresholds": ("thresholds", *SET, "--metrics", "simBLEU"),
    "correlations": ("correlations", *SET),
    "audit": ("audit", *SET),
    "diff": ("diff", OTHER, "--no-rankings"),
    "sql": ("sql", "SELECT 1"),
    "sql --schema": ("sql", "--schema"),
    "sql --example": ("sql", "--example"),
    "list, csv": ("list", "testsets", "--format", "csv"),
    "list, parquet": ("list", "testsets", "--format", "parquet"),
    "demo": ("demo", "-q"),
    "--help": ("--help",),
    "rank --help": ("rank", "--help"),
    "--version": ("--version",),
    "nothing": (),
}
"""Words that have something on stdout."""
CHANGES = ("load", "compute", "add", "remove", "unload", "download", "export", "migrate")


def test_what_is_tried_are_commands_and_most_of_them() -> None:
    """Those of a kind with one that is tried (an analysis that ends in a table) are not."""
    tried = {words[0] for words in ANSWERS.values() if words and words[0][0] != "-"} | set(CHANGES)
    assert tried <= set(COMMANDS)
    assert 4 * len(tried) > 3 * len(COMMANDS)


@contextlib.contextmanager
def _stdout_that_takes_nothing(monkeypatch: pytest.MonkeyPatch, *, is_full: bool = False) -> Iterator[str]:
    """Put a closed or a full stdout in place of the one of the tests; why nothing can be written to it."""
    if is_full and not FULL.exists():
        pytest.skip("no device here that is full")
    way = (FULL, os.O_WRONLY) if is_full else (os.devnull, os.O_RDONLY)
    with os.fdopen(os.open(*way), "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        yield "No space left" if is_full else "closed"


def _refused(ran: Ran, why: str) -> bool:
    errors = [line for line in ran.notes if line.startswith("error: ")]
    return ran.code == 4 and len(errors) == 1 and why in errors[0]


@pytest.mark.parametrize("words", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_nobody_takes_is_one_line_and_exit_code_4(
    words: tuple[str, ...],
    scorehouse: Scorehouse,
    monkeypatch: pytest.MonkeyPatch,
    default_database: Path,
    tmp_path: Path,
) -> None:
    if OTHER in words:
        monkeypatch.chdir(tmp_path)
        shutil.copy(default_database, OTHER)
    with _stdout_that_takes_nothing(monkeypatch) as why:
        ran = scorehouse(*words)
    assert _refused(ran, why), ran


@pytest.mark.parametrize("name", ["list", "list, csv", "list, parquet", "sql", "--help", "--version", "nothing"])
def test_a_full_disk_below_stdout_is_one_line_and_exit_code_4(
    name: str, scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _stdout_that_takes_nothing(monkeypatch, is_full=True) as why:
        ran = scorehouse(*ANSWERS[name])
    assert _refused(ran, why), ran


def test_commands_that_change_the_warehouse_do_so_and_say_that_nobody_took_their_report(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "w.duckdb"
    layout = tiny_layout(tmp_path / "scores", testset="tiny24")
    for words in (("load", layout), ("compute", "bleu", "tiny24", "en-de"), ("unload", "tiny24"), ("migrate",)):
        with _stdout_that_takes_nothing(monkeypatch) as why:
            ran = scorehouse(*words, "--db", database)
        assert _refused(ran, why) or (ran.code == 0 and "error" not in ran.err), (words, ran)


@pytest.mark.skipif(sys.platform == "win32", reason="closes streams by the words of a POSIX shell")
@pytest.mark.parametrize(("closing", "n_lines"), [(">&-", 1), ("<&- >&- 2>&-", 0)])
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


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files as POSIX does")
@pytest.mark.parametrize("command", ["load", "export", "export csv", "export mtme", "sql -o", "rank -o", "compute"])
def test_a_full_disk_is_said_as_such_with_exit_code_4(command: str, scorehouse: Scorehouse, tmp_path: Path) -> None:
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
        "compute": ("compute", "bleu", "sim24", "ja-en"),
    }
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
