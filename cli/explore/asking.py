"""Questions of the page: asked in a separate thread, which shows its progress and can be stopped."""

import atexit
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import marimo as mo
import polars as pl

from cli.explore.names import opened
from metaeval.python_api import answered
from metaeval.questions import question_named
from metaeval.results.answer import Answer
from metaeval.results.run import Run
from queries.adhoc import answer
from warehouse import WarehouseError
from warehouse.progress import Progress
from warehouse.temporary import temporary_folder

_KEPT = 64  # answers that are shown at once when they are requested again
_POLL_INTERVAL = 0.3  # seconds between looks at how far it is
Request = tuple[Callable[[Any], None], str, Mapping[str, Any]]
"""What gets the answer or the error, the name of the question, and its fields."""


_DROPPED = ExitStack()  # the folders of files that were dropped into the page
atexit.register(_DROPPED.close)


class StoppedError(Exception):
    """Nobody is waiting for the answer any more."""


class Asking:
    """Asks questions of a warehouse, which it only reads, and remembers the answers.

    is_waiting: whether to wait for each answer, as a page that is written to a file must.
    """

    def __init__(self, database: Path, *, is_waiting: bool = False) -> None:
        self.database, self.is_waiting = database, is_waiting
        self._n_stops = 0
        self._kept: OrderedDict[str, Answer[Any]] = OrderedDict()

    def answer(self, name: str, given: Mapping[str, Any], progress: Progress | None = None) -> Answer[Any]:
        """The answer of a question.

        Raises WarehouseError: as the question does.
        """
        key = f"{name} {sorted(given.items())!r} {self.database.stat().st_mtime_ns}"
        if key not in self._kept:
            run = Run(lambda: opened(self.database), None, progress)
            self._kept[key] = answered(question_named(name), dict(given), run)
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]

    def stop(self) -> None:
        """End what is being computed."""
        self._n_stops += 1

    def in_background(self, *asked: Request) -> None:
        """Ask questions one after the other, until one ends in an error.

        Ends when the cell that asked runs again, or by `stop`.
        """
        if self.is_waiting:
            self._ask(asked, lambda what, done, total: None)
            return
        mo.Thread(target=lambda: self._watched(asked)).start()

    def _watched(self, asked: tuple[Request, ...]) -> None:
        thread, shown, begun = mo.current_thread(), time.monotonic(), self._n_stops

        def advance(what: str, done: int, total: int) -> None:
            nonlocal shown
            if thread.should_exit or self._n_stops > begun:
                raise StoppedError
            if time.monotonic() - shown > _POLL_INTERVAL:
                shown = time.monotonic()
                mo.output.replace(mo.plain_text(f"{what} {f'{done / total:.0%}' if total else ''}"))

        try:
            mo.output.replace(mo.plain_text("computing …"))
            self._ask(asked, advance)
        except StoppedError:
            mo.output.replace(mo.plain_text("stopped"))
            return
        except Exception:
            mo.output.replace(mo.plain_text("failed; the terminal of `scorehouse explore` says why"))
            raise
        if not thread.should_exit:
            mo.output.clear()

    def _ask(self, asked: tuple[Request, ...], advance: Progress) -> None:
        for put, name, given in asked:
            try:
                found: Answer[Any] | WarehouseError = self.answer(name, given, advance)
            except WarehouseError as error:
                found = error
            advance(name, 1, 1)  # the page may have stopped waiting
            put(found)
            if isinstance(found, WarehouseError):
                return

    def sql(self, query: str) -> pl.DataFrame | WarehouseError:
        """The rows of a query, under the limits of `scorehouse sql`; or the error."""
        try:
            return answer(self.database, query)
        except WarehouseError as error:
            return error


def own_file(name: str, content: bytes) -> Path:
    """A file that was dropped into the page, saved under its own name in a new folder."""
    path = _DROPPED.enter_context(temporary_folder()) / Path(name).name
    path.write_bytes(content)
    return path
