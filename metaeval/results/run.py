"""How a question is answered.

Light: every question imports it, also to print a help.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from warehouse.errors import QuestionError

if TYPE_CHECKING:
    from warehouse import Warehouse
    from warehouse.progress import Progress


@dataclass(frozen=True)
class Run:
    """How a question is answered; no setting here changes a number.

    opened: gives the warehouse, open for reading. database: the file that keeps results; None keeps none.
    progress: called with the current step. for_reading: only the answer's rows for reading are shown, so that nothing
    else need be computed. opened_groups: the evaluation sets of a folder, a group at a time.
    workers: does what `each` does on other machines.
    """

    opened: "Opener"
    database: Path | None = None
    progress: "Progress | None" = None
    for_reading: bool = False
    opened_groups: "Callable[[Sequence[Place]], Iterator[OpenedGroup]] | None" = None
    workers: "Workers | None" = None

    def each(
        self,
        work: "Work[R]",
        places: "Sequence[Place]",
        what: str = "",
        *,
        is_storing: bool = False,
        seconds: float = math.inf,
    ) -> "Iterator[R | QuestionError]":
        """What is computed from each evaluation set by itself, or why nothing is, in their order; here or on workers.

        work: it travels, so it is a function of a module, a method of a question, or a `partial` of one; what it
        returns should be small. what: it does, for progress. is_storing: it stores results, for which the warehouse
        must be closed. seconds: after these the warehouse is closed between two places, so that others can write, and
        the results so far follow while it is closed.
        """
        if self.workers is not None:
            yield from self.workers(work, places, what, self.progress)
            return
        n = len(places)
        if self.opened_groups is None and self.database is not None and seconds < math.inf:
            yield from self._opened_for(seconds, work, places, what)
        elif self.opened_groups is None:
            is_closed = is_storing and self.database is not None
            with nullcontext() if is_closed else self.opened() as warehouse:
                run = self if warehouse is None else self._within(warehouse)
                yield from run._done(work, places, what, 0, n)
        else:
            start = 0
            for group, narrowed in self.opened_groups(places):
                with narrowed as warehouse:
                    found = list(self._within(warehouse)._done(work, group, what, start, n))
                start += len(group)
                yield from found  # they are closed by now, also if whoever asked goes no further
        if what and self.progress is not None:
            self.progress(what, n, n)

    def _opened_for(
        self, seconds: float, work: "Work[R]", places: "Sequence[Place]", what: str
    ) -> "Iterator[R | QuestionError]":
        start = 0
        while start < len(places):
            found, end = [], time.monotonic() + seconds
            with self.opened() as warehouse:
                for one in self._within(warehouse)._done(work, places[start:], what, start, len(places)):
                    found.append(one)
                    if time.monotonic() > end:
                        break
            start += len(found)
            yield from found

    def _within(self, warehouse: "Warehouse") -> "Run":
        """The run on a warehouse that is already open, and stays open."""
        return replace(self, opened=lambda: nullcontext(warehouse), opened_groups=None)

    def _done(
        self, work: "Work[R]", places: "Sequence[Place]", what: str, first: int, n: int
    ) -> "Iterator[R | QuestionError]":
        """The work on places, of which the first is one of n by this number."""
        for number, (testset, lp) in enumerate(places, first):
            if what and self.progress is not None:
                self.progress(f"{what} of {testset} {lp}", number, n)
            try:
                yield work(self, testset, lp)
            except QuestionError as error:
                yield error


R = TypeVar("R")
Opener = Callable[[], AbstractContextManager["Warehouse"]]
Place = tuple[str, str]
"""A test set and a language pair, or "all" of them."""
OpenedGroup = tuple[list[Place], "AbstractContextManager[Warehouse]"]
Work = Callable[[Run, str, str], R]
"""Computes something from one evaluation set."""
Workers = Callable[[Work[Any], Sequence[Place], str, "Progress | None"], Iterator[Any]]
