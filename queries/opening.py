"""Opens evaluation sets for questions, from a warehouse file or exported Parquet.

Light: the reader of exports is imported only for a folder.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache
from pathlib import Path

from warehouse import Warehouse
from warehouse.database.buckets import located

Evalsets = Collection[tuple[str, str]]
"""Pairs of test set and language pair."""


def _all(there: Evalsets) -> None:
    """All evaluation sets of a folder."""


def opening_some(
    folder: Path, places: Evalsets
) -> AbstractContextManager[Callable[[], AbstractContextManager[Warehouse]]]:
    """`opening` of some evaluation sets of an export; the language pair "all" names those of a test set."""
    return opening(folder, lambda there: [one for one in there if {one, (one[0], "all")} & {*places}], is_export=True)


@contextlib.contextmanager
def opening(
    place: Path, evalsets: Callable[[Evalsets], Evalsets | None] = _all, is_export: bool | None = None
) -> Iterator[Callable[[], AbstractContextManager[Warehouse]]]:
    """A function that opens a warehouse for questions: a file on every call, so that others may write; an export once.

    What was asked of a file once remains known until it changes.
    evalsets: those of an export that the question may need; None: all. is_export: None for every folder.
    """
    place = located(place)
    if not (place.is_dir() if is_export is None else is_export):
        last: list[Warehouse] = []

        def file() -> Warehouse:
            last[:] = [last[0].opened_again() if last else Warehouse.open(place)]
            return last[0]

        yield file
        return
    from warehouse.export.opening import exported_evalsets, open_export

    with ExitStack() as stack:

        @cache
        def export() -> Warehouse:
            return stack.enter_context(open_export(place, evalsets(exported_evalsets(place))))

        yield lambda: nullcontext(export())
