"""Words of messages."""

import re
from collections.abc import Callable, Sequence

MARK = "\u2063"
"""Around an option in a message; invisible, so that an option that is not spelt out reads as in Python."""
NO_LP = "no-lp"
"""Stored as the language pair of a set that is not translation; messages and tables are written without it."""
_WITHOUT_LP = re.compile(rf"\|lp:{NO_LP}\b| ?\b{NO_LP}\b")
_OF_TRANSLATION = {
    "a segment": "an item",
    "segment": "item",
    "segments": "items",
    "MT systems": "systems",
    "language pair": "set",
}
_WORD_OF_TRANSLATION = re.compile(
    rf"(?<![\w{MARK}=.-])(?:(?:a )?segment|segments|MT systems|language pair)(?![\w{MARK}=.(])"
)
_OPTION = re.compile(f"{MARK}([a-z_.]+)(?:=([^{MARK}]*))?{MARK}")


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun. plural: if it is not the noun with an s.

    >>> counted(1, "file"), counted(0, "file"), counted(2, "pair of systems", "pairs of systems")
    ('1 file', '0 files', '2 pairs of systems')
    """
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def every(n: int, noun: str, plural: str | None = None) -> str:
    """All of some things, of which there are n.

    >>> every(1, "task"), every(2, "task"), every(3, "language pair")
    ('the only task', 'both tasks', 'all 3 language pairs')
    """
    return f"the only {noun}" if n == 1 else f"{'both' if n == 2 else f'all {n}'} {plural or noun + 's'}"


def are(n: int, *, have: bool = False) -> str:
    """The verb of n things, to be or to have.

    >>> are(1), are(2), are(1, have=True), are(0, have=True)
    ('is', 'are', 'has', 'have')
    """
    return ("has" if n == 1 else "have") if have else ("is" if n == 1 else "are")


def ends(low: object, high: object) -> str:
    """The ends of a range, or its only value.

    >>> ends(2, 3), ends("0.5", "0.5")
    ('2 to 3', '0.5')
    """
    return str(low) if str(low) == str(high) else f"{low} to {high}"


def first_names(names: Sequence[str], most: int = 3) -> str:
    """The first of some names, and how many more there are.

    >>> first_names(["a", "b"]), first_names(["a", "b", "c", "d"])
    ('a, b', 'a, b, c and 1 more')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def first_line(error: object) -> str:
    """The first line of an error's text; its kind if there is none."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def option(name: str, value: object = None) -> str:
    """An option in a message, as a mark that the output spells for its reader: see `spelt`.

    name: the keyword in Python; for an option of another question, preceded by its name and a dot.
    """
    return f"{MARK}{name}{'' if value is None else f'={value}'}{MARK}"


def spelt(text: str, spelling: Callable[[str, str | None], str]) -> str:
    """A text with its marks spelt out. spelling: function of an option's name and value.

    The language pair of a set without one is omitted.

    >>> spelt(f"take {option('unit', 'segment')}", lambda name, value: f"<{name}: {value}>")
    'take <unit: segment>'
    >>> in_python(f"metrics of dialogue {NO_LP} by|lp:{NO_LP}|seed:0")
    'metrics of dialogue by|seed:0'
    """
    text = without_lp(text)
    return _OPTION.sub(lambda found: spelling(found[1], found[2]), text) if MARK in text else text


def without_lp(text: str) -> str:
    """A text without the language pair of sets that have none."""
    return _WITHOUT_LP.sub("", text) if NO_LP in text else text


def of_any_task(text: str) -> str:
    """A sentence about translation, reworded for other tasks.

    >>> of_any_task("over 6 MT systems and 30 segments, by segment_mean")
    'over 6 systems and 30 items, by segment_mean'
    """
    return _WORD_OF_TRANSLATION.sub(lambda found: _OF_TRANSLATION[found[0]], text)


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
