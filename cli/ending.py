"""How the program ends: an exit code, and one line for an error that a user can mend."""

import errno
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cli.exit_codes import ExitCode, OutputError, UsageError
from cli.hints import is_for, options_of
from cli.limited import address_space, out_of_memory
from cli.render import note
from cli.render.output import forget_stdout, stdout_problem, write
from cli.words import joined_parameters
from warehouse.errors import DISK_FULL

_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no quotas
_NO_MEMORY = ("Cannot allocate memory", "cannot allocate memory", "failed to map segment", "can't start new thread")
_LONGEST = 2000  # characters of an error
_GOING_ON = ("load", "download")  # commands that write one piece after another


def run_program(program: Callable[..., Any], words: list[str]) -> int:
    """Run the command line on its arguments; errors that are no fault of the program become a line and a code."""
    try:
        return _run(program, words)
    except OutputError as error:
        _tell(f"error: {error}")
        return ExitCode.DATABASE
    except Exception as error:
        if not _is_out_of_memory(error):
            raise
        note(f"error: {out_of_memory(address_space())}")
        return ExitCode.DATABASE
    finally:
        _tidy()


def _tell(line: str) -> None:
    """One line of an error; what servers, files and users make too long ends in …"""
    note(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…")


def _tidy() -> None:
    """Remove what killed runs left in the temporary folder, unless this one was too short to import anything."""
    if "warehouse.database.connection" in sys.modules:
        from warehouse.temporary import remove_left_folders

        remove_left_folders()


def _run(program: Callable[..., Any], words: list[str]) -> int:
    """Raises OutputError: stdout takes no answer."""
    try:
        words = joined_parameters(words) if "sql" in words else words
        code = int(program(args=words, prog_name="scorehouse", standalone_mode=False) or ExitCode.DONE)
        if code == ExitCode.INTERRUPTED:  # the command line's library turns Ctrl-C into this code
            note(_interrupted_line(words))
        return code
    except KeyboardInterrupt:
        note(_interrupted_line(words))
        return ExitCode.INTERRUPTED
    except RuntimeError as error:
        if "interrupted" not in str(error):  # DuckDB's word for Ctrl-C while it computes
            raise
        note(_interrupted_line(words))
        return ExitCode.INTERRUPTED
    except UsageError as error:
        _tell(f"error: {error}")
        return ExitCode.USAGE
    except OutputError:
        raise
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return ExitCode.DONE  # help for a reader who has gone away
    except OSError as error:
        code, line = _of_system(error)
        _tell(f"error: {line}")
        return code
    except Exception as error:
        if _is_interruption(error):
            note(_interrupted_line(words))
            return ExitCode.INTERRUPTED
        known = _known(error, words, _command(program, words))
        if known is None:
            raise
        code, message = known
        if message:
            _tell(message)
        return code


def _of_system(error: OSError) -> tuple[ExitCode, str]:
    """Exit code and line for what the operating system refuses: a path, or room on disk."""
    if error.errno == errno.EBADF and error.filename is None:  # the command line's library writes help by itself
        forget_stdout()
        return ExitCode.DATABASE, stdout_problem(error)
    where = "" if error.filename is None else f"{error.filename}: "
    text = f"{where}{error.strerror}" if error.strerror else str(error)
    if error.errno == errno.ENOMEM:
        return ExitCode.DATABASE, out_of_memory(address_space())
    if error.errno in _FULL:
        forget_stdout()
        return ExitCode.DATABASE, f"{DISK_FULL}: {text}"
    return ExitCode.USAGE, text


def _is_interruption(error: BaseException | None) -> bool:
    """Whether an error is the command line library's for Ctrl-C, or came while Ctrl-C was being dealt with."""
    if type(error).__name__ == "Abort":
        return True
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or one behind it, is that of Python, DuckDB or the system for memory that is not there."""
    while error is not None:
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
            return True
        if any(words in str(error) for words in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def _interrupted_line(words: list[str]) -> str:
    """What Ctrl-C leaves behind."""
    if any(command in words for command in _GOING_ON):
        if not _database(words).exists():
            return "interrupted; nothing was loaded; the same command goes on from there"
        return "interrupted; finished evaluation sets stay, nothing half-done; the same command goes on from there"
    if "export" in words:
        return "interrupted; a folder that was begun is marked as unfinished; the same command writes it again"
    if "protocol" in words and "--significance" in words:
        return "interrupted; tests of finished tasks that are stored stay; the same command goes on from there"
    return "interrupted; nothing half-done was kept"


def _database(words: list[str]) -> Path:
    """The warehouse that the words name, else the environment, else the default one."""
    from warehouse import default_path

    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "--db" or word.startswith("--db="):
            return Path(following if word == "--db" else word.removeprefix("--db="))
    named = os.environ.get("SCOREHOUSE_DB")
    return Path(named) if named else default_path()


def _command(program: Callable[..., Any], words: list[str]) -> Any:
    """The command that the words name; None where they name none."""
    commands: Mapping[str, Any] = getattr(program, "commands", {})
    return next((commands[word] for word in words if word in commands), None)


def _known(error: Exception, words: list[str], asked: Any) -> tuple[int, str] | None:
    """Exit code and line for an error that is no fault of the program; None for any other.

    asked: the command, if one is named; a hint that names options of others is not shown.
    """
    wording = getattr(error, "format_message", None)
    if wording is not None and hasattr(error, "exit_code"):  # the command line's own: usage, and help without arguments
        text = str(wording()).strip()
        if text.startswith("Usage:"):
            write(f"{text}\n", None)
            return ExitCode.USAGE, ""
        named = "scorehouse" if asked is None else f"scorehouse {asked.name}"
        command = getattr(getattr(error, "ctx", None), "command_path", named)
        text += _repeated(error, words)
        return ExitCode.USAGE, f"error: {' '.join(text.split())} (see `{command} --help`)"
    from warehouse import LimitError, QuestionError, SchemaError, SourceError

    options = frozenset() if asked is None else options_of(asked)
    for kind, code in (
        (QuestionError, ExitCode.USAGE),
        (SourceError, ExitCode.DATA),
        (SchemaError, ExitCode.DATABASE),
        (LimitError, ExitCode.DATABASE),
    ):
        if isinstance(error, kind):
            return code, f"error: {error.with_hints(lambda hint: is_for(options, hint))}"
    return None


def _repeated(error: Exception, words: list[str]) -> str:
    """The way out where several names follow a flag that takes one: the flag is repeated; "" for any other error."""
    context = getattr(error, "ctx", None)
    if context is None or "unexpected extra argument" not in str(error):
        return ""
    flags = {flag for option in context.command.params if getattr(option, "multiple", False) for flag in option.opts}
    for place, (flag, second) in enumerate(zip(words, words[2:], strict=False)):
        if flag in flags and not second.startswith("-"):
            return f"; repeat {flag}: {flag} {words[place + 1]} {flag} {second}"
    return ""
