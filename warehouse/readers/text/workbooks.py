"""Workbooks looked at before they are opened: whole archives, of a size and with cells that memory can hold."""

import re
import zipfile
import zlib
from io import BytesIO

MOST_UNPACKED = 1_000_000_000  # bytes of all parts together
MOST_CELLS = 50_000_000  # of a sheet from its first corner to the last cell used: all of them are laid out
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_PLACE = re.compile(rb"""\sr\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CELL = re.compile(rb"([A-Z]{0,3})([0-9]{1,7})")
_PIECE = 1 << 20
_LONGEST_TAG = 4096  # bytes that two pieces share, so that no place is cut in two


def check_workbook(data: bytes) -> None:
    """Raises ValueError: a damaged archive, or one that holds too much, or cells too far away."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            n_bytes = sum(part.file_size for part in archive.infolist())
            if n_bytes > MOST_UNPACKED:
                raise ValueError(f"it unpacks to {n_bytes} bytes, more than {MOST_UNPACKED}")
            if (damaged := archive.testzip()) is not None:
                raise ValueError(f"its part {damaged!r} does not match its checksum")
            for part in archive.infolist():
                if _SHEET.fullmatch(part.filename):
                    _check_sheet(archive, part)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise ValueError(f"not a complete archive: {error}") from error


def _check_sheet(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    last_row = last_column = 0
    rest = b""
    with archive.open(part) as file:
        while piece := file.read(_PIECE):
            if b"\0" in piece:
                raise ValueError(f"its part {part.filename!r} is not text in UTF-8")
            piece = rest + piece
            for double, single in _PLACE.findall(piece):
                cell = _CELL.fullmatch(double or single)
                if cell is None:
                    raise ValueError(f"a cell at {(double or single)[:20]!r}")
                last_row, last_column = max(last_row, int(cell[2])), max(last_column, _column(cell[1]))
            rest = piece[-_LONGEST_TAG:]
    if last_row * last_column > MOST_CELLS:
        raise ValueError(f"cells up to row {last_row}, column {last_column}, more than {MOST_CELLS} in all")


def _column(letters: bytes) -> int:
    """Number of a column from 1 on; 0 without letters.

    >>> _column(b"A"), _column(b"XFD"), _column(b"")
    (1, 16384, 0)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number
