"""Start of the program, which detects packages that shadow ours before importing them.

Everything else is imported here, too, so that Ctrl-C gives one line from the start.
"""

import gc
import os
import sys
from collections.abc import Sequence

from scorehouse.neighbours import shadowed_package


def run() -> None:
    """Run the program on the command line's words and exit with its code.

    If another package shadows one of ours, print one line that names it.
    """
    gc.set_threshold(_COLLECTED)
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", _WAITING)
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
    gc.freeze()  # at its end the interpreter looks several times for cycles in all that is left, modules above all
    sys.exit(code)


_WAITING = "20"  # 2 ** 20 cycles in which idle threads of OpenBLAS wait for work; its own 2 ** 26 take 0.1 s of CPU
_COLLECTED = 200_000  # new objects before cycles are looked for: imports and a ranking make 100,000, without a cycle


def _stand_in_for_closed_streams() -> None:
    """If the shell closed stdin, stdout or stderr, put a stand-in there, so that no file of ours takes its descriptor.

    Writing to the stand-in for stdout fails, because no one reads it; output to the one for stderr is lost.
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
    """Whether the command line seems to contain a query, which a separate process answers."""
    return "sql" in words and not {"--help", "-h", "--schema"}.intersection(words)
