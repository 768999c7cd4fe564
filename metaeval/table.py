"""What a question about one slice answers: a frame, its signature, and what a reader should know."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Self

import polars as pl

from metaeval.inputs import remarks
from metaeval.notes import Excluded
from metaeval.signature import line, program_version, slice_parts
from queries.blocks import Block
from queries.reasons import Exclusion, by_reason
from warehouse.database.frames import spelt_frame
from warehouse.wording import in_python


@dataclass(frozen=True)
class Table:
    """frame: its columns are documented with the function that makes it; what people read first comes first.

    signature: one line a result. notes: what a reader should know, one line each.
    """

    frame: pl.DataFrame
    signature: str
    notes: tuple[str, ...] = ()

    @property
    def in_python(self) -> Self:
        """The table with options as they are written in Python, for whoever gets it there."""
        return replace(self, frame=spelt_frame(self.frame, in_python), notes=tuple(map(in_python, self.notes)))

    def _repr_html_(self) -> str:
        """The frame with its signature and notes, as notebooks show it."""
        lines = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        signature = "<br>".join(escape(one) for one in self.signature.splitlines())
        return f"{self.frame._repr_html_()}<p><small>{signature}</small></p>" + (f"<ul>{lines}</ul>" if lines else "")


def block_parts(block: Block, n_metrics: int | None = None) -> list[tuple[str, object]]:
    """What a signature says of a block: systems, metrics, segments, and what is not judged.

    n_metrics: where the block has no arrays of them.
    """
    return [
        ("n_systems", len(block.systems)),
        ("n_metrics", len(block.metrics) if n_metrics is None else n_metrics),
        ("n_segments", f"{block.n_judged_segments}/{block.selection.n_segments}"),
        ("n_missing", block.n_missing),
    ]


def table_signature(
    what: tuple[str, object], block: Block, *more: tuple[str, object], n_metrics: int | None = None
) -> str:
    """The signature of a table over a block.

    what: first key and value; more: settings of this table; n_metrics: where the block has no arrays of them.
    """
    parts = block_parts(block, n_metrics)
    return line([what, *slice_parts(block.selection), *parts, *more, ("scorehouse", program_version())])


def table_notes(block: Block, excluded: Mapping[str, Exclusion]) -> tuple[str, ...]:
    """Notes on a table over a block. excluded: metrics of the slice that the table does without."""
    return (*without(excluded), *remarks(block))


def without(excluded: Mapping[str, Exclusion]) -> list[str]:
    """A line for each reason why a table does without metrics."""
    return [
        Excluded(f"without {', '.join(names)}: {why.sentence}", why.hint, "metric", len(names), names)
        for why, names in by_reason(excluded).items()
    ]


def fixed(column: str, digits: int) -> pl.Expr:
    """Numbers as text with so many digits after the point; null stays null.

    Rounded by Python, as all cells are: Polars' expressions round halves otherwise, such as 2.675 to two digits.

    >>> pl.DataFrame({"r": [0.9, -0.0001, None]}).select(fixed("r", 3))["r"].to_list()
    ['0.900', '0.000', None]
    """
    return pl.col(column).map_elements(lambda value: f"{round(value, digits) + 0.0:.{digits}f}", return_dtype=pl.String)


def or_none(value: float) -> float | None:
    """The number as tables have it: None where it is not defined.

    >>> or_none(0.5), or_none(float("nan"))
    (0.5, None)
    """
    return None if value != value else float(value)
