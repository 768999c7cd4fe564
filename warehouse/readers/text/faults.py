"""Faults line by line: the first of each kind, and how many more lines have it."""

from collections.abc import Iterable, Sequence

from warehouse.errors import MOST_FAULTS, Fault
from warehouse.wording import counted


def first_faults(faults: Sequence[Fault], n: int) -> list[Fault]:
    """The first faults of one kind, and one for all further lines that have it.

    faults: those of the first lines at least. n: how many lines there are.
    >>> [str(fault) for fault in first_faults([Fault("a", 3, "no name", "one")], MOST_FAULTS + 2)]
    ['a:3: no name, expected one', 'a: 2 more lines: no name, expected one']
    """
    if n <= MOST_FAULTS:
        return [*faults]
    first, n_more = faults[0], n - MOST_FAULTS
    more = counted(n_more, "more such line") if first.kind else f"{counted(n_more, 'more line')}: {first.found}"
    others = Fault(first.path, 0, more, first.expected, first.way_out, first.kind or first.found, n_more)
    return [*faults[:MOST_FAULTS], others]


def of_each_kind(faults: Iterable[Fault]) -> list[Fault]:
    """The first faults of each kind, each with one for all further lines that have it; those of the whole file once.

    faults: of a file, or of its pieces one after the other, with what the pieces count themselves.
    """
    whole: dict[Fault, None] = {}
    first: dict[tuple[str, str, str], list[Fault]] = {}
    n_lines: dict[tuple[str, str, str], int] = {}
    for fault in faults:
        kind = fault.kind or fault.found, fault.expected, fault.way_out
        if fault.line == 0 and not (fault.n_more and kind in first):
            whole[fault] = None
            continue
        n_lines[kind] = n_lines.get(kind, 0) + (fault.n_more or 1)
        known = first.setdefault(kind, [])
        if not fault.n_more and len(known) < MOST_FAULTS:
            known.append(fault)
    return [*whole, *(fault for kind, known in first.items() for fault in first_faults(known, n_lines[kind]))]
