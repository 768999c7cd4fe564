"""Values as the papers print them, and whether ours are the same."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from metaeval.papers.items import Cell

Verdict = Literal["met", "noise", "explained", "differs", "not_loaded", "new"]
VERDICTS: dict[Verdict, str] = {
    "met": "equal to the printed digits",
    "noise": "within three standard errors of the difference of two runs",
    "explained": "different, with a documented reason",
    "differs": "different",
    "not_loaded": "not compared for want of data",
    "new": "without printed value",
}
ERRORS = 3.0  # standard errors of the difference between two resampled values that count as noise
ROUNDING = 1e-9  # of values that are printed with all their digits


@dataclass(frozen=True)
class Printed:
    """A printed value: where, what, and to how many decimals (negative: tens).

    kind: "input" counts what went in; with fewer loaded, nothing printed of the evaluation set can be compared.
    reason: why ours differs, where that is documented, up to `within`.
    """

    item: str
    row: str
    column: str
    testset: str
    lp: str
    value: float
    decimals: int
    page: str
    kind: Literal["value", "input"]
    within: float
    reason: str

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Where a computed value has it; metrics are spelled in upper and lower case alike."""
        return (self.row.casefold(), self.column, self.testset, self.lp)


@cache
def printed_values(paper: str) -> tuple[Printed, ...]:
    """All printed values of a paper, in the order of its file."""
    found = files("metaeval.papers").joinpath("printed", f"{paper}.csv")
    lines = found.read_text(encoding="utf-8").splitlines()
    return tuple(
        Printed(
            item=row["item"],
            row=row["row"],
            column=row["column"],
            testset=row["testset"],
            lp=row["lp"],
            value=float(row["value"]),
            decimals=int(row["decimals"]),
            page=row["page"],
            kind=row["kind"] or "value",  # type: ignore[arg-type]
            within=float(row["within"] or 0.0),
            reason=row["reason"],
        )
        for row in csv.DictReader(lines)
    )


def verdict(cell: Cell, printed: Printed) -> Verdict:
    """How a computed value stands to the printed one.

    >>> one = Printed("t", "a", "b", "", "", 0.97, 2, "1", "value", 0.02, "another rounding")
    >>> [verdict(Cell("a", "b", "", "", value), one) for value in (0.974, 0.985, 0.9, None)]
    ['met', 'explained', 'differs', 'not_loaded']
    >>> verdict(Cell("a", "b", "", "", 0.985, error=0.01), one)
    'noise'
    """
    if cell.value is None:
        return "not_loaded"
    apart = abs(cell.value - printed.value)
    rounding = 0.5 * 10.0**-printed.decimals + ROUNDING
    if apart <= rounding:
        return "met"
    if apart <= rounding + ERRORS * 2**0.5 * cell.error:
        return "noise"
    if printed.reason and apart <= printed.within + ROUNDING:
        return "explained"
    return "differs"
