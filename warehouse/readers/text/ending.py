"""Whether a text ends where its writer stopped: one that was cut may end in the middle of a number."""

import json
import re
from pathlib import Path

from warehouse.errors import Fault

_DECIMALS = re.compile(rb"[+-]?\d*\.(\d+)")
_MISSING = b"None"


def unterminated(data: bytes, path: Path, *, is_counted: bool) -> Fault | None:
    """The fault of a text whose last line has no end; None where it has one, or shows that nothing is missing.

    That is a JSON object, which tells its own end; and where other files tell how many rows there are (is_counted), a
    last number with as many decimals as all others of the file have, or the word for a missing score.
    """
    if not data or data.endswith(b"\n") or b"\0" in data:
        return None
    lines = data.split(b"\n")
    if _is_object(lines[-1]) or (is_counted and _is_like_others(lines)):
        return None
    return Fault(
        str(path),
        len(lines),
        "the last line has no end, so that the file may be cut",
        "a line feed after the last line",
        "fetch it again, or say --allow-unterminated if it is whole",
    )


def _is_object(line: bytes) -> bool:
    try:
        return line.startswith(b"{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_like_others(lines: list[bytes]) -> bool:
    """Whether the last number of a score file has as many decimals as every other one, and at least one other has."""
    *others, last = (line.rpartition(b"\t")[2] for line in lines)
    if last == _MISSING:
        return True
    decimals = {_n_decimals(score) for score in others if score != _MISSING}
    return len(decimals) == 1 and 0 not in decimals and _n_decimals(last) in decimals


def _n_decimals(score: bytes) -> int:
    """Digits after the point; 0 where there are none, or where there is an exponent.

    >>> _n_decimals(b"-1.250"), _n_decimals(b"7"), _n_decimals(b"1.5e-7")
    (3, 0, 0)
    """
    found = _DECIMALS.fullmatch(score)
    return len(found[1]) if found else 0
