"""Where the program starts. Everything else is imported here, so that Ctrl-C is heard from the first moment on."""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

from cli.exit_codes import ExitCode
from cli.limited import ended_under_limit

_DELICATE = ("duckdb", "polars")  # an exception in the midst of their imports ends in a crash
_TIDYING = 1.0  # seconds


def run() -> None:
    """Run the program on the words of the command line, and end the process with its exit code."""
    try:
        _stand_in_for_closed_streams()
        ended = ended_under_limit()
        if ended is not None:
            sys.exit(ended)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where the shell has it ignored
            finder = _DelicateFinder()
            signal.signal(signal.SIGINT, finder.interrupt)
            sys.meta_path.insert(0, finder)
        if _asks_own_sql(sys.argv[1:]):
            from queries.adhoc import start_ahead

            start_ahead()
        from cli.main import exit_code

        code = exit_code()
        _hear_no_more()
        if code == ExitCode.INTERRUPTED:
            _end_in_haste()
    except KeyboardInterrupt:
        _hear_no_more()
        sys.stderr.write("interrupted\n")
        code = ExitCode.INTERRUPTED
    sys.exit(code)


def _stand_in_for_closed_streams() -> None:
    """Where the shell closed stdin, stdout or stderr, put something there that no file of ours takes the place of.

    Writing to the stand-in for stdout fails, as there is nobody to read it; what goes to the one for stderr is lost.
    """
    for number, way in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, way)  # takes the lowest number that is free
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _asks_own_sql(words: Sequence[str]) -> bool:
    """Whether the command line seems to bring a query, which a process of its own answers."""
    return "sql" in words and not {"--help", "-h", "--schema"}.intersection(words)


class _DelicateFinder:
    """Where a delicate module is imported from; a Ctrl-C in the midst of its import is heard at the import's end.

    Polars takes Ctrl-C for itself when it is imported, and may keep it for good: afterwards it is ours again.
    """

    def __init__(self) -> None:
        self.expected = set(_DELICATE)
        self.importing: set[str] = set()
        self.interrupted = False
        self.heard = -math.inf

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a delicate module is imported from; None for anything else."""
        if name not in self.expected:
            return None
        self.expected.remove(name)
        from importlib.util import find_spec  # here, as most commands need it not

        spec = find_spec(name)
        loader = None if spec is None else spec.loader
        if loader is not None:
            imported = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                self.importing.add(name)
                try:
                    imported(module)
                finally:
                    if threading.current_thread() is threading.main_thread():
                        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
                    self.importing.remove(name)
                if self.interrupted and not self.importing:
                    os.kill(os.getpid(), signal.SIGINT)

            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt; where a delicate module is just being imported, as soon as it is there.

        Another Ctrl-C right after it is not heard: it would stop what tidies up, and leave temporary files behind.
        """
        if self.importing:
            self.interrupted = True
        elif time.monotonic() - self.heard > _TIDYING:
            self.heard = time.monotonic()
            signal.default_int_handler(number, frame)


def _hear_no_more() -> None:
    """Let a Ctrl-C that comes when all is done change nothing: Python would show where in its own ending it came."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end_in_haste() -> None:
    """End at once where a second Ctrl-C left a thread behind: Python would take DuckDB away below it, and crash."""
    if len(sys._current_frames()) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ExitCode.INTERRUPTED)
