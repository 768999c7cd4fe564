"""Where results go: to stdout, or to whole files in the format of their ending; notes and progress go to stderr."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from cli.exit_codes import OutputError, UsageError
from cli.render.cells import one_line

if TYPE_CHECKING:
    from warehouse.progress import Progress

STDOUT = Path("-")
_USUAL = 80  # columns of a terminal that does not tell


class Format(StrEnum):
    """Output formats; the values are those of `--format`."""

    TABLE = "table"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    LATEX = "latex"
    PARQUET = "parquet"


_FORMAT_OF_ENDING = {
    ".txt": Format.TABLE,
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".tex": Format.LATEX,
    ".parquet": Format.PARQUET,
}


def is_for_reading(chosen: Format) -> bool:
    """Whether the format is for reading, so that numbers are rounded and a wide table may replace a long one."""
    return chosen in (Format.TABLE, Format.MARKDOWN, Format.LATEX)


def format_for(chosen: str | None, out: Path | None) -> Format:
    """The selected format, else the format of the file's ending, else a table.

    Raises UsageError: an unknown format or ending.
    >>> format_for(None, Path("ranking.TEX")), format_for("csv", Path("ranking.tex")), format_for(None, None)
    (<Format.LATEX: 'latex'>, <Format.CSV: 'csv'>, <Format.TABLE: 'table'>)
    """
    if chosen is None:
        ending = out.suffix.lower() if out is not None else ""
        if ending and ending not in _FORMAT_OF_ENDING:
            known = ", ".join(_FORMAT_OF_ENDING)
            raise UsageError(f"{str(out)!r}: no format ends in {ending}, expected one of {known}; or choose a --format")
        return _FORMAT_OF_ENDING.get(ending, Format.TABLE)
    try:
        return Format(chosen)
    except ValueError:
        raise UsageError(f"unknown format {chosen!r}, expected one of {', '.join(Format)}") from None


def is_file(out: Path | None) -> bool:
    return out is not None and out != STDOUT


def terminal_width(out: Path | None) -> int | None:
    """Columns of the terminal that the data go to; None: they go to a file or a pipe."""
    if is_file(out) or not sys.stdout.isatty():
        return None
    return _columns(sys.stdout)


def notes_width() -> int | None:
    """Columns of the terminal that notes go to; None: they go to a file or a pipe, which takes all of them."""
    return _columns(sys.stderr) if sys.stderr.isatty() else None


def _columns(terminal: TextIO) -> int:
    """The terminal's columns, or the value of COLUMNS."""
    if (said := os.environ.get("COLUMNS", "")).isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(terminal.fileno()).columns or _USUAL
    except (OSError, ValueError, AttributeError):
        return _USUAL


def write_paged(content: str, out: Path | None, *, is_paged: bool) -> None:
    """Write as `write` does; text longer than a terminal's screen goes through a pager, if is_paged.

    The pager is $PAGER, else less, set to leave its text on the screen; an empty $PAGER or cat means no pager.
    """
    height = _lines_of_terminal(out) if is_paged else None
    if height is None or content.count("\n") < height or not _page(content):
        write(content, out)


def _lines_of_terminal(out: Path | None) -> int | None:
    """Lines of the terminal that the data go to; None if there is none, or it is not a real one."""
    if terminal_width(out) is None:
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).lines or None
    except (OSError, ValueError, AttributeError):
        return None


def _page(content: str) -> bool:
    """Show a text in the pager; returns whether there is one."""
    import shlex
    import shutil
    import subprocess

    command = shlex.split(os.environ.get("PAGER", "less"))
    is_dumb = os.environ.get("TERM", "dumb") in ("", "dumb")
    if is_dumb or not command or command == ["cat"] or shutil.which(command[0]) is None:
        return False
    environment = {"LESS": "FRX", "LESSCHARSET": "utf-8", **os.environ}
    sys.stdout.flush()
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as pager:
        with suppress(BrokenPipeError, KeyboardInterrupt):
            pager.communicate(content.encode("utf-8", "backslashreplace"))
        while pager.poll() is None:
            with suppress(KeyboardInterrupt):  # is for the pager
                pager.wait()
    return True


def write(content: str | bytes, out: Path | None) -> None:
    """Write to stdout, or to a file whole or not at all; it is no error if the reader of stdout has gone away.

    Raises UsageError: the folder does not exist, or `out` is a folder. OSError: the file can't be written. OutputError:
    stdout
        is closed, or its disk is full.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    if out is not None and out != STDOUT:
        _write_file(data, out)
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    except (OSError, ValueError, AttributeError) as error:  # the last two where there is no stdout any more
        forget_stdout()
        raise OutputError(stdout_problem(error)) from error


def stdout_problem(error: Exception) -> str:
    """Why nothing can be written to stdout, as a message."""
    reason = error.strerror if isinstance(error, OSError) and error.errno != errno.EBADF else None
    return f"standard output cannot be written: {reason or 'it is closed'}"


def write_note(line: str) -> None:
    """One line on stderr, which may be closed."""
    with suppress(OSError, ValueError):
        shown = line
        if not line.isprintable():
            shown = "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in line)
        print(shown.encode("utf-8", "backslashreplace").decode("utf-8"), file=sys.stderr, flush=True)


@contextmanager
def progress(quiet: bool) -> "Iterator[Progress]":
    """A progress bar with the time left; the function takes the step's name, how much is done, and how much there is.

    If less is done than before, a new step has begun, and its time is counted from there.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def advance(what: str, done: int, total: int) -> None:
            if done < bar.tasks[0].completed:
                bar.reset(task)
            bar.update(task, description=one_line(what), completed=done, total=total or None)

        yield advance


def check_target(out: Path) -> None:
    """Refuse a file that cannot be written, as far as this can be seen before anything is computed.

    Raises UsageError: the folder does not exist or is not writable, or `out` is a folder or a database.
    """
    if out == STDOUT:
        return
    target = out.resolve()
    if not target.parent.is_dir():
        folder = target.parent if out.is_symlink() else out.parent
        raise UsageError(f"can't write {str(out)!r}: there is no folder {str(folder)!r}")
    if target.is_dir():
        raise UsageError(f"can't write {str(out)!r}: it is a folder")
    if target.is_file() and _is_database(target):
        raise UsageError(f"can't write {str(out)!r}: it is a database")
    if not target.exists() and not os.access(target.parent, os.W_OK):
        raise UsageError(f"can't write {str(out)!r}: the folder takes no new files")


def _is_database(path: Path) -> bool:
    """Whether a file begins as DuckDB files do."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


def _write_file(data: bytes, out: Path) -> None:
    check_target(out)
    target = out.resolve()
    with _worded(out):
        if takes_its_place(out):
            with fresh_file(out) as fresh, fresh.open("xb") as file:
                file.write(data)
        else:
            target.write_bytes(data)


def takes_its_place(out: Path | None) -> bool:
    """Whether the path is or will be a regular file, and not a pipe or a device, which cannot be replaced."""
    return out is not None and out != STDOUT and (out.is_file() or not out.exists())


@contextmanager
def fresh_file(out: Path) -> Iterator[Path]:
    """A free path next to `out`; at the end its file, if one was made, replaces `out`: whole or not at all."""
    target = out.resolve()
    fresh = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield fresh
        if fresh.exists():
            fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def _worded(out: Path) -> Iterator[None]:
    """Errors of the operating system, reworded with the name of the requested file."""
    try:
        yield
    except OSError as error:
        worded = OSError(f"can't write {str(out)!r}: {error.strerror or error}")
        worded.errno = error.errno  # tells a full disk
        raise worded from error


def forget_stdout() -> None:
    """Discard Python's flush of stdout at exit, which would otherwise complain."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
