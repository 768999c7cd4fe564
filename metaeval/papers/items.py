"""Tables and figures of a paper as items: what each is computed on, and by what."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from metaeval.inputs import Inputs, Opened
from metaeval.options import Options
from queries.blocks import Block
from queries.longitudinal import EvalsetState
from queries.selection import Level, Slice
from warehouse.progress import Progress

ChartKind = Literal["curves", "heatmap", "scatter", "differences", "bars", "carried"]


@dataclass(frozen=True)
class Cell:
    """One number of an item. value: None where it is not defined; note says why.

    error: standard error of a resampled value, between runs with other random seeds; 0 where nothing is drawn.
    """

    row: str
    column: str
    testset: str
    lp: str
    value: float | None
    error: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Computed:
    """What an item gives on one evaluation set, or on several together."""

    cells: tuple[Cell, ...]
    signature: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """What items are computed with.

    opened: opens the warehouse. draws: number of resamples, None = as in the paper. metrics: names or shell patterns,
    () = those of the paper.
    """

    opened: Opened
    seed: int = 0
    draws: int | None = None
    metrics: tuple[str, ...] = ()
    progress: Progress | None = field(default=None, compare=False)

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

    sets: (test set, language pair) that the paper took, "all" for every pair of a test set; () where nothing is read.
    human: the paper's human score, None for the official one. compute: from one slice; compute_together: from all of
    them. Where nothing is read, compute_together gets no slice. is_stored: takes long, so that the result is kept.
    unavailable: why the paper's own data cannot be loaded at all. needs_people: it cannot do without human scores.
    """

    name: str
    title: str
    sets: tuple[tuple[str, str], ...] = ()
    compute: Callable[[Request, Slice], Computed] | None = None
    compute_together: Callable[[Request, Sequence[Slice]], Computed] | None = None
    human: str | None = None
    chart: ChartKind | None = None
    is_stored: bool = False
    unavailable: str = ""
    needs_people: bool = True

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
