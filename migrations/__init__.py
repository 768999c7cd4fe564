"""The warehouse's data definition: numbered SQL files, applied once each and in order, never edited afterwards."""

from functools import cache
from importlib.resources import files

__all__ = ["sql_files"]


def sql_files() -> list[tuple[int, str, str]]:
    """Every migration as (number, file name, SQL text), in ascending order of the number.

    Raises ValueError: two files share a number, or the numbers leave a gap (a file was lost in packaging).
    >>> [number for number, _, _ in sql_files()][:2]
    [1, 2]
    """
    return list(_read())


@cache
def _read() -> list[tuple[int, str, str]]:
    found = sorted(
        (int(entry.name[:4]), entry.name, entry.read_text(encoding="utf-8"))
        for entry in files(__name__).iterdir()
        if entry.name.endswith(".sql")
    )
    numbers = [number for number, _, _ in found]
    if numbers != list(range(1, len(found) + 1)):
        raise ValueError(f"migrations are numbered {numbers}, expected 1 to {len(found)} without gap or repeat")
    return found
