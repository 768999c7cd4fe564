"""The program that draws charts in a page: made by the report extra in seconds, so it is kept in the user's cache."""

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path

from cli.render.output import write

_MARK = "// sha256 "


def drawing_program() -> str:
    """JavaScript that defines `vegaEmbed`, for a page that needs no network.

    What the cache holds is taken if it is whole; where nothing can be kept, the program is made each time.
    """
    from importlib.metadata import version  # takes longer than a start should

    import vl_convert

    kept = _folder() / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        head, _, program = kept.read_text("utf-8").partition("\n")
        if program and head == _mark(program):
            return program
    program = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write(f"{_mark(program)}\n{program}", kept)
    return program


def _mark(program: str) -> str:
    return f"{_MARK}{hashlib.sha256(program.encode()).hexdigest()}"


def _folder() -> Path:
    """The user's cache folder of the platform."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "scorehouse"
