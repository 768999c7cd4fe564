"""The program that draws charts in a page. The report extra takes seconds to build it, so the user's cache keeps it."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from cli.render.output import write


def drawing_program() -> str:
    """JavaScript that defines `vegaEmbed`, for a page that needs no network.

    If the cache cannot be written, it is built each time.
    """
    from importlib.metadata import version  # takes longer than a start should

    import vl_convert

    kept = cache_folder() / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text("utf-8")
    program = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write(program, kept)
    return program


def cache_folder() -> Path:
    """The user's cache folder of the platform."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "scorehouse"
