"""Options that take a number or one of a few words: one way to announce, complete and refuse their values."""

from collections.abc import Sequence
from dataclasses import MISSING
from typing import Any

import typer

from cli.exit_codes import UsageError
from metaeval.question import Field, Option
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


def number(
    kind: type, *flags: str, help: str, least: float | None = None, most: float | None = None, **more: Any
) -> Any:
    """An option that takes a whole or a finite number within limits, read as a question's field is.

    more: as for `typer.Option`.
    """
    said = Option(help, least=least, most=most)
    field = Field(flags[0].removeprefix("--").replace("-", "_"), kind, said, MISSING, False)
    more = {"metavar": "N" if kind is int else "NUMBER"} | more
    return typer.Option(*flags, **more, parser=field.parsed, help=field.help)
