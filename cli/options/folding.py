"""Dataclasses of options as parameters of commands."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import typer

from cli.options.names import as_stored, kind_of
from cli.options.output import Output, PageOutput
from cli.options.targets import check_targets

_CONTEXT = "context"


def folded(command: Callable[..., None], *, looks_up: bool = True) -> Callable[..., None]:
    """Let a command take dataclasses of options: each of their fields becomes an option of the command.

    looks_up: names are found in the warehouse in any case; not of questions, which look theirs up themselves.
    """
    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command).parameters
    groups = {name: hints[name] for name in own if is_dataclass(hints.get(name))}
    parameters = [parameter.replace(annotation=hints[name]) for name, parameter in own.items() if name not in groups]
    homes: dict[str, str] = {}
    for group, kind in groups.items():
        field_hints = get_type_hints(kind, include_extras=True)
        for item in fields(kind):
            homes[item.name] = group
            parameters.append(
                inspect.Parameter(
                    item.name, inspect.Parameter.KEYWORD_ONLY, default=item.default, annotation=field_hints[item.name]
                )
            )

    kinds = {one.name: kind for one in parameters if looks_up and (kind := kind_of(one.annotation)) is not None}
    own_context = next((name for name in own if hints[name] is typer.Context), None)
    if own_context is None:
        parameters.append(inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))

    @functools.wraps(command)
    def unfolded(**values: Any) -> None:
        gathered: dict[str, dict[str, Any]] = {group: {} for group in groups}
        for name in list(values):
            if name in homes:
                gathered[homes[name]][name] = values[name]
        context = values[own_context] if own_context is not None else values.pop(_CONTEXT)
        made = {
            group: kind.of(context, **gathered[group]) for group, kind in groups.items() if kind in (Output, PageOutput)
        }
        if (written := next(iter(made.values()), None)) is not None:
            check_targets({**values, "output": written.output}, written.database)
            for name, value in as_stored(values, kinds, written.database).items():
                (gathered[homes[name]] if name in homes else values)[name] = value
        made |= {group: kind(**gathered[group]) for group, kind in groups.items() if group not in made}
        for name in homes:
            values.pop(name, None)
        command(**values, **made)

    ordered = sorted(parameters, key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    ordered = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in ordered]
    unfolded.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    unfolded.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
    del unfolded.__wrapped__
    return unfolded
