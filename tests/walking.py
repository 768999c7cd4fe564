"""Which functions of the project are called, in order."""

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

PACKAGES = ("cli", "metaeval", "queries", "warehouse", "migrations")
WALK = Path(__file__).parents[1] / "docs" / "walk.md"


def calls_of(act: Callable[[], object]) -> list[tuple[str, str]]:
    """Module and name of every call of a function of the project, in all threads; importing is no call."""
    found: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        is_ours = module.partition(".")[0] in PACKAGES and frame.f_code.co_filename != "<string>"
        if event == "call" and is_ours and name != "<module>":
            found.append((module, name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def steps_of(section: str) -> list[str]:
    """The modules that a section of docs/walk.md lists, in its order."""
    _, _, text = WALK.read_text(encoding="utf-8").partition(f"## {section}\n")
    return re.findall(r"^\| \d+ \| `([a-z_.0-9]+)`", text.partition("\n## ")[0], re.MULTILINE)


def passed(calls: list[tuple[str, str]], steps: list[str]) -> list[str]:
    """The steps that are passed one after the other, up to the first that is not reached from the one before."""
    modules = iter(module for module, _ in calls)
    return [step for step in steps if step in modules]


def first_entered(calls: list[tuple[str, str]], steps: list[str]) -> list[str]:
    """Those of the steps that were called, in the order of their first calls: for what several threads do."""
    return [module for module in dict.fromkeys(module for module, _ in calls) if module in steps]
