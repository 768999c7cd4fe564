"""Options that do something only beside another: where that one is not given, they are refused."""

from collections.abc import Iterable

import typer

from cli.exit_codes import UsageError


def refuse_given(context: typer.Context, names: Iterable[str], why: str) -> None:
    """Refuse the parameters of a command that its words give. why: such as "needs --significance".

    Raises UsageError: one of them is given.
    """
    flags = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{flags[name]} {why}")
