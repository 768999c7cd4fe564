"""Parameters of measures: how each is read, printed and documented; includes the parameters shared by families."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from warehouse.errors import one_of

Value = str | int | float
GROUPINGS = ("none", "item", "system", "doc", "domain")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure.

    parse: text -> value, raising ValueError with what was expected; show: value -> text.
    always: printed even at its default.
    """

    name: str
    default: Value
    meaning: str
    parse: Callable[[str], Value]
    show: Callable[[Value], str] = str
    always: bool = False


def choice(*allowed: str) -> Callable[[str], Value]:
    """Reads one of a few words."""

    def parse(text: str) -> Value:
        if text not in allowed:
            raise ValueError(one_of(text, allowed))
        return text

    return parse


def whole_number(least: int, most: int | None = None) -> Callable[[str], Value]:
    """Reads a whole number from `least` to `most`."""

    def parse(text: str) -> Value:
        if not text.isdecimal() or int(text) < least:
            raise ValueError(f"a whole number of at least {least}")
        if most is not None and int(text) > most:
            raise ValueError(f"a whole number of at most {most:,}")
        return int(text)

    return parse


def number(text: str) -> float:
    """Reads a number; NaN if the text is not a number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def show_number(value: Value) -> str:
    """Prints a number so that reading it back gives the same number."""
    return value if isinstance(value, str) else shortest(value)


def shortest(value: float) -> str:
    """The shortest text that reads back as the same number.

    >>> shortest(0.1), shortest(30.0), shortest(1e-300)
    ('0.1', '30', '1e-300')
    """
    return repr(float(value)).removesuffix(".0")


def _threshold(text: str) -> Value:
    """A tie threshold: a number, or a number followed by `sd`, in standard deviations of the metric (kept as text)."""
    value = number(text.removesuffix("sd"))
    if not 0 <= value < math.inf:
        raise ValueError("a number of at least 0, perhaps with sd behind it (standard deviations of the metric)")
    return f"{shortest(value)}sd" if text.endswith("sd") and value else value


BY = Parameter(
    "by",
    "item",
    "which (system, segment) scores are compared: those of an item, system, doc or domain, or all (none)",
    choice(*GROUPINGS),
    always=True,
)
EPSILON = Parameter(
    "epsilon",
    0.0,
    "tie threshold ε on metric scores; with the suffix sd, in standard deviations",
    _threshold,
    show_number,
)
ON_NAN = Parameter(
    "on_nan",
    "drop",
    "groups where the statistic is undefined: drop excludes them, zero counts them as 0, common keeps groups defined "
    "for every metric",
    choice("drop", "zero", "common"),
)
