"""Processes of queries, begun in a hundredth of a second: copies of one that has imported all that they need.

What such a process does, and its limits, are the product's own; only its start is another: it has imported Polars and
DuckDB, which takes a third of a second in each of hundreds of processes.
"""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from unittest import mock

PIPE = subprocess.PIPE
"""This module stands in the place of `subprocess` in `queries.adhoc`."""


def end() -> None:
    """End the process that is copied, so that its time counts."""
    forkserver._forkserver._stop()  # type: ignore[attr-defined]


def _answer(request: Connection, answer: Connection, stderr: Connection, parent: int, folder: str) -> None:
    """What a copy does: it becomes as a new process is, and answers as the product's does."""
    from queries.adhoc_process import main

    os.setsid()
    os.chdir(folder)
    os.getppid = lambda: parent
    os.dup2(request.fileno(), 0)
    os.dup2(stderr.fileno(), 1)
    os.dup2(stderr.fileno(), 2)
    with os.fdopen(answer.fileno(), "wb", closefd=False) as rows, os.fdopen(0, "rb", closefd=False) as words:
        main(rows, words)


class Popen:
    """As much of `subprocess.Popen` as `queries.adhoc` uses."""

    def __init__(self, command: Sequence[str], *, stderr: IO[bytes], env: Mapping[str, str], **options: Any) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["__main__", "polars", "queries.adhoc_process", "tests.forking"])
        read, write = os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(read[1], "wb"), os.fdopen(write[0], "rb")
        with (
            Connection(read[0]) as request,
            Connection(write[1]) as answer,
            Connection(os.dup(stderr.fileno())) as said,
        ):
            asked = (request, answer, said, os.getpid(), str(Path.cwd()))
            self._process = context.Process(target=_answer, args=asked, daemon=True)
            with mock.patch.object(sys, "stderr", sys.__stderr__):  # it holds it open, and a test may have its own
                resource_tracker.ensure_running()
            with mock.patch.dict(os.environ, env):
                self._process.start()
        self.pid, self.kill = self._process.pid, self._process.kill

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stdout.close()
        self.wait()
