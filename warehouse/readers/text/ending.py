"""Whether a text ends where its writer stopped: one that was cut may end in the middle of a number."""

import json
from collections.abc import Iterable
from pathlib import Path

from warehouse.errors import Fault
from warehouse.wording import option


def unterminated(pieces: Iterable[bytes], path: Path) -> Fault | None:
    """The fault of a text whose last line has no end; None where it has one, or is a JSON object, which shows its own.

    pieces: the text, cut at ends of lines.
    """
    n_lines, last = 0, b""
    for piece in pieces:
        if b"\0" in piece:
            return None
        n_lines += piece.count(b"\n")
        last = piece.rpartition(b"\n")[2]
    if not last or _is_object(last):
        return None
    return Fault(
        str(path),
        n_lines + 1,
        "the last line has no end, so that the file may be cut",
        "a line feed after the last line",
        f"fetch it again, or say {option('may_lack_end', True)} if it is whole",
    )


def _is_object(line: bytes) -> bool:
    try:
        return line.startswith(b"{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
