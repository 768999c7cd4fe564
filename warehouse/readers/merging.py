"""Faults that were found in the pieces of a file, as if it had been read whole."""

import re
from collections.abc import Iterable
from dataclasses import replace

from warehouse.errors import MOST_FAULTS, Fault
from warehouse.readers.text.json_lines import ONE_OBJECT

_MORE = re.compile(r"(?P<n>\d+) more (?P<what>such lines|lines: .*)")
_TOLD_AGAIN = ("no ", "language pair ", "an unknown level", "a segment number ")  # of `Records.normal`


def merged(pieces: Iterable[Iterable[Fault]]) -> list[Fault]:
    """The first faults of each kind, and how many more lines have it; those of the whole file once.

    pieces: the faults of each piece, in the order of the file.
    """
    whole: dict[Fault, None] = {}
    first: dict[tuple[str, str, str], list[Fault]] = {}
    n_more: dict[tuple[str, str, str], int] = {}
    template: dict[tuple[str, str, str], Fault] = {}
    for faults in pieces:
        last: tuple[str, str, str] | None = None
        for fault in faults:
            more = _MORE.fullmatch(fault.found)
            if fault.line == 0 and more is None:
                whole[fault] = None
            elif more is None:
                last = _kind(fault)
                known = first.setdefault(last, [])
                if len(known) < MOST_FAULTS:
                    known.append(fault)
                else:
                    n_more[last] = n_more.get(last, 0) + 1
            elif last is not None:  # it follows the lines that it counts
                n_more[last] = n_more.get(last, 0) + int(more["n"])
                template[last] = replace(fault, found=more["what"])
    found = list(whole)
    for kind, faults in first.items():
        found += faults
        if n := n_more.get(kind, 0):
            same = f"lines: {faults[0].found}" if kind[0].startswith(_TOLD_AGAIN) else "such lines"
            words = template.get(kind, replace(faults[0], line=0, found=same))
            found.append(replace(words, found=f"{n} more {words.found}"))
    return found


def _kind(fault: Fault) -> tuple[str, str, str]:
    """What faults of one kind have in common, whatever stands in their lines."""
    if fault.expected == ONE_OBJECT:
        return "", fault.expected, fault.way_out
    found = re.sub(r"^\d+ columns$|^a blank line$", "columns", fault.found)
    return found.split("'")[0].split('"')[0], fault.expected, fault.way_out
