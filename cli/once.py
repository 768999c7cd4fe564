"""Commands that take an option with one value once."""

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand, TyperGroup

from cli.exit_codes import UsageError

_TIMES = {2: "twice"}


class _Once:
    """Part of a command's class; where an option is repeated, the library would silently take its last value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Raises UsageError: an option that takes one value is given several times, or a flag with its opposite.

        Also an option whose value is an empty text.
        """
        values, _, given = self.make_parser(ctx).parse_args(list(args))  # type: ignore[attr-defined]
        is_asked = not ctx.resilient_parsing  # the shell completes a word otherwise
        if is_asked and not any(option.is_eager for option in given):  # such as --help, which answers by itself
            for option in dict.fromkeys(given):
                _check(option, given.count(option), args)
            _refuse_empty(self, values)
        parsed: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        return parsed


def _refuse_empty(command: Any, values: Mapping[str, Any]) -> None:
    """Raises UsageError: see above. values: the texts that the words give, by parameter."""
    for option in command.params:
        given = values.get(option.name)
        if option.param_type_name == "option" and (given == "" or (isinstance(given, list) and "" in given)):
            raise UsageError(f"{option.opts[0]} '': expected a value, not an empty text")


def _check(option: Any, n_times: int, words: list[str]) -> None:
    """Raises UsageError: see above."""
    if n_times < 2 or option.param_type_name != "option" or option.multiple:
        return
    if not option.is_flag:
        raise UsageError(f"{option.opts[0]} is given {_TIMES.get(n_times, f'{n_times} times')}: it takes one value")
    if {*option.opts} & {*words} and {*option.secondary_opts} & {*words}:
        raise UsageError(f"{option.opts[0]} and {option.secondary_opts[0]} exclude each other")


_OUTPUT = "Output"
_PANELS = ("Options", "Which data", "Which metrics", "How values are computed", _OUTPUT, "How metrics are tested")


class OnceCommand(_Once, TyperCommand):
    """A command; its help has the options in panels, those of tests last."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options into a help."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{name: [] for name in _PANELS}}
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


class OnceGroup(_Once, TyperGroup):
    """The program: its options stand before the name of a command; its help has the commands in panels."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands into the help."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            panel = getattr(command, "rich_help_panel", None) or "Commands"
            panels.setdefault(panel, []).append((name, command.get_short_help_str(70)))
        for panel, records in panels.items():
            with formatter.section(panel):
                formatter.write_dl(records)
