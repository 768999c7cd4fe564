"""Options that messages name, as the command line spells them; options of another command follow its name."""

import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from warehouse.wording import spelt

_FLAGS = {  # of commands that are no questions
    "is_error_measure": "--lower-is-better",
    "has_inclusive_ends": "--inclusive-ends",
    "may_lack_end": "--allow-unterminated",
    "source": "--from",
}


def dashed(word: str) -> str:
    """A flag: with two dashes, or one before a letter.

    >>> dashed("user-metrics"), dashed("m")
    ('--user-metrics', '-m')
    """
    return f"--{word}" if len(word) > 1 else f"-{word}"


@cache
def generated() -> Mapping[str, Mapping[str, Any]]:
    """Facts on all commands that `python -m docs.generate` writes, so that a help or a note need not import them.

    summaries: of each command. flags: spelling of options whose flag is not their name. renamed: options of the
    previous version, with their new names; the first that a command has is meant.
    """
    found: Mapping[str, Mapping[str, Any]] = json.loads(Path(__file__).with_name("commands.json").read_text("utf-8"))
    return found


def flag(name: str, value: str | None = None) -> str:
    """An option as it is written after its command.

    >>> flag("user_metrics", "True"), flag("system_score", "mean"), flag("rank.explain", "True"), flag("reference", "B")
    ('--user-metrics', '--system-score mean', 'rank --explain', '--ref B')
    """
    command, _, name = name.rpartition(".")
    written = _FLAGS.get(name) or generated()["flags"].get(name) or dashed(name.replace("_", "-"))
    words = (command, written, "" if value == "True" else value)
    return " ".join(word for word in words if word)


def in_flags(text: str) -> str:
    """A message as the command line shows it."""
    return spelt(text, flag)


def options_of(command: Any) -> frozenset[str]:
    """All words for the options of a command of the command line's library."""
    return frozenset(word for one in command.params for word in (*one.opts, *one.secondary_opts))


def is_for(options: Collection[str], hint: str) -> bool:
    """Whether a hint suits a command with these options.

    >>> from warehouse.wording import option
    >>> own, explain = option("user_metrics", True), option("rank.explain", True)
    >>> [is_for(flags, f"included by {own}") for flags in (["--user-metrics"], [])], is_for([], f"{explain} lists all")
    ([True, False], True)
    """
    named: list[str] = []

    def see(name: str, value: str | None) -> str:
        named.append(flag(name, value).split()[0])
        return ""

    spelt(hint, see)
    return all(word in options for word in named if word.startswith("--"))
