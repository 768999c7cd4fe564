"""Which functions of the project are called, in order."""

import sys
import threading
from collections.abc import Callable
from types import FrameType

PACKAGES = ("cli", "metaeval", "queries", "warehouse", "migrations")


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
