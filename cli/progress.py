"""Progress on stderr for what takes longer than a moment; nothing where nobody watches."""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli.render.cells import one_line

if TYPE_CHECKING:
    from warehouse.progress import Progress


@contextlib.contextmanager
def progress(quiet: bool) -> "Iterator[Progress]":
    """A bar with the time left; the function takes what is being done, how much is done, and how much there is.

    Where less is done than before, something else has begun, and its time is counted from there.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def advance(what: str, done: int, total: int) -> None:
            if done < bar.tasks[0].completed:
                bar.reset(task)
            bar.update(task, description=one_line(what), completed=done, total=total or None)

        yield advance
