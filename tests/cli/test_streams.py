"""Standard streams that are closed or full: one line, no traceback, and nothing of ours in their place."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import PROGRAM, Ran, Scorehouse
from tests.helpers import tiny_layout, tiny_warehouse, together
from tests.sharing import copies_for_new_files

FULL = Path("/dev/full")
SET = ("sim24", "ja-en")
ANSWERS = [
    ("list", "testsets"),
    ("list", "testsets", "--format", "parquet"),
    ("sql", "FROM scores LIMIT 20000", "--format", "csv"),
    ("rank", "--help"),
    ("--version",),
    (),
    pytest.param(("report", "sim24", "--lp", "ja-en", "--section", "overview", "-o", "-"), marks=pytest.mark.slow),
]
"""Words that have something on stdout, by every way of writing there."""


@contextlib.contextmanager
def _stdout_that_takes_nothing(monkeypatch: pytest.MonkeyPatch, kind: str) -> Iterator[None]:
    """Put a closed, a full or a broken stdout in place of that of the tests."""
    if kind == "broken":
        reading, number = os.pipe()
        os.close(reading)
    else:
        number = os.open(FULL if kind == "full" else os.devnull, os.O_WRONLY if kind == "full" else os.O_RDONLY)
    with monkeypatch.context() as patch:
        stream = os.fdopen(number, "w", encoding="utf-8")
        patch.setattr(sys, "stdout", stream)
        yield
        with contextlib.suppress(OSError):
            stream.close()


def _refused(ran: Ran, why: str) -> bool:
    errors = [line for line in ran.notes if line.startswith("error: ")]
    return ran.code == 4 and len(errors) == 1 and why in errors[0]


@pytest.mark.parametrize("words", ANSWERS)
@pytest.mark.parametrize(("kind", "why"), [("closed", "closed"), ("full", "No space left"), ("broken", "")])
def test_an_answer_that_nobody_takes_is_one_line_and_for_a_reader_who_has_gone_away_no_error(
    words: tuple[str, ...], kind: str, why: str, scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "full" and not FULL.exists():
        pytest.skip("no device here that is full")
    with _stdout_that_takes_nothing(monkeypatch, kind):
        ran = scorehouse(*words)
    if kind == "broken":
        assert (ran.code, "error: " in ran.err) == (0 if words else 2, False)
    else:
        assert _refused(ran, why), ran


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
