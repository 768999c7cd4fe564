"""Faults of rows of the files on a stage."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.database.stage import Stage
from warehouse.errors import Fault
from warehouse.readers.contents import Content

if TYPE_CHECKING:
    import polars as pl

_MOST_FAULTS = 20


def tell_rows(contents: Sequence[Content], stage: Stage, wrong: "pl.DataFrame", expected: str) -> None:
    """Faults of rows: frame with file_no, line, found."""
    paths = {content.file_no: str(content.claim.path) for content in contents}
    for (file_no,), rows in wrong.sort("file_no", "line").partition_by("file_no", as_dict=True).items():
        for line, found in rows.select("line", "found").head(_MOST_FAULTS).iter_rows():
            stage.fault(file_no, Fault(paths[file_no], line or 0, found, expected))
        if rows.height > _MOST_FAULTS:
            more = f"{rows.height - _MOST_FAULTS} more such lines"
            stage.fault(file_no, Fault(paths[file_no], 0, more, expected))
