"""Opens evaluation sets for questions, from a warehouse file or exported Parquet.

Light: the reader of exports is imported only for a folder.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache
from pathlib import Path

from warehouse import Warehouse
from warehouse.database.buckets import located
from warehouse.grouping import grouped

Opener = Callable[[], AbstractContextManager[Warehouse]]
Evalsets = Collection[tuple[str, str]]
"""Pairs of test set and language pair."""


_MOST_READ = 1 << 25  # evaluation sets times their scores: a query about one of them goes through those of all


def groups(folder: Path, places: Sequence[tuple[str, str]], most: int | None = None) -> Iterator[list[tuple[str, str]]]:
    """Places of an export as they are opened together, in their order: several small ones, or a large one.

    most: places of a group; None for any number. Opening takes as long for many small ones as for one.
    """
    from warehouse.export.opening import exported_evalsets

    n_scores: dict[tuple[str, str], int] = {}
    for (testset, lp), partition in exported_evalsets(located(folder)).items():
        n = partition.files["score"].rows if "score" in partition.files else 0
        for place in ((testset, lp), (testset, "all")):
            n_scores[place] = n_scores.get(place, 0) + n
    return grouped(places, lambda one: n_scores.get(one, 0), lambda n, size: n > (most or n) or n * size > _MOST_READ)


def opened_groups(
    opened: Opener, places: Sequence[tuple[str, str]]
) -> Iterator[tuple[list[tuple[str, str]], AbstractContextManager[Warehouse]]]:
    """Each of `groups` of an export that is opened whole, and the export narrowed to it."""
    with opened() as warehouse:
        for group in groups(warehouse.path, places):
            yield group, warehouse.narrowed(group)


@contextlib.contextmanager
def opening(
    place: Path, evalsets: Callable[[Evalsets], Evalsets | None] = sorted, is_export: bool | None = None
) -> Iterator[Opener]:
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
    from warehouse.export.opening import open_export

    with ExitStack() as stack:

        @cache
        def export() -> Warehouse:
            return stack.enter_context(open_export(place, evalsets))

        yield lambda: nullcontext(export())
