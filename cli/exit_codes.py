"""What the process tells the shell when it ends."""

from enum import IntEnum


class ExitCode(IntEnum):
    """DONE; NO: the answer is no; USAGE: a wrong question; DATA: bad score files; DATABASE: the file itself.

    INTERRUPTED: Ctrl-C.
    """

    DONE = 0
    NO = 1
    USAGE = 2
    DATA = 3
    DATABASE = 4
    INTERRUPTED = 130


class OutputError(Exception):
    """Standard output takes no answer: it is closed, or its disk is full. Ends with DATABASE."""


class UsageError(Exception):
    """The command can't be run as it is worded; one line says why and what would do. Ends with USAGE."""
