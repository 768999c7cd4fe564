"""The program and its commands, whose options are accepted once and listed in panels."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from cli.ending import extra_words, run_program
from cli.exit_codes import UsageError
from cli.hints import generated, options_of
from cli.options.output import Db, FormatOption, Out, Quiet, SafeCells
from cli.render import note
from cli.render.output import write
from metaeval.questions import QUESTIONS, RENAMED
from warehouse.errors import NEAR

_TIMES = {2: "twice"}


class _Reading:
    """Reads the values of a parameter instead of Typer: texts, paths, flags, and values with a parser.

    Typer would import Pydantic for this, which takes longer than the rest of a help.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value that a command gets from the words of a command line, or from a default."""
        if param.multiple or param.nargs == -1:
            return [self._read(one) for one in value] if value is not None else ()
        return None if value is None else self._read(value)


def _read_here(parameter: Any) -> None:
    """Let `_Reading` read a parameter if it can; otherwise Typer reads it."""
    described = getattr(parameter, "type_descriptor", None)
    if described is None:  # Typer before 0.29, which imports no Pydantic
        return
    read = described.parameter_info.parser or {str: str, list[str]: str, Path: Path, bool: bool}.get(
        described.annotation
    )
    if read is not None:
        parameter._runtime_param = _Reading(read)


class _Once:
    """Part of a command's class: for a repeated option, the library would silently take the last value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Raises UsageError: an option that takes one value is given several times, or a flag with its opposite.

        Also an option whose value is an empty text.
        """
        for one in self.get_params(ctx):  # type: ignore[attr-defined]
            _read_here(one)
        args = _current_options(self, args, ctx)
        values, further, given = self.make_parser(ctx).parse_args(list(args))  # type: ignore[attr-defined]
        is_asked = not ctx.resilient_parsing  # the shell completes a word otherwise
        if is_asked and not any(option.is_eager for option in given):  # such as --help, which answers by itself
            for option in dict.fromkeys(given):
                _check(option, given.count(option), args)
            _refuse_empty(self, values)
            _refuse_pairs(self, values, further)
            if further and not ctx.allow_extra_args:
                raise UsageError(extra_words(self, args, further, ctx.command_path))
        parsed: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        return parsed


_OF_EACH_HUMAN = ("rank", "correlations")  # where an option of human scores without a name is all of them


def _current_options(command: Any, words: list[str], ctx: Any) -> list[str]:
    """The words with renamed options under their new names; a line says so."""
    known = options_of(command)
    current: list[str] = []
    at = words.index("--human") + 1 if command.name in _OF_EACH_HUMAN and "--human" in words else 0
    if at and (at == len(words) or words[at].startswith("-")):
        words = [*words[:at], "all", *words[at:]]
    for place, word in enumerate(words):
        old, is_joined, value = word.partition("=")
        names = () if old in known or "--" in words[:place] else generated()["renamed"].get(old, ())
        if (new := next((name for name in names if name in known), None)) is not None:
            _say_renamed(old, new, ctx, words)
            word = f"{new}{is_joined}{value}"
        current.append(word)
    return current


def _say_renamed(old: str, new: str, ctx: Any, words: list[str]) -> None:
    is_quiet = {"-q", "--quiet"}.intersection(words) or ctx.find_root().params.get("quiet")
    if not (ctx.resilient_parsing or is_quiet):
        note(f"{old} is now called {new}")


def _refuse_empty(command: Any, values: Mapping[str, Any]) -> None:
    """Raises UsageError: see above. values: the texts that the words give, by parameter."""
    for option in command.params:
        given = values.get(option.name)
        if option.param_type_name == "option" and (given == "" or (isinstance(given, list) and "" in given)):
            raise UsageError(f"{option.opts[0]} '': expected a value, not an empty text")


def _refuse_pairs(command: Any, values: Mapping[str, Any], further: list[str]) -> None:
    """Raises UsageError: too many words, one of which is a language pair, for a command that takes it as an option."""
    if not further or "--lp" not in options_of(command):
        return
    from warehouse.facts.languages import is_typed_pair

    said = [values.get(one.name) for one in command.params if one.param_type_name == "argument"]
    words = [word for word in (*said, *further) if isinstance(word, str)]
    if pairs := [word for word in words if is_typed_pair(word)]:
        name = next((word for word in words if word not in pairs), "")
        raise UsageError(f"{pairs[0]!r} is a language pair; write `scorehouse {command.name} {name} --lp {pairs[0]}`")


def _check(option: Any, n_times: int, words: list[str]) -> None:
    """Raises UsageError: see above."""
    if n_times < 2 or option.param_type_name != "option" or option.multiple:
        return
    if not option.is_flag:
        raise UsageError(f"{option.opts[0]} is given {_TIMES.get(n_times, f'{n_times} times')}: it takes one value")
    if {*option.opts} & {*words} and {*option.secondary_opts} & {*words}:
        raise UsageError(f"{option.opts[0]} and {option.secondary_opts[0]} cannot be combined")


_OUTPUT = "Output"
_OF_OPTIONS = ("Options", "Data", "Metrics", "Computation", _OUTPUT, "Tests and resampling")


class OnceCommand(_Once, TyperCommand):
    """A command; its help lists the options in panels, those of tests last."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options into a help."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{name: [] for name in _OF_OPTIONS}}
        has_panels = any(getattr(one, "rich_help_panel", None) for one in self.get_params(ctx))
        for one in self.get_params(ctx):
            if (record := one.get_help_record(ctx)) is None:
                continue
            if one.param_type_name == "argument":
                name = "Arguments"
                record = (record[0].removesuffix(" <list[str]>").removesuffix(" <str>"), record[1])
            else:
                name = getattr(one, "rich_help_panel", None) or (_OUTPUT if has_panels else "Options")
            panels[name].append(record)
        for name, records in panels.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write where to read more in the documentation."""
        formatter.write_paragraph()
        formatter.write_text(f"Documentation: {page_of(str(ctx.info_name))}")


REPLACED_COMMANDS = {
    "hard-pairs": "use deltas --hard",
    "ties": "use thresholds --ties",
    "protocols": "use protocol --matrix",
    "unload": "use remove",
    "migrate": "any command brings the warehouse up to date",
}


def _unknown_command(name: str) -> str:
    if (now := REPLACED_COMMANDS.get(name)) is not None:
        return f"there is no command {name!r}; {now}"
    near = get_close_matches(name.casefold(), COMMANDS)
    return f"there is no command {name!r}" + (f"; {NEAR} {' or '.join(map(repr, near))}?" if near else "")


class OnceGroup(_Once, TyperGroup):
    """The program: its options come before the name of a command; its help lists the commands in panels."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names, or named in the previous version."""
        if (new := RENAMED.get(args[0])) is not None:
            _say_renamed(args[0], new, ctx, args)
            args = [new, *args[1:]]
        if args[0] not in self.commands and not ctx.resilient_parsing:
            raise UsageError(f"{_unknown_command(args[0])} (see `scorehouse --help`)")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, without making any of the commands."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands into the help."""
        summaries = generated()["summaries"]
        for panel, names in _PANELS.items():
            with formatter.section(panel):
                formatter.write_dl([(name, summaries[name]) for name in names.split()])


class _Commands(Mapping[str, Callable[..., None]]):
    """Commands by name, each imported when it is first requested: a run of the program needs one of them."""

    _homes: Mapping[str, tuple[str, str]] = {
        "demo": ("demo", "demo"),
        "load": ("load", "load"),
        "download": ("download", "download"),
        "add": ("own", "add"),
        "remove": ("own", "remove"),
        "sql": ("sql", "sql"),
        "explore": ("explore", "explore"),
        "mcp": ("mcp", "mcp"),
        "site": ("site", "site"),
        "compute": ("compute", "compute"),
        "export": ("export", "export"),
    }

    def __getitem__(self, name: str) -> Callable[..., None]:
        if name in QUESTIONS or name not in self._homes:  # the report is a question of the command line's
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
    "Start": "demo load download add remove list sql explore mcp report site",
    "Rank and compare": "rank compare advise protocol systems autorank correlations",
    "Over the years": "trend",
    "Look closer": "show segments spans scatter counts thresholds means",
    "Uncertainty and planning": "deltas noise plan cutoff sample annotators judges",
    "Data": "audit diff compute export",
    "Papers": "paper",
}
PANEL_OF = {name: panel for panel, names in _PANELS.items() for name in names.split()}
COMMANDS: Mapping[str, Callable[..., None]] = _Commands()
_PAGES: Mapping[str, str] = {
    "index": "demo download",
    "own-data": "load remove list",
    "formats": "export compute",
    "rank-my-metric": "add",
    "sql": "sql spans segments",
    "charts": "explore report show scatter correlations thresholds site",
    "which-metric": "rank compare advise cutoff audit",
    "shared-task": "protocol diff",
    "plan-annotation": "plan sample annotators means",
    "rankings": "systems",
    "over-the-years": "trend",
    "other-tasks": "judges",
    "python": "counts mcp",
    "papers": "paper",
    "methods/beyond-rankings": "autorank deltas noise",
}


def page_of(command: str) -> str:
    """The page of the documentation that shows a command, below the project's folder."""
    return next(f"docs/{page}.md" for page, names in _PAGES.items() if command in names.split())


class _ClickCommands(Mapping[str, Any]):
    """Commands of the command line's library by name, each made when it is first requested."""

    def __getitem__(self, name: str) -> Any:
        return _click_command(name)

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


@cache
def _click_command(name: str) -> Any:
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name, cls=OnceCommand)(COMMANDS[name])
    return typer.main.get_command(app)


def program() -> Any:
    """The program with its commands."""
    app = typer.Typer(
        name="scorehouse",
        cls=OnceGroup,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["--help", "-h"],
            "max_content_width": min(120, shutil.get_terminal_size().columns),
        },
    )
    app.callback()(main)
    group: Any = typer.main.get_command(app)
    group.commands = _ClickCommands()
    if "_SCOREHOUSE_COMPLETE" in os.environ:
        from cli.quoting import quote_offers

        quote_offers()
    return group


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
    """Every score of every WMT metrics shared task in one file, and the statistics that tell which metric to trust."""
    # For `cli.options.Output.of`: the context's own parameters are plain texts before Typer 0.29.
    context.obj = {"db": db, "format": format, "output": output, "quiet": quiet, "safe_cells": safe_cells}


def exit_code(arguments: list[str] | None = None) -> int:
    """Run the program; errors that a user can mend become one line on stderr and an exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    return run_program(program(), words)
