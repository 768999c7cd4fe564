"""Faults of rows of the files on a stage."""

from collections.abc import Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.errors import MOST_FAULTS, Fault
from warehouse.readers.contents import Content
from warehouse.wording import counted


def report_rows(contents: Sequence[Content], stage: Stage, wrong: pl.DataFrame, expected: str) -> None:
    """A fault for each of the first rows of a file, and how many more there are.

    wrong: frame with file_no, line, found. expected: what the rows should hold.
    """
    paths = {content.file_no: str(content.claim.path) for content in contents}
    wrong = wrong.sort("file_no", "line", maintain_order=True)
    for rows in wrong.partition_by("file_no", maintain_order=True):
        for file_no, line, found in rows.head(MOST_FAULTS).select("file_no", "line", "found").iter_rows():
            stage.fault(file_no, Fault(paths[file_no], line or 0, found, expected))
        if (n := rows.height - MOST_FAULTS) > 0:
            file_no = rows["file_no"][0]
            stage.fault(file_no, Fault(paths[file_no], 0, counted(n, "more such line"), expected, n_more=n))
