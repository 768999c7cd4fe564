"""Runs under a limit of the address space (`ulimit -v`), where libraries that get no memory end in many ways.

Polars aborts, OpenBLAS exits, threads crash, and modules are left half imported, each with lines of its own. So the
program runs in a process of its own then; whichever way that one ends, a single line says so.
"""

import os
import re
import signal
import sys
from collections.abc import Callable
from types import FrameType

from cli.exit_codes import ExitCode

_OF_LIBRARIES = re.compile(
    r"Traceback \(most recent|Exception (ignored )?in |panicked at|memory allocation of|bad_alloc|terminate called|"
    r"jemalloc|openblas|blas_thread|cannot allocate memory|Fatal Python error|couldn't allocate|\w+Warning: ",
    re.IGNORECASE,
)
_FROM_OUTSIDE = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGKILL", "SIGPIPE") if hasattr(signal, name)
)
_HELD = 200  # lines
_PATIENCE = 10  # seconds from a library's first line to the end of the process, which may wait for a thread for ever


def address_space() -> int | None:
    """Bytes of address space that the process may have; None where that is unlimited or not known."""
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, AttributeError, OSError):
        return None
    return None if soft == resource.RLIM_INFINITY else soft


def ended_under_limit() -> int | None:
    """The exit code of the program in a process of its own; None in that process, and where there is no limit."""
    limit = address_space()
    if limit is None or not hasattr(os, "fork"):
        return None
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.dup2(writing, 2)
        os.close(writing)
        return None
    os.close(writing)

    def pass_on(number: int, frame: FrameType | None) -> None:
        os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, pass_on)
    signal.signal(signal.SIGALRM, lambda number, frame: os.kill(child, signal.SIGABRT))
    held = _relayed(reading, sys.stderr.write, child)
    return _reported(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), held, limit)


def _relayed(pipe: int, write: Callable[[str], object], child: int) -> list[str]:
    """Pass on what a process writes, line by line, up to what a library says of its end; the lines from there on.

    A process that then neither ends soon nor is silent is ended.
    """
    held: list[str] = []
    with open(pipe, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not held and not _OF_LIBRARIES.search(line):
                write(line)
                continue
            if not held:
                signal.alarm(_PATIENCE)
            held.append(line)
            if len(held) >= _HELD:
                os.kill(child, signal.SIGABRT)
                break
    return held


def _reported(code: int, held: list[str], limit: int) -> int:
    """The exit code, after the line that says what is to be said."""
    signal.alarm(0)
    if -code in _FROM_OUTSIDE:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    own = [line for line in held if line.startswith("error: ")]
    if code in (ExitCode.DONE, ExitCode.INTERRUPTED):
        sys.stderr.writelines(line for line in held if not _OF_LIBRARIES.search(line))
        return code
    if code in {int(one) for one in ExitCode} and (not held or own):
        sys.stderr.writelines(own[-1:])
        return code
    sys.stderr.write(f"error: {out_of_memory(limit)}\n")
    return ExitCode.DATABASE


def out_of_memory(limit: int | None = None) -> str:
    """What there is to say."""
    allowed = "" if limit is None else f"; `ulimit -v` allows {limit / 1e6:,.0f} MB of address space, more may do"
    return f"out of memory{allowed}"
