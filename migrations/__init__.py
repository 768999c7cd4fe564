"""The warehouse's data definition.

Tables: numbered SQL files, applied once each and in order, never edited once released. Views and macros: definitions,
recreated whenever their text changed.
"""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["VIEWS", "sql_files"]

VIEWS = 0
"""Number that the views and macros have among the migrations."""


def sql_files() -> list[tuple[int, str, str]]:
    """Every migration as (number, file name, SQL text), in ascending order of the number; the views and macros last.

    Raises ValueError: two files share a number, or the numbers leave a gap (a file was lost in packaging).
    >>> [number for number, _, _ in sql_files()][:2], sql_files()[-1][:2]
    ([1, 2], (0, 'views'))
    """
    return list(_read())


@cache
def _read() -> list[tuple[int, str, str]]:
    folder = files(__name__)
    found = [(name, folder.joinpath(name).read_text(encoding="utf-8")) for name in _names(folder)]
    numbers = [int(name[:4]) for name, _ in found]
    if numbers != list(range(1, len(found) + 1)):
        raise ValueError(f"migrations are numbered {numbers}, expected 1 to {len(found)} without gap or repeat")
    views = folder.joinpath("views")
    texts = "".join(views.joinpath(name).read_text(encoding="utf-8") for name in _names(views))
    return [*((number, *file) for number, file in zip(numbers, found, strict=True)), (VIEWS, "views", texts)]


def _names(folder: Traversable) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
