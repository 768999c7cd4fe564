"""The folder of a site: a new or empty one, or that of an earlier site, whose own files alone are replaced."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from cli.exit_codes import UsageError
from warehouse.temporary import temporary_folder

MARKER = "scorehouse-site.json"
"""Lists every file of the site."""


def check_folder(folder: Path) -> None:
    """Raises UsageError: it is a file, contains a file that no site wrote, or cannot be written."""
    if folder.is_symlink() and not folder.exists():
        raise UsageError(f"{folder}: a link to nothing; name a new or empty folder")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: a file, expected a folder")
    if not folder.parent.is_dir():
        raise UsageError(f"{folder}: there is no folder {str(folder.parent)!r}")
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        raise UsageError(f"{folder}: can't write in {str(folder.parent)!r}, which the site needs for temporary files")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise UsageError(f"{folder}: holds other files; name a new or empty folder, or that of an earlier site")


@contextmanager
def fresh_site(folder: Path) -> Iterator[Path]:
    """A temporary folder next to the target; at the end its files move there, and files of an older site are removed.

    Other files, such as those of version control, stay. If the block fails, nothing has changed.
    Raises UsageError: see `check_folder`; a file that no site wrote, or a link, is in the way.
    """
    check_folder(folder)
    with temporary_folder(within=folder.resolve().parent) as fresh:
        yield fresh
        before = _listed(folder)
        files = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file())
        _check_places(folder, files, before)
        folder.mkdir(exist_ok=True)
        (folder / MARKER).write_text(_marker({*files, *before}), encoding="utf-8")
        for name in files:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).replace(target)
        for name in sorted(before - {*files, MARKER}, reverse=True):
            with suppress(OSError):
                (folder / name).unlink()
                (folder / name).parent.rmdir()  # an error where anything is left in it
        (folder / MARKER).write_text(_marker({*files}), encoding="utf-8")


def _marker(files: set[str]) -> str:
    return json.dumps({"made_by": "scorehouse site", "files": sorted(files - {MARKER})}, indent=0) + "\n"


def _listed(folder: Path) -> set[str]:
    """The files that an earlier site lists as its own, except any outside the folder or behind a link."""
    try:
        names = json.loads((folder / MARKER).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, LookupError, TypeError):
        return set()
    return {name for name in names if isinstance(name, str) and _is_inside(name) and _is_plain(folder, name)}


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\\" not in name


def _is_plain(folder: Path, name: str) -> bool:
    """Whether no part of the path to a file is a link that leads elsewhere."""
    path = folder / name
    ways = [path, *path.parents][: len(PurePosixPath(name).parts)]
    return not any(one.is_symlink() for one in ways)


def _check_places(folder: Path, files: list[str], before: set[str]) -> None:
    """Raises UsageError: a file that no site wrote, or a link, is in the way."""
    for name in files:
        target = folder / name
        is_free = _is_plain(folder, name) and (not target.exists() or name in before)
        if not is_free:
            raise UsageError(f"{target}: is in the way, and no site wrote it; move it, or name another folder")
