"""Faults of cells that do not hold what their column should."""

from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import Fault

if TYPE_CHECKING:
    import polars as pl

_MOST_FAULTS = 20


def cells_that_are(
    table: "pl.DataFrame", column: str, is_right: "pl.Expr", expected: str, path: Path
) -> "tuple[pl.DataFrame, list[Fault]]":
    """The rows where a column is as it should be, and the faults of the others (null counts as wrong).

    table: with `line`.
    """
    right = is_right.fill_null(False)
    wrong = table.filter(~right)
    faults = [
        Fault(str(path), line, f"{column} {cell!r}", expected)
        for line, cell in wrong.select("line", column).head(_MOST_FAULTS).iter_rows()
    ]
    if wrong.height > _MOST_FAULTS:
        faults.append(Fault(str(path), 0, f"{wrong.height - _MOST_FAULTS} more such lines", expected))
    return table.filter(right), faults
