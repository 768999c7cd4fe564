"""What a section holds: parts with charts and tables, as plain data that can be stored and laid out."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from cli.charts.drawing import Spec, laid, specification
from cli.hints import in_flags, is_for
from cli.render import DIGITS
from cli.render.cells import number_text, value_text
from metaeval.notes import EXPLAIN, Hinted
from warehouse import WarehouseError

if TYPE_CHECKING:
    import altair as alt

_WHY = "`scorehouse rank --explain` says why"


def on_page(note: str) -> str:
    """A note as a page has it: a page has no options, so that a hint names a command or is left out.

    >>> from warehouse.wording import option
    >>> on_page(Hinted("A is excluded: added by a user", option("own"))), on_page(Hinted("2 are", EXPLAIN))
    ('A is excluded: added by a user', '2 are (`scorehouse rank --explain` says why)')
    """
    if isinstance(note, Hinted) and note.hint == EXPLAIN:
        return f"{note.text} ({_WHY})"
    return in_flags(note if not isinstance(note, Hinted) or is_for((), note.hint) else note.text)


def message(error: WarehouseError) -> str:
    """An error as a page has it."""
    return in_flags(error.with_hints(lambda hint: is_for((), hint)))


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text; value: the number in full where the text rounds it."""

    text: str
    value: str | None = None


@dataclass(frozen=True)
class Grid:
    """A table. numbers: whether a column holds numbers; digits: decimals of floats, for all columns or by name."""

    title: str
    columns: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[tuple[Any, ...], ...]
    digits: int | dict[str, int] = DIGITS

    def cells(self) -> list[list[Cell]]:
        """The rows as they are shown."""
        digits = [self.digits if isinstance(self.digits, int) else self.digits.get(n, DIGITS) for n in self.columns]
        return [[_cell(value, n) for value, n in zip(row, digits, strict=True)] for row in self.rows]

    def records(self) -> list[dict[str, Any]]:
        """The rows by column, in full."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Figure:
    """A chart: title, lines below it, and the specification without them."""

    title: str
    lines: tuple[str, ...]
    spec: Spec


@dataclass(frozen=True)
class Part:
    """A part of a section: of one evaluation set, mostly. signatures: a footnote each; notes: a sentence each.

    A page has no options: notes are without hints that name some.
    """

    heading: str
    figures: tuple[Figure, ...] = ()
    grids: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(on_page, self.notes)))

    def as_text(self) -> str:
        """The part as it is stored."""
        return json.dumps(asdict(self), allow_nan=False)


def part_of(text: str) -> Part:
    """A part as it was stored.

    Raises ValueError, LookupError, TypeError: the text is no part.
    """
    found = json.loads(text)
    return Part(
        str(found["heading"]),
        tuple(Figure(one["title"], tuple(one["lines"]), dict(one["spec"])) for one in found["figures"]),
        tuple(
            Grid(
                one["title"],
                tuple(one["columns"]),
                tuple(one["numbers"]),
                tuple(map(tuple, one["rows"])),
                one["digits"],
            )
            for one in found["grids"]
        ),
        tuple(found["notes"]),
        tuple(found["signatures"]),
    )


def figure(chart: "alt.VConcatChart") -> Figure:
    """A chart for a page, which has its title and lines as text, and its signatures as footnotes."""
    found = laid(specification(chart))
    spec = {name: value for name, value in found.spec.items() if name not in ("$schema", "config")}
    return Figure(found.title, found.lines, spec)


def grid(
    title: str,
    frame: pl.DataFrame,
    columns: Mapping[str, str] | None = None,
    digits: int | dict[str, int] = DIGITS,
) -> Grid:
    """A table of a frame. columns: those shown, with their headings; None for all."""
    shown = dict(columns) if columns is not None else {name: name for name in frame.columns}
    frame = frame.select(name for name in shown if name in frame.columns)
    schema = frame.schema
    return Grid(
        title,
        tuple(shown[name] for name in frame.columns),
        tuple(schema[name].is_numeric() for name in frame.columns),
        tuple(tuple(_plain(value) for value in row) for row in frame.rows()),
        digits,
    )


def _plain(value: object) -> object:
    """A value that JSON has; NaN is missing."""
    if isinstance(value, float) and value != value:
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def _cell(value: object, digits: int) -> Cell:
    if isinstance(value, float):
        return Cell(number_text(value, digits), repr(value))
    return Cell(value_text(value, digits), "" if value is None else None)
