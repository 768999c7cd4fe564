"""Options that messages name, as the command line spells them; another command's stand behind its name."""

from collections.abc import Collection
from typing import Any

from warehouse.wording import spelt

_FLAGS = {
    "human_references": "with-human-references",
    "is_error_measure": "lower-is-better",
    "may_lack_end": "allow-unterminated",
    "most_unpacked": "max-unpacked",
    "source": "from",
}
_VALUES = {  # keywords whose values have a flag each
    ("only", "reference-based"): "reference-based",
    ("outliers", "mad"): "mad-outliers",
    ("outliers", "none"): "with-outliers",
}


def flag(name: str, value: str | None = None) -> str:
    """An option as it is written behind its command.

    >>> flag("own", "True"), flag("system_score", "mean"), flag("rank.explain", "True"), flag("outliers", "none")
    ('--own', '--system-score mean', 'rank --explain', '--with-outliers')
    """
    command, _, name = name.rpartition(".")
    if alone := _VALUES.get((name, value or "")):
        name, value = alone, None
    words = (command, f"--{_FLAGS.get(name, name.replace('_', '-'))}", "" if value == "True" else value)
    return " ".join(word for word in words if word)


def in_flags(text: str) -> str:
    """A message as the command line shows it."""
    return spelt(text, flag)


def options_of(command: Any) -> frozenset[str]:
    """All words for the options of a command of the command line's library."""
    return frozenset(word for one in command.params for word in (*one.opts, *one.secondary_opts))


def is_for(options: Collection[str], hint: str) -> bool:
    """Whether a hint is one for a command with these options.

    >>> from warehouse.wording import option
    >>> own, explain = option("own", True), option("rank.explain", True)
    >>> is_for(["--own"], f"included by {own}"), is_for([], f"included by {own}"), is_for([], f"{explain} lists all")
    (True, False, True)
    """
    named: list[str] = []

    def see(name: str, value: str | None) -> str:
        named.append(flag(name, value).split()[0])
        return ""

    spelt(hint, see)
    return all(word in options for word in named if word.startswith("--"))
