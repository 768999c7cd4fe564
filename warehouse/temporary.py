"""Temporary folders; those of a killed process are removed by the next run of the same user."""

import contextlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_NAME = re.compile(r"\.?(scorehouse|unpacking)-(\d+)-\w{8}")
_LONG = 7 * 86_400.0  # seconds; another process, or a container, may have the number of one that is gone


@contextlib.contextmanager
def temporary_folder(name: str = "scorehouse", within: Path | None = None) -> Iterator[Path]:
    """A folder that is removed at the end of the block, or at a later run if the process is killed.

    within: parent folder; by default the system's folder for temporary files.
    """
    remove_left_folders(within)
    prefix = f"{name}-{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=within, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def remove_left_folders(within: Path | None = None) -> None:
    """Remove folders of ended processes, and those older than a week; nothing if that cannot be determined."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir() if within is None else within) as entries:
        for entry in entries:
            ours = _NAME.fullmatch(entry.name)
            if ours is not None and (_is_gone(int(ours[2])) or time.time() - entry.stat().st_mtime > _LONG):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_gone(process: int) -> bool:
    if sys.platform == "win32":  # there, asking would end it
        return False
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False
