"""Where the program starts: other packages that have the names of ours are found before they are imported.

Everything else is imported here too, so that Ctrl-C ends in one line from the start on.
"""

import os
import sys
from collections.abc import Sequence

from scorehouse.neighbours import shadowed_package


def run() -> None:
    """Run the program on the words of the command line, and end the process with its exit code; or say in one line
    which other package stands in its way."""
    try:
        if (why := shadowed_package()) is not None:
            sys.stderr.write(f"error: {why}\n")
            sys.exit(4)
        _stand_in_for_closed_streams()
        if _asks_own_sql(sys.argv[1:]):
            from queries.adhoc import start_ahead

            start_ahead()
        from cli.main import exit_code

        code = exit_code()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        code = 130
    except (ImportError, MemoryError, RuntimeError) as error:  # libraries that find no room
        from warehouse.errors import OUT_OF_MEMORY, is_of_memory

        if not is_of_memory(error):
            raise
        sys.stderr.write(f"error: {OUT_OF_MEMORY}\n")
        code = 4
    sys.exit(code)


def _stand_in_for_closed_streams() -> None:
    """Where the shell closed stdin, stdout or stderr, put something there that no file of ours takes the place of.

    Writing to the stand-in for stdout fails, because no one reads it; what goes to the one for stderr is lost.
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
