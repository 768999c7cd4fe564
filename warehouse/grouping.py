"""Small things that are done together, and large ones alone."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def grouped(
    items: Iterable[Item], size: Callable[[Item], float], is_too_large: Callable[[int, float], bool]
) -> Iterator[list[Item]]:
    """The items in their order, as many at a time as a group may have, but at least one.

    is_too_large: of a group, by the number and the size of its items.

    >>> [*grouped("aabbbbc", lambda letter: 4 if letter == "b" else 1, lambda n, size: n > 3 or size > 5)]
    [['a', 'a'], ['b'], ['b'], ['b'], ['b', 'c']]
    """
    group: list[Item] = []
    total = 0.0
    for item in items:
        total += size(item)
        if group and is_too_large(len(group) + 1, total):
            yield group
            group, total = [], size(item)
        group.append(item)
    if group:
        yield group
