"""Exit codes of the process."""

from enum import IntEnum
from importlib.util import find_spec


class ExitCode(IntEnum):
    """DONE; NO: the answer is no; USAGE: a wrong question; DATA: bad score files; DATABASE: a fault of the file itself.

    INTERRUPTED: Ctrl-C.
    """

    DONE = 0
    NO = 1
    USAGE = 2
    DATA = 3
    DATABASE = 4
    INTERRUPTED = 130


class OutputError(Exception):
    """The answer cannot be written to standard output: it is closed, or its disk is full. Ends with DATABASE."""


class UsageError(Exception):
    """The command can't be run as it is worded; one line says why and what to do. Ends with USAGE."""


def check_extra(what: str, extra: str, *modules: str) -> None:
    """Raises UsageError: a module of the extra is not installed. what: the feature that needs it, with its verb."""
    if any(find_spec(module) is None for module in modules):
        raise UsageError(f'{what} the {extra} extra: python3 -m pip install "scorehouse[{extra}]"')
