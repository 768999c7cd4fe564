"""How a question is answered.

Light: every question imports it, also to print a help.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warehouse import Warehouse
    from warehouse.progress import Progress


@dataclass(frozen=True)
class Run:
    """How a question is answered; no setting here changes a number.

    opened: gives the warehouse, open for reading. database: the file that keeps results; None keeps none.
    progress: called with the current step. for_reading: only the answer's rows for reading are shown, so that nothing
    else need be computed. workers: asks a question about several evaluation sets on other machines; gives answers, or
    errors, in their order.
    """

    opened: "Callable[[], AbstractContextManager[Warehouse]]"
    database: Path | None = None
    progress: "Progress | None" = None
    for_reading: bool = False
    workers: "Callable[[Any, Sequence[tuple[str, str]], Progress | None], Iterator[Any]] | None" = None

    @contextmanager
    def kept_open(self, *, is_storing: bool) -> "Iterator[Run]":
        """The run with the warehouse opened once for many evaluation sets; once for each if results are stored."""
        if is_storing and self.database is not None:
            yield self
            return
        with self.opened() as warehouse:
            yield replace(self, opened=lambda: nullcontext(warehouse))
