"""Options that take a number or one of a few words, read as the fields of questions are."""

from collections.abc import Sequence
from dataclasses import MISSING
from typing import Any, Literal

import typer

from cli.completion import completion_of
from warehouse.fields import Field, Option


def choice(values: Sequence[str], *flags: str, **more: Any) -> Any:
    """An option that takes one of these values; more: as for `typer.Option`."""
    more |= {"metavar": "|".join(values), "autocompletion": completion_of(None, values)}
    return number(Literal[tuple(map(str, values))], *flags, **more)


def number(
    kind: Any, *flags: str, help: str, least: float | None = None, most: float | None = None, **more: Any
) -> Any:
    """An option that takes a whole or a finite number within limits, read as a question's field is.

    more: as for `typer.Option`.
    """
    said = Option(help, least=least, most=most)
    field = Field(flags[0].removeprefix("--").replace("-", "_"), kind, said, MISSING, False)
    more = {"metavar": "N" if kind is int else "NUMBER"} | more
    return typer.Option(*flags, **more, parser=field.parsed, help=field.help)
