"""Hints that name options are for commands that have these; another command's stand behind its name."""

import re
from collections.abc import Collection
from typing import Any

_OPTION = re.compile(r"(?P<before>[\w-]+ )?(?<![\w-])(?P<option>--[a-z][a-z-]*)")
_QUOTED = re.compile(r"`[^`]*`")  # a command line that names its command
_ALSO_BARE = frozenset({"rank"})  # commands that hints name without quotes


def options_of(command: Any) -> frozenset[str]:
    """All words for the options of a command of the command line's library."""
    return frozenset(word for one in command.params for word in (*one.opts, *one.secondary_opts))


def is_for(options: Collection[str], hint: str) -> bool:
    """Whether a hint is one for a command with these options.

    >>> is_for(["--own"], "included by --own"), is_for([], "included by --own")
    (True, False)
    >>> is_for([], "rank --explain says why"), is_for([], "`scorehouse rank sim24 en-de --own` includes it")
    (True, True)
    """
    return all(
        found["option"] in options or (found["before"] or "").strip() in _ALSO_BARE
        for found in _OPTION.finditer(_QUOTED.sub("", hint))
    )
