"""Words of messages."""

import re
from collections.abc import Callable

MARK = "\u2063"
"""Around an option in a message; invisible, so that an option that is not spelt out reads as in Python."""
_OPTION = re.compile(f"{MARK}([a-z_.]+)(?:=([^{MARK}]*))?{MARK}")


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun. plural: where it is not the noun with an s.

    >>> counted(1, "file"), counted(0, "file"), counted(2, "pair of systems", "pairs of systems")
    ('1 file', '0 files', '2 pairs of systems')
    """
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def option(name: str, value: object = None) -> str:
    """An option in a message, as a mark that whoever shows the message spells: see `spelt`.

    name: the keyword in Python; of a question other than the one that is answered with it and a dot in front.
    """
    return f"{MARK}{name}{'' if value is None else f'={value}'}{MARK}"


def spelt(text: str, spelling: Callable[[str, str | None], str]) -> str:
    """A text whose marks are spelt. spelling: of an option's name and value.

    >>> spelt(f"take {option('unit', 'segment')}", lambda name, value: f"<{name}: {value}>")
    'take <unit: segment>'
    """
    return _OPTION.sub(lambda found: spelling(found[1], found[2]), text) if MARK in text else text


def in_python(text: str) -> str:
    """A text with its options as they are written in Python.

    >>> in_python(f"{option('rank.explain', True)} lists all; take {option('unit', 'segment')} or {option('human')}")
    "rank(explain=True) lists all; take unit='segment' or human"
    """
    return spelt(text, _argument)


def _argument(name: str, value: str | None) -> str:
    question, _, name = name.rpartition(".")
    plain = value == "True" or (value or "").replace(".", "", 1).isdecimal()
    said = name if value is None else f"{name}={value if plain else repr(value)}"
    return f"{question}({said})" if question else said
