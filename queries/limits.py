"""Limits of a user's own SQL, shared by its process and the process that watches it."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from warehouse.wording import option

LONGEST = 1_000_000  # seconds that a query may be given
MARGIN = 160 * 1024**2  # bytes that libraries and buffers of the process take beside the query's memory
RESERVED = 512 * 1024**2  # bytes of address space that stacks and allocators take, most of it never used
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_LEAST = 1024**2
MORE_MEMORY = f"{option('memory')} raises the memory limit"


@dataclass(frozen=True)
class Request:
    """A query, its warehouse, and its limits: memory and spill in bytes, timeout in seconds.

    file: path and format of the file that receives the rows instead of the caller.
    """

    path: Path
    query: str
    parameters: dict[str, object]
    timeout: float
    memory: int
    spill: int
    max_rows: int | None
    folder: str
    parent: int = field(default=0)
    file: tuple[Path, str] | None = None


def size(text: str, what: str) -> int:
    """Number of bytes from text such as 4GB.

    Raises QuestionError: not a size, or less than 1 MB.
    >>> size("4GB", "memory"), size("1.5 MiB", "memory")
    (4000000000, 1572864)
    """
    from warehouse import QuestionError  # later, since the process of a query starts before

    found = _SIZE.fullmatch(text)
    if found is None:
        raise QuestionError(f"{what} limit {text!r}: no size, expected one such as 500MB or 4GB")
    base = 1024 if found[3] else 1000
    n_bytes = int(float(found[1]) * base ** ("kmgt".index(found[2].lower()) + 1 if found[2] else 0))
    if n_bytes < _LEAST:
        raise QuestionError(f"{what} limit {text!r}: too small, expected at least 1MiB")
    return n_bytes


def address_space(process: int) -> int:
    """Bytes of a process's address space; 0 if the system does not report it."""
    return _pages(process, 0)


def memory_in_use(process: int) -> int:
    """Resident bytes of a process; 0 if the system does not report them, or the process has ended."""
    return _pages(process, 1)


def _pages(process: int, place: int) -> int:
    try:
        import resource

        return int(Path(f"/proc/{process}/statm").read_text().split()[place]) * resource.getpagesize()
    except (ImportError, OSError, IndexError):
        return 0


def room(folder: str) -> int:
    """Bytes of the files in a folder and its subfolders, which may disappear meanwhile."""
    total = 0
    for path in Path(folder).rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size
    return total
