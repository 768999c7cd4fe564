"""Options that messages name, as the command line spells them; options of another command follow its name."""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.wording import counted, spelt

if TYPE_CHECKING:
    from warehouse.errors import Fault

MOST_LINES = 20  # faults named on the terminal

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


def fault_lines(
    faults: "Sequence[Fault]", options: Collection[str], n_shown: int | None = MOST_LINES, more: str = ""
) -> list[str]:
    """A line for each of the first faults, and one on how many more there are. n_shown: None for all.

    A fault that represents further lines is shown, even beyond this number, if another of its file is. A way out that
    names options that the command does not have is omitted. more: how to see the others.
    """
    from warehouse.errors import in_order

    shown = [fault for fault in faults if not fault.n_more][:n_shown]
    paths = {fault.path for fault in shown}
    further = [fault for fault in faults if fault.n_more and (n_shown is None or fault.path in paths)]
    lines = [
        f"error: {one.text if is_for(options, one.way_out) else one.without_way_out}"
        for one in in_order([*shown, *further])
    ]
    n_left = len(faults) - len(shown) - len(further)
    return [*lines, *([f"error: {counted(n_left, 'more fault')}{more}"] if n_left else [])]


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
