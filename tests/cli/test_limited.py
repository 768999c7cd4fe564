"""Memory that runs out: one line and exit code 4, whichever library notices first."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.ending import run_program
from cli.limited import _relayed, _reported

LIMIT = 100_000_000
LINE = "error: out of memory; `ulimit -v` allows 100 MB of address space, more may do\n"
TRACE = ["Traceback (most recent call last):\n", "MemoryError\n"]
ON_UNIX = pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")


def _caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        _caused(ValueError("no such thing"), MemoryError()),
        RuntimeError("can't start new thread"),
        ImportError("_duckdb.so: failed to map segment from shared object"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        type("OutOfMemoryException", (Exception,), {})("Failed to allocate block"),
    ],
    ids=str,
)
def test_memory_that_a_command_cannot_have_is_one_line(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def program(**_: object) -> int:
        raise error

    assert run_program(program, ["list", "testsets"]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: out of memory")


def test_another_error_is_still_a_fault_of_the_program() -> None:
    def program(**_: object) -> int:
        raise RuntimeError("of another kind")

    with pytest.raises(RuntimeError, match="of another kind"):
        run_program(program, ["list", "testsets"])


@ON_UNIX
@pytest.mark.parametrize(
    ("code", "held", "expected", "said"),
    [
        (0, [], 0, ""),
        (1, [], 1, ""),
        (3, [], 3, ""),
        (0, ["<jemalloc>: background thread creation failed (11)\n", "done\n"], 0, "done\n"),
        (-11, [], 4, LINE),
        (-6, ["memory allocation of 9 bytes failed\n"], 4, LINE),
        (1, TRACE, 4, LINE),
        (2, TRACE, 4, LINE),
        (127, ["cannot allocate memory for thread-local data: ABORT\n"], 4, LINE),
        (4, [*TRACE, "error: all.duckdb: out of memory\n"], 4, "error: all.duckdb: out of memory\n"),
    ],
)
def test_however_the_program_ends_at_most_one_line_is_said(
    code: int, held: list[str], expected: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _reported(code, held, LIMIT) == expected
    assert capsys.readouterr().err == said


@ON_UNIX
def test_lines_are_passed_on_up_to_what_a_library_says_of_its_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, "".join(["a note\n", *TRACE, "another\n"]).encode())
    os.close(writing)
    passed: list[str] = []
    try:
        assert _relayed(reading, passed.append, os.getpid()) == [*TRACE, "another\n"]
    finally:
        signal.alarm(0)
    assert passed == ["a note\n"]


@ON_UNIX
def test_a_library_that_does_not_stop_complaining_is_stopped() -> None:
    program = "while True: print('<jemalloc>: background thread creation failed', flush=True)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            held = _relayed(os.dup(process.stdout.fileno()), lambda line: None, process.pid)
        finally:
            signal.alarm(0)
        assert process.wait() == -signal.SIGABRT
    assert len(held) == 200


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep no such limit")
@pytest.mark.parametrize(
    ("megabytes", "words", "code"),
    [
        (60, ("list", "testsets"), 4),
        (8000, ("list", "testsets"), 0),
        (8000, ("list", "nothing"), 2),
    ],
)
def test_a_limit_of_the_shell_is_kept_in_words(
    megabytes: int, words: tuple[str, ...], code: int, simulated_database: Path
) -> None:
    start = f'ulimit -v {megabytes * 1024}; exec "$@"'
    program = [sys.executable, "-c", "from cli.start import run; run()", *words, "--db", str(simulated_database)]
    ran = subprocess.run(
        ["bash", "-c", start, "bash", *program],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code
    assert len(ran.stderr.splitlines()) == (code != 0)
    assert ran.stderr.startswith("error: " if code else "")
    assert ("sim24" in ran.stdout) == (code == 0)
