"""Options with a closed set of values: one way to announce them, to complete them and to refuse others."""

from collections.abc import Sequence
from typing import Any

import typer

from cli.exit_codes import UsageError
from warehouse.errors import unlisted


def chosen(flag: str, value: str, values: Sequence[str]) -> str:
    """The value, which is one of these.

    Raises UsageError: it is none of them.
    """
    if value in values:
        return value
    raise UsageError(unlisted(flag, value, values))


def choice(values: Sequence[str], *flags: str, **more: Any) -> Any:
    """An option that takes one of these values; more: as for `typer.Option`."""
    return typer.Option(*flags, metavar="|".join(values), **_reading(flags[0], values), **more)  # type: ignore[misc]


def choice_argument(values: Sequence[str], name: str, **more: Any) -> Any:
    """An argument that takes one of these values (each of its words does); more: as for `typer.Argument`."""
    return typer.Argument(metavar="|".join(values), **_reading(name, values), **more)


def _reading(name: str, values: Sequence[str]) -> dict[str, Any]:
    return {
        "parser": lambda value: chosen(name, value, values),
        "autocompletion": lambda incomplete: [value for value in values if value.startswith(incomplete)],
    }
