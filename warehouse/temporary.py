"""Temporary folders: what a killed process left behind is removed by the next run of the same user."""

import contextlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_NAME = re.compile(r"\.?(scorehouse|unpacking)-\d+-\w{8}")
_MARK = ".in-use"
_SETTLED = 60.0  # seconds after which a folder without a mark is none that is just being made


@contextlib.contextmanager
def temporary_folder(name: str = "scorehouse", within: Path | None = None) -> Iterator[Path]:
    """A folder that is gone at the end of the block; where the process is killed, at the next run.

    The process keeps a lock on a file in it, which the system takes away with the process, however that ends: so a
    process that runs is told from one that is gone, also where its number is in use again or belongs to a container.
    within: where the folder is made; by default where temporary files belong.
    """
    remove_left_folders(within)
    with (
        tempfile.TemporaryDirectory(prefix=f"{name}-{os.getpid()}-", dir=within, ignore_cleanup_errors=True) as folder,
        _in_use(Path(folder)),
    ):
        yield Path(folder)


def remove_left_folders(within: Path | None = None) -> None:
    """Remove the folders of processes of this user that are gone; nothing where that cannot be told."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir() if within is None else within) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                _remove_if_left(Path(entry.path))


@contextlib.contextmanager
def _in_use(folder: Path) -> Iterator[None]:
    """Mark a folder for the time of the block; the mark is there once it is locked."""
    fresh = folder / f"{_MARK}.new"
    with fresh.open("wb") as file:
        if sys.platform != "win32":  # there, a file that is open cannot be removed
            fcntl.flock(file, fcntl.LOCK_EX)
            fresh.rename(folder / _MARK)
        yield


def _remove_if_left(folder: Path) -> None:
    with contextlib.suppress(OSError):
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or (sys.platform != "win32" and found.st_uid != os.getuid()):
            return
        if sys.platform == "win32" or not (folder / _MARK).exists():
            if abs(time.time() - found.st_mtime) > _SETTLED:
                (folder / f"{_MARK}.new").unlink(missing_ok=True)
                shutil.rmtree(folder, ignore_errors=True)
            return
        with (folder / _MARK).open("rb") as mark:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error where it is in use
            shutil.rmtree(folder, ignore_errors=True)
