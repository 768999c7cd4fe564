"""Files that a command writes: never the warehouse, another output, or what the command reads."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cli.exit_codes import UsageError
from cli.render.output import check_target, is_file

_WRITTEN = {"output": "-o", "chart": "--chart", "texts": "--texts", "export": "--export"}
_READ = ("paths", "file", "with_file", "before", "after", "folder")
"""Parameters that name files or folders which a command reads."""


def check_targets(values: Mapping[str, Any], database: Path) -> None:
    """Look at the files that the options of a command name as outputs, before anything is computed.

    values: of all its parameters, by name. database: the warehouse.
    Raises UsageError: one is the warehouse, or any database; a file that the command reads, or below a folder that it
    reads; two are one; or one cannot be written.
    """
    targets = {flag: Path(values[name]) for name, flag in _WRITTEN.items() if is_file(values.get(name))}
    for flag, target in targets.items():
        place = target.resolve()
        if place == database.resolve():
            raise UsageError(f"{flag} {target}: it is the warehouse")
        for path in _read(values):
            if place == path or (place.exists() and path in place.parents):
                raise UsageError(f"{flag} {target}: the command reads it")
        check_target(target)
    if len({target.resolve() for target in targets.values()}) < len(targets):
        raise UsageError(f"{' and '.join(targets)} name one file")


def _read(values: Mapping[str, Any]) -> Iterator[Path]:
    """The files and folders that the command reads, links resolved."""
    for name in _READ:
        given = values.get(name)
        for one in given if isinstance(given, list | tuple) else [given]:
            if isinstance(one, str | Path):
                yield Path(one).resolve()
