"""Processes of queries, begun in a hundredth of a second: copies of one that has imported all that they need.

What such a process does, and its limits, are the product's own; only its start is another: it has imported Polars and
DuckDB, which takes a third of a second in each of hundreds of processes.
"""

import array
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import queries.adhoc

_ROOT = str(Path(__file__).resolve().parents[1])
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from tests.forking import serve; serve()"
_AT_MOST = 2**16  # bytes of a message


class Nursery:
    """A process that has the modules of a query's process imported, and begins copies of itself, one by one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ours: socket.socket | None = None

    def begin(self, stdin: int, stdout: int, stderr: int) -> int:
        """Begin a copy with these files; its process number."""
        if self._process is None:
            self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _PROGRAM, _ROOT],
                    stdin=theirs,
                    stdout=subprocess.DEVNULL,
                    env={**os.environ, **queries.adhoc._ENVIRONMENT},
                )
        assert self._ours is not None
        words = json.dumps([os.getpid(), str(Path.cwd())]).encode()
        files = array.array("i", [stdin, stdout, stderr])
        self._ours.sendmsg([words], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        return int(json.loads(self._ours.recv(_AT_MOST)))

    def ended(self) -> int:
        """Wait for the copy to end: its exit code, negative where a signal ended it."""
        assert self._ours is not None
        code = int(json.loads(self._ours.recv(_AT_MOST)))
        self._ours.send(b"heard")
        return code

    def close(self) -> None:
        if self._process is not None and self._ours is not None:
            self._ours.close()
            self._process.wait()


def serve() -> None:
    """What the process does that is copied: it begins one copy for each message, until there are none."""
    import polars  # noqa: F401 (what copies need)

    import queries.adhoc_process  # noqa: F401

    with socket.socket(fileno=os.dup(0)) as asked:
        while True:
            words, files, _, _ = socket.recv_fds(asked, _AT_MOST, 3)
            if not words:
                return
            parent, folder = json.loads(words)
            child = os.fork()
            if child == 0:
                asked.close()
                _answer(files, parent, folder)
            for file in files:
                os.close(file)
            asked.send(json.dumps(child).encode())
            ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            assert ended is not None
            code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            asked.send(json.dumps(code).encode())
            asked.recv(_AT_MOST)  # until then nobody else has its number
            os.waitpid(child, 0)


def _answer(files: Sequence[int], parent: int, folder: str) -> None:
    """What a copy does: it becomes as a new process is, answers as the product's does, and ends."""
    from queries.adhoc_process import main

    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        os.getppid = lambda: parent
        stdin, stdout, stderr = files
        os.dup2(stdin, 0)
        os.dup2(stderr, 1)
        os.dup2(stderr, 2)
        with os.fdopen(stdout, "wb") as answer, os.fdopen(stdin, "rb") as request:
            main(answer, request)
        code = 0
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


class _Copy:
    """As much of `subprocess.Popen` as `queries.adhoc` uses."""

    def __init__(self, nursery: Nursery, stderr: IO[bytes]) -> None:
        self._nursery = nursery
        read, write = os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(read[1], "wb"), os.fdopen(write[0], "rb")
        self.returncode: int | None = None
        try:
            self.pid = nursery.begin(read[0], write[1], stderr.fileno())
        finally:
            os.close(read[0])
            os.close(write[1])

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = self._nursery.ended()
        return self.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stdout.close()
        self.wait()


class Subprocess:
    """In place of the module `subprocess` in `queries.adhoc`."""

    PIPE = subprocess.PIPE

    def __init__(self, nursery: Nursery) -> None:
        self._nursery = nursery

    def Popen(self, command: Sequence[str], *, stderr: IO[bytes], env: Mapping[str, str], **options: Any) -> _Copy:  # noqa: N802
        return _Copy(self._nursery, stderr)
