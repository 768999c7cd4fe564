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


class OnceCommand(_Once, TyperCommand):
    """A command; its help names the type of no argument that may be several words, as the library names Python's."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options into a help."""
        write = formatter.write_dl
        formatter.write_dl = lambda rows: write([(name.removesuffix(" <list[str]>"), text) for name, text in rows])
        super().format_options(ctx, formatter)


class OnceGroup(_Once, TyperGroup):
    """The program: its options stand before the name of a command."""
