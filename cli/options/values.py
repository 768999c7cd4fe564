"""Options that take a number or one of a few words: one way to announce, complete and refuse their values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any

import typer

from cli.exit_codes import UsageError
from metaeval.options import in_words
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


@dataclass(frozen=True)
class Number:
    """What reads the text of an option as a number, whole or not, that is finite and within its limits."""

    flag: str
    is_whole: bool
    least: float | None = None
    most: float | None = None

    @property
    def __name__(self) -> str:  # the library asks what reads a value for its name
        return "int" if self.is_whole else "float"

    def __call__(self, text: str) -> float:
        """Raises UsageError: no such number."""
        try:
            value = int(text) if self.is_whole else float(text)
        except ValueError:
            value = math.nan
        least = -math.inf if self.least is None else self.least
        most = math.inf if self.most is None else self.most
        if least <= value <= most and abs(value) < math.inf:
            return value
        raise UsageError(f"{self.flag} {shortened(text)}: expected {self._expected()}")

    def _expected(self) -> str:
        kind = "a whole number" if self.is_whole else "a finite number"
        return f"{kind} {self.limits()}".rstrip()

    def limits(self) -> str:
        """Such as "from 1 to 1,024"; empty where there are none."""
        return in_words(self.least, self.most)


def whole_number(
    flag: str, *others: str, least: int | None = None, most: int | None = None, metavar: str = "N", **more: Any
) -> Any:
    """An option that takes a whole number within limits; more: as for `typer.Option`."""
    return _option(Number(flag, True, least, most), others, metavar, more)


def number(
    flag: str, *others: str, least: float | None = None, most: float | None = None, metavar: str = "NUMBER", **more: Any
) -> Any:
    """An option that takes a finite number within limits; more: as for `typer.Option`."""
    return _option(Number(flag, False, least, most), others, metavar, more)


def _option(read: Number, others: tuple[str, ...], metavar: str, more: dict[str, Any]) -> Any:
    """The option; its help states a greatest value, since a least one goes without saying."""
    if read.most is not None:
        more["help"] = f"{more['help'].removesuffix('.')}, {read.limits().removeprefix('of ')}."
    return typer.Option(read.flag, *others, metavar=metavar, parser=read, **more)
