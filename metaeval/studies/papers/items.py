"""Tables and figures of papers as items: the data and function that each is computed from, and the printed values."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from metaeval.measures.options import Options
from metaeval.results.inputs import Inputs, WarehouseOpener
from queries.blocks import Block
from queries.longitudinal import EvalsetState
from queries.selection import Level
from queries.slices import Slice
from warehouse.progress import Progress

ChartKind = Literal["curves", "heatmap", "scatter", "differences", "bars", "carried"]


@dataclass(frozen=True)
class Cell:
    """One number of an item. value: None if it is not defined; note says why.

    error: standard error of a resampled value, between runs with other random seeds; 0 if nothing is drawn.
    """

    row: str
    column: str
    testset: str
    lp: str
    value: float | None
    error: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class ItemValues:
    """The values of an item on one evaluation set, or on several together."""

    cells: tuple[Cell, ...]
    signature: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """The settings that items are computed with.

    opened: opens the warehouse. draws: number of resamples, None = as in the paper. metrics: names or shell patterns,
    () = those of the paper. database: where results are kept, None = nowhere. fresh: take no kept results.
    """

    opened: WarehouseOpener
    seed: int = 0
    draws: int | None = None
    metrics: tuple[str, ...] = ()
    progress: Progress | None = field(default=None, compare=False)
    database: Path | None = None
    fresh: bool = False

    @property
    def options(self) -> Options:
        return Options(seed=self.seed)

    def block(self, asked: Slice, level: Level = "seg") -> Block:
        """The scores of a slice; at segment level those of metrics with a score for all that is judged.

        Raises QuestionError: see `Inputs`.
        """
        with self.opened() as warehouse:
            inputs = Inputs(warehouse, asked)
            return inputs.judged_segments() if level == "seg" else inputs.of_level("sys")


@dataclass(frozen=True)
class Item:
    """A table, a figure or a passage of a paper.

    sets: (test set, language pair) that the paper took, "all" for every pair of a test set; () if nothing is read.
    human: the paper's human score, None for the official one. compute: from one slice; compute_together: from all of
    them. If nothing is read, compute_together gets no slice. is_stored: it takes long, so the result is kept.
    unavailable: why the paper's own data cannot be loaded at all. needs_people: it cannot do without human scores.
    relative: columns whose values depend on the other rows, so that they are comparable only if all rows are loaded.
    """

    name: str
    title: str
    sets: tuple[tuple[str, str], ...] = ()
    compute: Callable[[Request, Slice], ItemValues] | None = None
    compute_together: Callable[[Request, Sequence[Slice]], ItemValues] | None = None
    human: str | None = None
    chart: ChartKind | None = None
    is_stored: bool = False
    unavailable: str = ""
    needs_people: bool = True
    relative: frozenset[str] = frozenset()

    @property
    def needs_data(self) -> bool:
        return bool(self.sets or self.unavailable)

    def can_use(self, state: EvalsetState) -> bool:
        """Whether an evaluation set has the scores that it is computed from."""
        return bool(state.n_metrics and (state.n_humans or not self.needs_people))


@dataclass(frozen=True)
class Paper:
    """A paper, with its items in the paper's order."""

    name: str
    title: str
    items: tuple[Item, ...]


def cells_of(testset: str, lp: str, row: str, values: Mapping[str, float | int | None]) -> list[Cell]:
    """A row of values without resampling noise."""
    return [
        Cell(row, column, testset, lp, None if value is None or value != value else float(value))
        for column, value in values.items()
    ]


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
class PrintedValue:
    """A printed value: its place, the value, and its number of decimals (negative: tens).

    kind: "input" counts what went in; with fewer loaded, nothing printed of the evaluation set can be compared.
    reason: why ours differs by up to `within`, if that is documented.
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
        """The key of a computed value with the same place; case in metric names is ignored."""
        return (self.row.casefold(), self.column, self.testset, self.lp)


@cache
def printed_values(paper: str) -> tuple[PrintedValue, ...]:
    """All printed values of a paper, in the order of its file."""
    found = files("metaeval.studies.papers").joinpath("printed", f"{paper}.csv")
    lines = found.read_text(encoding="utf-8").splitlines()
    return tuple(
        PrintedValue(
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


def verdict(cell: Cell, printed: PrintedValue) -> Verdict:
    """How a computed value compares with the printed one.

    >>> one = PrintedValue("t", "a", "b", "", "", 0.97, 2, "1", "value", 0.02, "another rounding")
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
