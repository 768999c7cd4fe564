"""The content of a section: parts with charts and tables, as plain data that can be stored and laid out."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from cli.charts.drawing import Spec, parts_of_chart, specification
from cli.hints import in_flags, is_for
from cli.render import DIGITS
from cli.render.cells import digits_of, number_text, value_text
from metaeval.results.notes import EXPLAIN, NoteWithHint
from metaeval.studies.ranking.wide import Wide, wide
from warehouse import WarehouseError
from warehouse.database.frames import spelt_frame

if TYPE_CHECKING:
    import altair as alt

MOST_OPEN = 12
"""Rows of a table that is not folded."""
MOST_NAMES = 30
"""Beside a matrix that is not folded."""
HEADINGS = {
    "testset": "test set",
    "lp": "language pair",
    "n_segments": "segments",
    "n_systems": "systems",
    "n_metrics": "metrics",
    "n_outputs": "outputs",
    "n_right": "right",
    "standard_human_seg": "human score of segments",
    "standard_human_sys": "of systems",
    "shown": "in this report",
    "low": "95% low",
    "high": "95% high",
    "rank_low": "rank from",
    "rank_high": "rank to",
    "epsilon": "ε",
    "value_at_zero": "value at ε = 0",
    "epsilon_high": "equally good up to",
    "epsilon_sd": "ε in standard deviations",
    "in_sd": "difference (sd)",
    "protocol": "rules of",
    "overall": "overall score",
    "kendall": "Kendall's τ with the year's own rules",
    "tasks": "measures",
}
"""Names of columns for people, where they are others."""
_MOST_BESIDE = 8  # columns of values
_WHY = "`scorehouse rank --explain` says why"


def on_page(note: str) -> str:
    """A note as a page shows it: without hints that name options, as a page has none; only EXPLAIN's hint stays.

    >>> from warehouse.wording import option
    >>> on_page(NoteWithHint("A is excluded: added by a user", option("user_metrics")))
    'A is excluded: added by a user'
    >>> on_page(NoteWithHint("2 are", EXPLAIN))
    '2 are (`scorehouse rank --explain` says why)'
    """
    if isinstance(note, NoteWithHint) and note.hint == EXPLAIN:
        return f"{note.text} ({_WHY})"
    return in_flags(note.text if isinstance(note, NoteWithHint) and " --" in f" {in_flags(note.hint)}" else note)


def lead_on_page(summary: str) -> str:
    """The sentences that open an answer, without clauses that name an option, as a page has none.

    >>> from warehouse.wording import option
    >>> lead_on_page(f"BLEU leads. Years differ in data; {option('within', True)} compares the same data.")
    'BLEU leads. Years differ in data.'
    """
    sentences = []
    for sentence in re.split(r"(?<=[.]) ", in_flags(summary)):
        clauses = [one for one in sentence.removesuffix(".").split("; ") if " --" not in f" {one}"]
        if clauses:
            sentences.append("; ".join(clauses) + ("." if sentence.endswith(".") else ""))
    return " ".join(sentences)


def message(error: WarehouseError) -> str:
    """An error as a page shows it."""
    return in_flags(error.with_hints(lambda hint: is_for((), hint)))


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text; value: the number in full if the text rounds it.

    cluster: its significance cluster; is_best: whether it is the best of its column. link: an address.
    """

    text: str
    value: str | None = None
    cluster: int | None = None
    is_best: bool = False
    link: str | None = None


@dataclass(frozen=True)
class Grid:
    """A table. numbers: whether a column holds numbers; digits: decimals of floats, for all columns or by name.

    clusters, best: (row, column) of cells -> significance cluster, and those that are the best of their column.
    is_open: whether it is shown unfolded; None: if it is short.
    """

    title: str
    columns: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[tuple[Any, ...], ...]
    digits: int | dict[str, int] = DIGITS
    clusters: tuple[tuple[int, int, int], ...] = ()
    best: tuple[tuple[int, int], ...] = ()
    is_open: bool | None = None

    @property
    def headings(self) -> list[str]:
        """The column headings for reading."""
        return [" ".join(HEADINGS.get(word, word) for word in name.split(" ")) for name in self.columns]

    @property
    def is_folded(self) -> bool:
        """Whether a reader must open it first."""
        return len(self.rows) > MOST_OPEN if self.is_open is None else not self.is_open

    def cells(self) -> list[list[Cell]]:
        """The rows as they are shown."""
        digits = [digits_of(name, self.digits) for name in self.columns]
        clusters, best = {(row, column): cluster for row, column, cluster in self.clusters}, set(self.best)
        return [
            [
                replace(_cell(value, digits[at]), cluster=clusters.get((place, at)), is_best=(place, at) in best)
                for at, value in enumerate(row)
            ]
            for place, row in enumerate(self.rows)
        ]

    def records(self) -> list[dict[str, Any]]:
        """The rows by column, in full."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Figure:
    """A chart: title, lines below it, and the specification without them. is_folded: shown only on request."""

    title: str
    lines: tuple[str, ...]
    spec: Spec
    is_folded: bool = False


@dataclass(frozen=True)
class Part:
    """A part of a section: of one evaluation set, mostly. signatures: a footnote each; notes: a sentence each.

    lead: its message, in a sentence. missing: why it holds nothing else. A page has no options, so notes have no hints
    that name any.
    """

    heading: str
    figures: tuple[Figure, ...] = ()
    grids: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    lead: str = ""
    missing: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(on_page, self.notes)))

    def as_text(self) -> str:
        """The part as it is stored."""
        return json.dumps(self, default=vars, allow_nan=False)


def part_of(text: str) -> Part:
    """A part as it was stored.

    Raises ValueError, LookupError, TypeError: the text is not a part.
    """
    found = json.loads(text)
    figures = [Figure(**{**one, "lines": tuple(one["lines"])}) for one in found.pop("figures")]
    grids = [Grid(**{name: _tuples(value) for name, value in one.items()}) for one in found.pop("grids")]
    return Part(figures=tuple(figures), grids=tuple(grids), **{name: _tuples(value) for name, value in found.items()})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def figure(chart: "alt.VConcatChart", *, is_folded: bool = False) -> Figure:
    """A chart for a page, which has its title and lines as text, and its signatures as footnotes."""
    found = parts_of_chart(specification(chart))
    spec = {name: value for name, value in found.spec.items() if name not in ("$schema", "config")}
    return Figure(found.title, found.lines, spec, is_folded)


def grid(title: str, frame: pl.DataFrame, digits: int | Mapping[str, int] = DIGITS) -> Grid:
    """A table of a frame, without columns that have no value."""
    frame = spelt_frame(frame.select(one for one in frame if one.null_count() < max(1, frame.height)), in_flags)
    schema = frame.schema
    return Grid(
        title,
        tuple(frame.columns),
        tuple(kind.is_numeric() for kind in schema.values()),
        tuple(tuple(_plain(value) for value in row) for row in frame.rows()),
        digits if isinstance(digits, int) else dict(digits),
    )


def _plain(value: object) -> object:
    """A value that JSON can hold; NaN is missing."""
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


def wide_grids(title: str, frame: pl.DataFrame) -> tuple[Grid, ...]:
    """A ranking with one row per metric and one column per language pair, best values and clusters marked.

    frame: as of `ranked`, of one test set. All measures are side by side if there is room; otherwise each has a table,
    and all but the first are folded.
    """
    whole = wide(frame)
    if len(whole.columns) <= _MOST_BESIDE:
        return (_wide_grid(title, whole),)
    tables = [(measure, wide(rows)) for (measure,), rows in frame.group_by("measure", maintain_order=True)]
    return tuple(
        replace(_wide_grid(f"{title}; {measure}", found), is_open=place == 0)
        for place, (measure, found) in enumerate(tables)
    )


def _wide_grid(title: str, found: Wide) -> Grid:
    every = [(row, column) for row in range(len(found.metrics)) for column in range(len(found.columns))]
    values = found.values.tolist()
    return Grid(
        title,
        ("metric", *found.names),
        (False, *(True for _ in found.names)),
        tuple((metric, *map(_plain, row)) for metric, row in zip(found.metrics, values, strict=True)),
        3,
        tuple(
            (row, column + 1, int(found.clusters[row, column])) for row, column in every if found.clusters[row, column]
        ),
        tuple((row, column + 1) for row, column in every if found.best[row, column]),
        is_open=True,
    )
