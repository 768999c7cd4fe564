"""Faults that were found in the pieces of a file, as if it had been read whole."""

from collections.abc import Iterable

from warehouse.errors import MOST_FAULTS, Fault, first_faults


def merged(pieces: Iterable[Iterable[Fault]]) -> list[Fault]:
    """The first faults of each kind, and how many more lines have it; those of the whole file once.

    pieces: the faults of each piece, in the order of the file.
    """
    whole: dict[Fault, None] = {}
    first: dict[tuple[str, str], list[Fault]] = {}
    n_lines: dict[tuple[str, str], int] = {}
    for fault in (fault for faults in pieces for fault in faults):
        kind = fault.kind or fault.found, fault.way_out
        if fault.line == 0 and not fault.n_more:
            whole[fault] = None
            continue
        n_lines[kind] = n_lines.get(kind, 0) + (fault.n_more or 1)
        known = first.setdefault(kind, [])
        if not fault.n_more and len(known) < MOST_FAULTS:
            known.append(fault)
    return [*whole, *(fault for kind, faults in first.items() for fault in first_faults(faults, n_lines[kind]))]
