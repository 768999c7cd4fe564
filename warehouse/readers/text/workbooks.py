"""Workbooks looked at before they are opened: whole archives, of a size that memory can hold."""

import zipfile
import zlib
from io import BytesIO

MOST_UNPACKED = 1_000_000_000  # bytes of all parts together


def check_workbook(data: bytes) -> None:
    """Raises ValueError: a damaged archive, or one that holds too much."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            n_bytes = sum(part.file_size for part in archive.infolist())
            if n_bytes > MOST_UNPACKED:
                raise ValueError(f"it unpacks to {n_bytes} bytes, more than {MOST_UNPACKED}")
            if (damaged := archive.testzip()) is not None:
                raise ValueError(f"its part {damaged!r} does not match its checksum")
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise ValueError(f"not a complete archive: {error}") from error
