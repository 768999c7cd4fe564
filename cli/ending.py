"""A run of the program: its arguments, its exit code, and one line for an error that a user can correct."""

import errno
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from shlex import quote
from typing import Any

from cli.exit_codes import ExitCode, OutputError, UsageError
from cli.hints import fault_lines, is_for, options_of
from cli.render import note
from cli.render.output import forget_stdout, stdout_problem, write
from metaeval.questions import RENAMED
from warehouse.errors import DISK_FULL, NEAR, OUT_OF_MEMORY, is_of_memory

REPLACED_FLAGS = {
    "--primary": "--status primary",
    "--all-metrics": "--status all",
    "--reference-based": "--kind reference-based",
    "--reference-free": "--kind reference-free",
}
_NEAR = 0.6  # of the letters of an option
_EXAMPLE = re.compile(r"Example: (scorehouse (?!.*--help).+)")


def unknown_option(name: str, command: Any, place: str, named: Any = None) -> str:
    """The line for an option that a command does not have, with those of its options that are spelt nearly alike.

    place: the command's name. named: the command that follows, if the option stands before it.
    """
    known = [one for param in command.params if not param.hidden for one in (*param.opts, *param.secondary_opts)]
    by_word = {one.removeprefix("--"): one for one in known if one.startswith("--")}
    word = name.removeprefix("--")
    parts = [one for one in by_word if len(word) > 2 and word in one]
    near = [*dict.fromkeys((*parts, *get_close_matches(word, by_word, cutoff=_NEAR)))][:3]
    now = REPLACED_FLAGS.get(name, "")
    if named is not None and name in options_of(named):
        hint = f"; write it behind {named.name}"
    elif now and now.split()[0] in known:
        hint = f"; use {now}"
    else:
        hint = f"; {NEAR} {' or '.join(by_word[one] for one in near)}?" if near else ""
    return f"{place} has no option {name}{hint}"


def joined_parameters(arguments: list[str]) -> list[str]:
    """Arguments in which `-p NAME VALUE` has become `-p NAME=VALUE`: an option can't be both repeated and in two words.

    >>> joined_parameters(["sql", "SELECT $a", "-p", "a", "-1", "-p", "b=2"])
    ['sql', 'SELECT $a', '-p', 'a=-1', '-p', 'b=2']
    """
    joined: list[str] = []
    words = iter(arguments)
    for word in words:
        joined.append(word)
        if word in ("-p", "--parameter"):
            name = next(words, None)
            if name is not None and name.isidentifier():
                value = next(words, None)
                if value is None:
                    raise UsageError(f"-p {name}: expected a value behind the name")
                name = f"{name}={value}"
            if name is not None and not name.partition("=")[0].isidentifier():
                raise UsageError(f"-p {name or repr(name)}: expected NAME VALUE")
            joined += [] if name is None else [name]
    return joined


_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no quotas
_LONGEST = 2000  # characters of an error
_INTERRUPTED = "interrupted; completed work was kept, unfinished work was discarded"


def run_program(program: Callable[..., Any], words: list[str]) -> int:
    """Run the command line on its arguments; errors that are not the program's fault become a line and an exit code."""
    try:
        return _run(program, words)
    except OutputError as error:
        _tell(f"error: {error}")
        return ExitCode.DATABASE
    except BaseException as error:  # panics of libraries are no exceptions of the usual kind
        if isinstance(error, SystemExit | KeyboardInterrupt) or not is_of_memory(error):
            raise
        note(f"error: {OUT_OF_MEMORY}")
        return ExitCode.DATABASE


def _tell(line: str) -> None:
    """Print one line of an error; overlong text from servers, files and users ends in …"""
    note(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…")


def _run(program: Callable[..., Any], words: list[str]) -> int:
    """Raises OutputError: the answer cannot be written to stdout."""
    try:
        words = joined_parameters(words) if "sql" in words else words
        code = int(program(args=words, prog_name="scorehouse", standalone_mode=False) or ExitCode.DONE)
        if code == ExitCode.INTERRUPTED:  # the command line's library turns Ctrl-C into this code
            note(_INTERRUPTED)
        return code
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
    except (Exception, KeyboardInterrupt) as error:
        if _is_interruption(error):
            note(_INTERRUPTED)
            return ExitCode.INTERRUPTED
        known = _known(error, words, _command(program, words)) if isinstance(error, Exception) else None
        if known is None:
            raise
        code, lines = known
        for line in lines:
            _tell(line)
        return code


def _of_system(error: OSError) -> tuple[ExitCode, str]:
    """Exit code and line for errors of the operating system, such as a bad path or a full disk."""
    if error.errno == errno.EBADF and error.filename is None:  # the command line's library writes help by itself
        forget_stdout()
        return ExitCode.DATABASE, stdout_problem(error)
    if error.errno in (errno.ENOMEM, errno.EAGAIN):
        return ExitCode.DATABASE, OUT_OF_MEMORY
    where = "" if error.filename is None else f"{error.filename}: "
    text = f"{where}{error.strerror}" if error.strerror else str(error)
    if error.errno in _FULL:
        forget_stdout()
        return ExitCode.DATABASE, f"{DISK_FULL}: {text}"
    return ExitCode.USAGE, text


def _is_interruption(error: BaseException | None) -> bool:
    """Whether an error is DuckDB's or the command line library's for Ctrl-C, or came while Ctrl-C was handled."""
    if type(error).__name__ == "Abort" or (isinstance(error, RuntimeError) and "interrupted" in str(error)):
        return True
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _command(program: Callable[..., Any], words: list[str]) -> Any:
    """The command that the words name; None if they name none."""
    commands: Mapping[str, Any] = getattr(program, "commands", {})
    return next((commands[name] for word in words if (name := RENAMED.get(word, word)) in commands), None)


def _known(error: Exception, words: list[str], asked: Any) -> tuple[int, list[str]] | None:
    """Exit code and lines for an error that is not the program's fault; None for any other.

    asked: the command, if one is named; hints that name options of other commands are not shown.
    """
    wording = getattr(error, "format_message", None)
    if wording is not None and hasattr(error, "exit_code"):  # the command line's own: usage, and help without arguments
        context = getattr(error, "ctx", None)
        named = "scorehouse" if asked is None else f"scorehouse {asked.name}"
        path = getattr(context, "command_path", named)
        text = _of_library(error, getattr(context, "command", asked), path, asked) or str(wording()).strip()
        if text.startswith("Usage:"):
            write(f"{text}\n", None)
            return ExitCode.USAGE, []
        return ExitCode.USAGE, [f"error: {' '.join(text.split())} (see `{path} --help`)"]
    from warehouse import LimitError, QuestionError, SchemaError, SourceError

    options = frozenset() if asked is None else options_of(asked)
    if isinstance(error, SourceError) and error.faults:
        return ExitCode.DATA, fault_lines(error.faults, options)
    for kind, code in (
        (QuestionError, ExitCode.USAGE),
        (SourceError, ExitCode.DATA),
        (SchemaError, ExitCode.DATABASE),
        (LimitError, ExitCode.DATABASE),
    ):
        if isinstance(error, kind):
            return code, [f"error: {error.with_hints(lambda hint: is_for(options, hint))}"]
    return None


def _of_library(error: Exception, command: Any, path: str, asked: Any) -> str:
    """The line for a wrong use of options or arguments, which the command line's library words differently."""
    name, param = getattr(error, "option_name", None), getattr(error, "param", None)
    if name is not None and hasattr(error, "possibilities"):
        return unknown_option(name, command, path.split()[-1], None if asked is command else asked)
    if name is not None:
        is_flag = any(one.is_flag for one in command.params if name in (*one.opts, *one.secondary_opts))
        return f"{name} takes no value" if is_flag else f"{name}: expected a value"
    if param is None or getattr(error, "message", None):
        return ""
    is_argument = param.param_type_name == "argument"
    missing = (param.metavar or param.name.upper()).rstrip(".") if is_argument else max(param.opts, key=len)
    example = _EXAMPLE.search(command.help or "") if is_argument else None
    return f"{command.name} needs {missing}" + (f", such as `{example[1]}`" if example else "")


def extra_words(command: Any, words: Sequence[str], extra: Sequence[str], path: str) -> str:
    """The line for more words than a command takes. words: all behind its name; extra: those too many.

    If several names follow a flag that takes one, it says to repeat the flag; if they may be metrics, it has the whole
    corrected command.
    """
    lead = f"unexpected {' '.join(map(repr, extra))}"
    flags = {flag for option in command.params if getattr(option, "multiple", False) for flag in option.opts}
    for place, (flag, second) in enumerate(zip(words, words[2:], strict=False)):
        if flag in flags and not second.startswith("-"):
            return f"{lead}; repeat {flag}: {flag} {words[place + 1]} {flag} {second}"
    takes = {param.name for param in command.params if param.param_type_name == "argument"}
    if "--metrics" in flags and takes <= {"testset", "lp"}:
        whole = [quote(word) for word in words if word not in extra] + [f"--metrics {quote(name)}" for name in extra]
        return f"{lead}; to select metrics: {path} {' '.join(whole)}"
    return f"{lead} (see `{path} --help`)"
