"""How a question is answered."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warehouse import Warehouse
    from warehouse.progress import Progress


@dataclass(frozen=True)
class Run:
    """How a question is answered; nothing of it changes a number.

    opened: gives the warehouse, open for reading. database: the file that keeps results; None keeps none.
    progress: told what is being done.
    """

    opened: "Callable[[], AbstractContextManager[Warehouse]]"
    database: Path | None = None
    progress: "Progress | None" = None
