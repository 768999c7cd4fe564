"""Parameters of commands: dataclasses of options, names as the warehouse has them, files not to overwrite."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import typer

from cli.completion import complete_lp, complete_metric, complete_testset
from cli.exit_codes import UsageError
from cli.options.output import Output
from cli.render.output import check_target, is_file

_WRITTEN = {"output": "-o", "chart": "--chart", "texts": "--texts", "export": "--export", "junit": "--junit"}
_READ = ("paths", "file", "with_file", "before", "after", "folder", "engine_file")
"""Parameters that name files or folders which a command reads."""


def check_targets(values: Mapping[str, Any], database: Path) -> None:
    """Check the files that a command's options name as outputs, before anything is computed.

    values: of all its parameters, by name. database: the warehouse.
    Raises UsageError: one is the warehouse or any database, a file that the command reads, or below a folder that it
    reads; two are the same file; or one cannot be written.
    """
    targets = {flag: Path(values[name]) for name, flag in _WRITTEN.items() if is_file(values.get(name))}
    for flag, target in targets.items():
        place = target.resolve()
        if place == database.resolve():
            raise UsageError(f"{flag} {target}: it is the warehouse")
        for path in _paths_read(values):
            if place == path or (place.exists() and path in place.parents):
                raise UsageError(f"{flag} {target}: the command reads it")
        check_target(target)
    if len({target.resolve() for target in targets.values()}) < len(targets):
        raise UsageError(f"{' and '.join(targets)} name one file")


def _paths_read(values: Mapping[str, Any]) -> Iterator[Path]:
    """The files and folders that the command reads, links resolved."""
    for name in _READ:
        given = values.get(name)
        for one in given if isinstance(given, list | tuple) else [given]:
            if isinstance(one, str | Path):
                yield Path(one).resolve()


_KINDS: Mapping[Callable[..., Any], str] = {complete_testset: "testset", complete_lp: "lp", complete_metric: "metric"}


def kind_of(annotation: Any) -> str | None:
    """Whether a parameter of a command names test sets, language pairs or metrics of the warehouse."""
    options = getattr(annotation, "__metadata__", ())
    return next((_KINDS[one.autocompletion] for one in options if getattr(one, "autocompletion", None) in _KINDS), None)


def as_stored(values: Mapping[str, Any], kinds: Mapping[str, str], database: Path) -> dict[str, Any]:
    """The values of parameters that are typed differently from the names in the warehouse. kinds: by parameter.

    Lists of metrics lose their commas; "all" among them gives an empty list, which means all. See
    `metaeval.results.spelling`.
    """
    from metaeval.results.spelling import is_to_be_looked_up, spelt
    from warehouse import Warehouse

    typed = {name: value for name in kinds if (value := values.get(name))}
    if not any(is_to_be_looked_up(value, kinds[name]) for name, value in typed.items()) or not database.exists():
        return {}
    with Warehouse.open(database) as warehouse:
        return spelt(warehouse, typed, kinds)


_CONTEXT = "context"


def folded(command: Callable[..., None], *, looks_up: bool = True) -> Callable[..., None]:
    """Let a command take dataclasses of options: each of their fields becomes an option of the command.

    looks_up: whether names are looked up in the warehouse, ignoring case; not for questions, which do so themselves.
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
            group: kind.of(context, **gathered[group]) for group, kind in groups.items() if issubclass(kind, Output)
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
