"""The program: its commands, and how it ends."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer

from cli.ending import run_program
from cli.once import OnceCommand, OnceGroup
from cli.options import Db, FormatOption, Out, Quiet, SafeCells
from cli.render.output import write
from metaeval.questions import HOMES


class _Commands(Mapping[str, Callable[..., None]]):
    """Commands by name, each imported when it is first asked for: a run of the program needs one of them."""

    _homes: Mapping[str, tuple[str, str]] = {
        "demo": ("demo", "demo"),
        "load": ("load", "load"),
        "download": ("download", "download"),
        "add": ("own", "add"),
        "remove": ("own", "remove"),
        "sql": ("sql", "sql"),
        "explore": ("explore", "explore"),
        "report": ("report", "report"),
        "compute": ("compute", "compute"),
        "export": ("export", "export"),
    }

    def __getitem__(self, name: str) -> Callable[..., None]:
        if name in HOMES:
            from cli.questions import command_of

            return command_of(name)
        module, function = self._homes[name]
        command: Callable[..., None] = getattr(import_module(f"cli.commands.{module}"), function)
        return command

    def __contains__(self, name: object) -> bool:
        return name in PANEL_OF  # without making it

    def __iter__(self) -> Iterator[str]:
        return iter(PANEL_OF)

    def __len__(self) -> int:
        return len(PANEL_OF)


_PANELS: Mapping[str, str] = {
    "Start": "demo load download add remove list sql explore report",
    "Rank and compare": "rank compare protocol systems autorank correlations",
    "Over the years": "trend",
    "Look closer": "show segments spans scatter counts thresholds means",
    "How sure, how much": "deltas noise plan decide choose annotators",
    "The data": "audit diff compute export",
    "Papers": "paper",
}
PANEL_OF = {name: panel for panel, names in _PANELS.items() for name in names.split()}
COMMANDS: Mapping[str, Callable[..., None]] = _Commands()
_BEFORE_A_COMMAND = dict.fromkeys(("--db", "--format", "--output", "-o"), 2)  # words of an option
_BEFORE_A_COMMAND |= dict.fromkeys(("--quiet", "-q", "--safe-cells"), 1)
_WALK = "demo"  # runs other commands


def program(names: Iterable[str] = COMMANDS) -> Any:
    """The program with these of its commands."""
    app = typer.Typer(
        name="scorehouse",
        cls=OnceGroup,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(main)
    for name in names:
        app.command(name, cls=OnceCommand, rich_help_panel=PANEL_OF[name])(COMMANDS[name])
    return typer.main.get_command(app)


def named(words: list[str]) -> Iterable[str]:
    """The command that the words of a command line begin with; all, where they begin otherwise, or with the walk.

    >>> list(named(["--db", "my.duckdb", "-q", "rank", "sim24", "en-de"])), len(list(named(["rnk"]))) == len(COMMANDS)
    (['rank'], True)
    >>> len(list(named(["-q", "demo"]))) == len(COMMANDS)
    True
    """
    place = 0
    while place < len(words) and words[place] in _BEFORE_A_COMMAND:
        place += _BEFORE_A_COMMAND[words[place]]
    command = words[place] if place < len(words) else _WALK
    return [command] if command in COMMANDS and command != _WALK else COMMANDS


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        write(f"scorehouse {version('scorehouse')}\n", None)
        raise typer.Exit


def main(
    context: typer.Context,
    db: Db = None,
    format: FormatOption = None,
    output: Out = None,
    quiet: Quiet = False,
    safe_cells: SafeCells = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Every score of every WMT metrics shared task in one file, and the statistics that say which metric to trust."""
    # For `cli.options.Output.of`: the context's own parameters are plain texts before Typer 0.29.
    context.obj = {"db": db, "format": format, "output": output, "quiet": quiet, "safe_cells": safe_cells}


def exit_code(arguments: list[str] | None = None) -> int:
    """Run the program; errors that a user can mend become one line on stderr and an exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    return run_program(program(named(words)), words)
