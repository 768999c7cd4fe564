"""Whether a text ends where its writer stopped: one that was cut may end in the middle of a number."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from warehouse.errors import Fault

_DECIMALS = re.compile(rb"[+-]?\d*\.(\d+)")
_MISSING = b"None"


def unterminated(pieces: Iterable[bytes], path: Path, *, is_counted: bool) -> Fault | None:
    """The fault of a text whose last line has no end; None where it has one, or shows that nothing is missing.

    That is a JSON object, which tells its own end; and where other files tell how many rows there are (is_counted), a
    last number with as many decimals as all others of the file have, or the word for a missing score.
    pieces: the text, cut at ends of lines.
    """
    n_lines, last = 0, b""
    decimals: set[int] = set()
    for piece in pieces:
        if b"\0" in piece:
            return None
        *others, last = piece.split(b"\n")
        n_lines += len(others)
        if is_counted:
            scores = (line.rpartition(b"\t")[2] for line in others)
            decimals.update(_n_decimals(score) for score in scores if score != _MISSING)
    if not last or _is_object(last) or (is_counted and _is_like_others(last, decimals)):
        return None
    return Fault(
        str(path),
        n_lines + 1,
        "the last line has no end, so that the file may be cut",
        "a line feed after the last line",
        "say --allow-unterminated if it is whole",
    )


def _is_object(line: bytes) -> bool:
    try:
        return line.startswith(b"{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_like_others(last: bytes, decimals: set[int]) -> bool:
    """Whether the last number of a score file has as many decimals as every other one, and at least one other has."""
    score = last.rpartition(b"\t")[2]
    return score == _MISSING or (len(decimals) == 1 and 0 not in decimals and _n_decimals(score) in decimals)


def _n_decimals(score: bytes) -> int:
    """Digits after the point; 0 where there are none, or where there is an exponent.

    >>> _n_decimals(b"-1.250"), _n_decimals(b"7"), _n_decimals(b"1.5e-7")
    (3, 0, 0)
    """
    found = _DECIMALS.fullmatch(score)
    return len(found[1]) if found else 0
