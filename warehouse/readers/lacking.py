"""What a file that no reader takes lacks to be one that is near, as far as its first lines show."""

from collections.abc import Sequence
from pathlib import Path

from warehouse.readers.claims import Given
from warehouse.readers.text.named_columns import ERRORS, columns_of, header_of
from warehouse.readers.text.quoted import quoted_cells
from warehouse.readers.tool_outputs import NO_SYSTEM, form_of, is_number, is_with_texts
from warehouse.wording import option

UNKNOWN_FORMAT = "not a known score format"
_ADD = f"`scorehouse add FILE {option('metric', 'NAME')}` takes it for a metric of your own"
NUMBERS_ALONE = "it has numbers alone, which name no system"
NO_NAMES = "systems and scores without names of columns; name the file METRIC.seg.score or METRIC.sys.score"


def lack_of(path: Path, head: Sequence[str], given: Given) -> str:
    """The reason why nobody reads a file."""
    lack = _lack(path, head, given)
    return NO_SYSTEM if lack == NO_SYSTEM else f"{UNKNOWN_FORMAT}: {lack}"


def _lack(path: Path, head: Sequence[str], given: Given) -> str:
    if not head:
        parquet = header_of(path, head, system="")
        return "no text" if parquet is None else NO_SYSTEM if given.is_own else "Parquet without a column system"
    form = form_of(path, head)
    if not given.is_own and (form == "printed" or (form == "document" and is_with_texts(path, head))):
        return f"what a metric's program writes; {_ADD}"
    if not given.is_own and form == "list":
        return f"numbers alone; {_ADD}"
    header = columns_of(path, head)
    if header is None:
        is_json = head[0].lstrip()[:1] in ("{", "[")
        return "JSON that is not one object a line" if is_json else "text without columns"
    if header.form == "json":
        what = "JSON lines without a key"
    else:
        rows = [quoted_cells(line, header.separator) for line in head[:-1] or head if line.strip()]
        if {len(row) for row in rows} != {len(header.columns)}:
            return "text without columns"
        if len(header.columns) == 2 and all(is_number(row[1]) and not is_number(row[0]) for row in rows):
            return NO_NAMES
        if len(rows) == 1:
            return "text without columns"
        what = "a table without a column"
    if "system" in header.known:
        return f"{what} of scores"
    if given.is_own or ERRORS in header.columns:
        return NO_SYSTEM if given.is_own else f"{what} system; {_ADD}"
    return f"{what} system"
