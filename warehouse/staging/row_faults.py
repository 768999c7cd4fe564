"""Faults of rows of the files on a stage."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.errors import MOST_FAULTS, Fault
from warehouse.readers.contents import Content
from warehouse.wording import counted


class RowFaults:
    """Rows that do not hold what they should, gathered: the first of each file, and how many there are.

    expected: what they should hold.
    """

    def __init__(self, expected: str) -> None:
        self._expected = expected
        self._first: list[pl.DataFrame] = []
        self._n: Counter[int] = Counter()

    def add(self, wrong: pl.DataFrame) -> None:
        """Further rows: frame with file_no, line, found."""
        if wrong.is_empty():
            return
        self._n.update(dict(wrong.group_by("file_no").len().iter_rows()))
        rows = pl.concat([*self._first, wrong.select("file_no", "line", "found")]).sort("file_no", "line")
        self._first = [rows.group_by("file_no", maintain_order=True).head(MOST_FAULTS)]

    def report(self, contents: Sequence[Content], stage: Stage) -> None:
        """Let the stage know of them."""
        paths = {content.file_no: str(content.claim.path) for content in contents}
        for rows in self._first:
            for file_no, line, found in rows.select("file_no", "line", "found").iter_rows():
                stage.fault(file_no, Fault(paths[file_no], line or 0, found, self._expected))
        for file_no, n in sorted(self._n.items()):
            if n > MOST_FAULTS:
                more = counted(n - MOST_FAULTS, "more such line")
                stage.fault(file_no, Fault(paths[file_no], 0, more, self._expected, n_more=n - MOST_FAULTS))


def report_rows(contents: Sequence[Content], stage: Stage, wrong: pl.DataFrame, expected: str) -> None:
    """Faults of rows: frame with file_no, line, found."""
    faults = RowFaults(expected)
    faults.add(wrong)
    faults.report(contents, stage)
