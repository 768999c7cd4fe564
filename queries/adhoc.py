"""A user's own SQL: read-only, without files or network, in a separate process with limits."""

import atexit
import io
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from queries.limits import LONGEST, MARGIN, MORE_MEMORY, Request, memory_in_use, room, size
from warehouse.errors import QuestionError, check_parameters, is_of_memory
from warehouse.wording import option

if TYPE_CHECKING:
    import polars as pl

_POLL_INTERVAL = 0.01  # seconds between looks at the process
_START = 60.0  # seconds for the process to start and open the warehouse
_CHUNK = 1024**2
# What libraries print to stdout must not stand between the rows.
_PROGRAM = """
import os, sys
sys.path.append(sys.argv[1])
answer = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
from queries.adhoc_process import main
main(answer, sys.stdin.buffer)
"""
_ROOT = str(Path(__file__).resolve().parents[1])
_FULL = 0.8  # share of the room on disk at which a query is stopped: it goes on writing until it hears of it
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "POLARS_MAX_THREADS": "1"}
_AHEAD: "list[tuple[subprocess.Popen[bytes], IO[bytes]]]" = []
_TOO_LARGE = (
    f"the query ran out of memory and was stopped; LIMIT makes its answer smaller, {MORE_MEMORY}, "
    "and -o FILE.parquet (or csv, tsv, json, jsonl) writes the rows as they come"
)
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"-?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?")


def parameter(text: str) -> int | float | str:
    """A parameter's value as typed on a command line: a number if it looks like one, else text.

    >>> parameter("2023"), parameter("0.5"), parameter("007"), parameter("en-de")
    (2023, 0.5, '007', 'en-de')
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and not re.match(r"-?0\d", text):
        return float(text)
    return text


def answer(
    path: Path,
    query: str,
    parameters: Mapping[str, object] | None = None,
    *,
    timeout: float = 60.0,
    memory: str = "4GB",
    spill: str = "2GB",
) -> "pl.DataFrame":
    """Answer of one SELECT (or EXPLAIN, DESCRIBE, SHOW, SUMMARIZE) over the warehouse at `path`.

    parameters: values of `$name` in the text. timeout: seconds, counted from the opening of the warehouse. memory,
    spill: limits for memory and disk, such as 500MB.
    Raises QuestionError: not exactly one such statement, DuckDB refuses it, or an invalid time limit.
    LimitError: time, memory or disk ran out.
    SchemaError: the database cannot be read.
    """
    found, _ = answer_in_file(None, None, path, query, parameters, timeout=timeout, memory=memory, spill=spill)
    assert not isinstance(found, int)
    return found


def answer_in_file(
    file: tuple[Path, str] | None,
    max_rows: int | None,
    path: Path,
    query: str,
    parameters: Mapping[str, object] | None = None,
    *,
    timeout: float = 60.0,
    memory: str = "4GB",
    spill: str = "2GB",
) -> "tuple[pl.DataFrame | int, bool]":
    """Number of rows written to the file, at most max_rows + 1, and whether there are more; see `answer`.

    file: an unused path, and one of `adhoc_process.KINDS`. Without a file, or if DuckDB cannot write the rows in the
    program's format, they are returned as a frame.
    """
    if not 0 < timeout <= LONGEST:
        raise QuestionError(f"timeout {timeout:g}: expected above 0 and at most {LONGEST:,} seconds")
    check_parameters(parameters or {})
    try:
        "".join([query, *map(str, (parameters or {}).values())]).encode()
    except UnicodeEncodeError:
        raise QuestionError("the query or a parameter of it is not UTF-8 text") from None
    from warehouse.temporary import temporary_folder  # here, since it imports DuckDB: the process starts before

    with temporary_folder() as folder:
        limits = size(memory, "memory"), size(spill, "spill")
        asked = Request(path, query, dict(parameters or {}), timeout, *limits, max_rows, str(folder), os.getpid(), file)
        reply, rows = _reply(asked)
    if "error" in reply:
        import warehouse

        raise getattr(warehouse, str(reply["error"]))(str(reply["message"]))
    if "n_rows" in reply:
        return int(str(reply["n_rows"])), bool(reply["is_cut"])
    import polars as pl

    return pl.read_ipc_stream(io.BytesIO(rows)), bool(reply["is_cut"])


def _reply(asked: Request) -> tuple[dict[str, object], bytes]:
    """The final message of a query's process, and the rows as an Arrow stream.

    Raises LimitError: the process reached one of its limits.
    """
    running, complaints = _AHEAD.pop() if _AHEAD else _started()
    with complaints, running as process:
        assert process.stdin is not None
        assert process.stdout is not None
        reading = _Reading(process.stdout, asked.memory // 2)
        try:
            with suppress(BrokenPipeError), process.stdin as stdin:  # it ended before it asked: see below
                stdin.write(pickle.dumps(asked))
            reading.start()
            import polars  # noqa: F401 (meanwhile)

            _watch(process, reading, asked)
        finally:
            process.kill()
            process.wait()
            if reading.is_alive():
                reading.join()
        reply, _, rows = bytes(reading.received).removeprefix(b"\n").partition(b"\n")
        if reply:
            return json.loads(reply), rows
        complaints.seek(0)
        raise _unexpected(process.returncode, complaints.read(_CHUNK).decode("utf-8", "replace"))


def start_ahead() -> None:
    """Start the process before the query is read, so that both processes import their libraries at the same time."""
    if not _AHEAD:
        _AHEAD.append(_started())
        atexit.register(_end_ahead)


def _end_ahead() -> None:
    """End a process that got no query."""
    while _AHEAD:
        process, complaints = _AHEAD.pop()
        process.kill()
        with complaints, process:
            pass


def _started() -> tuple["subprocess.Popen[bytes]", IO[bytes]]:
    """A process that waits for its query, and the file with its stderr."""
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, _ROOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env={**os.environ, **_ENVIRONMENT},
            start_new_session=True,
        )
    except BaseException:
        complaints.close()
        raise
    return process, complaints


class _Reading(threading.Thread):
    """Reads the output of a process, up to a number of bytes."""

    def __init__(self, pipe: IO[bytes], most: int) -> None:
        super().__init__(daemon=True)
        self.received = bytearray()
        self.is_over = False
        self._pipe, self._most = pipe, most

    def run(self) -> None:
        while chunk := os.read(self._pipe.fileno(), _CHUNK):
            self.received += chunk
            if len(self.received) > self._most:
                self.is_over = True
                return


def _watch(process: "subprocess.Popen[bytes]", reading: _Reading, asked: Request) -> None:
    """Wait for the end of a process's answer.

    Raises LimitError: it exceeds its time, memory or disk limit.
    """
    deadline, has_begun = time.monotonic() + _START, False
    over = None
    while reading.is_alive() and over is None:
        reading.join(_POLL_INTERVAL)
        if not has_begun and reading.received:
            deadline, has_begun = time.monotonic() + asked.timeout, True
        if time.monotonic() >= deadline and reading.is_alive():
            over = f"the query ran for more than {asked.timeout:g} s and was stopped; {option('timeout')} allows more"
        elif memory_in_use(process.pid) > asked.memory + MARGIN or reading.is_over:
            over = _TOO_LARGE
        elif room(asked.folder) > _FULL * asked.spill:
            over = f"the query ran out of room on disk and was stopped; {option('spill')} raises the limit"
    if over is not None or reading.is_over:
        from warehouse import LimitError

        raise LimitError(over or _TOO_LARGE)


def _unexpected(code: int, complaints: str) -> Exception:
    """The error for a process that ended without a message: at a limit of the operating system, or by a bug."""
    from warehouse import LimitError

    if code < 0:
        what = f"the query ran out of memory or time: its process ended with signal {-code}"
        return LimitError(f"{what}; {MORE_MEMORY}, {option('timeout')} the time limit")
    if is_of_memory(complaints):
        return LimitError(f"the query ran out of memory; {MORE_MEMORY}")
    return RuntimeError(f"the process of the query ended with {code}: {complaints}")
