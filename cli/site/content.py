"""The content of a site's page: tables that link to other pages, a drawing, and the command that gives the same."""

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

import polars as pl

from cli.charts.drawing import csv_text
from cli.render.json import plain
from cli.report.content import Cell, Grid, grid

Link = Callable[[Mapping[str, Any]], str | None]
"""From a row to the address of a page, from the site's root; None: no link."""


@dataclass(frozen=True)
class Table:
    """A table. name: part of its files' names; links: by column. lead: a sentence above it.

    is_sorted: whether a reader may sort and filter it.
    """

    name: str
    title: str
    frame: pl.DataFrame
    links: Mapping[str, Link] = field(default_factory=dict)
    digits: int | Mapping[str, int] = 3
    lead: str = ""
    is_open: bool = True

    @property
    def grid(self) -> Grid:
        return grid(self.title, self.frame, self.digits)

    def rows(self, root: str) -> list[list[Cell]]:
        """The cells as they are shown, with their links. root: the path to the site's root."""
        found = self.grid
        rows = []
        for row, cells in zip(self.frame.to_dicts(), found.cells(), strict=True):
            places = [self.links[name](row) if name in self.links else None for name in found.columns]
            rows.append(
                [
                    cell if place is None else replace(cell, link=f"{root}{place}.html")
                    for cell, place in zip(cells, places, strict=True)
                ]
            )
        return rows

    def files(self) -> dict[str, str]:
        """Its rows in full as CSV and JSON, by the ending of the file."""
        rows: Any = plain(self.frame.to_dicts())
        flat = [{name: _flat(value) for name, value in row.items()} for row in rows]
        csv = csv_text(flat) if flat else ",".join(self.frame.columns) + "\n"
        return {"csv": csv, "json": json.dumps(rows, ensure_ascii=False, allow_nan=False) + "\n"}


def _flat(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class Page:
    """A page. path: from the site's root, without its ending; kind: its template. question: what it answers.

    command: words of the command that gives the same; sql: a query over the public views. drawing: SVG in the page.
    pairs: the data for comparing two of its metrics.
    """

    path: str
    title: str
    lead: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    command: tuple[str, ...] = ()
    sql: str = ""
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    drawing: str = ""
    drawing_title: str = ""
    pairs: Mapping[str, Any] | None = None
    kind: str = "page.html"
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The path from the page to the site's root."""
        return "../" * self.path.count("/")

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def shell(self) -> str:
        """The command, quoted for a shell."""
        return shlex.join(("scorehouse", *self.command)) if self.command else ""

    @property
    def sql_link(self) -> str:
        """The link to the page that runs the query, with the query in it."""
        return f"{self.root}sql.html#{quote(self.sql, safe='')}"


_SVG_COLOURS = {
    "#ffffff": "var(--paper)",
    "#222222": "var(--ink)",
    "#5a5a5a": "var(--faint)",
    "#e4e4e4": "var(--line)",
    "#767676": "var(--faint)",
}
_TAG = re.compile(r"<[A-Za-z][^<>]*>")
_COLOUR = re.compile(r'\b(fill|stroke)="(#[0-9a-f]{6})"')


def themed(svg: str) -> str:
    """A drawing in the page's text and background colours, light or dark."""
    return _TAG.sub(lambda tag: _COLOUR.sub(lambda one: f'{one[1]}="{_SVG_COLOURS.get(one[2], one[2])}"', tag[0]), svg)


def dots(points: Sequence[tuple[int, float, str]], title: str) -> str:
    """A small drawing of ranks by year: (year, share of metrics that are not better, words), the best on top.

    The template that includes it escapes its texts.
    """
    from html import escape

    if not points:
        return ""
    years = sorted({year for year, *_ in points})
    width, height, left, top = 640, 180, 60, 14
    step = (width - left - 30) / max(1, years[-1] - years[0])

    def x(year: int) -> float:
        return round(left + 10 + (year - years[0]) * step, 1)

    def y(share: float) -> float:
        return round(top + (1 - share) * (height - top - 34), 1)

    parts = [
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height}" class="dots">',
        *(
            f'<line x1="{left}" x2="{width - 10}" y1="{y(share)}" y2="{y(share)}" class="grid"/>'
            f'<text x="{left - 6}" y="{y(share) + 4}" text-anchor="end">{words}</text>'
            for share, words in ((1.0, "first"), (0.5, "middle"), (0.0, "last"))
        ),
        *(f'<text x="{x(year)}" y="{height - 10}" text-anchor="middle">{year}</text>' for year in years),
        *(
            f'<circle cx="{x(year)}" cy="{y(share)}" r="4.5"><title>{escape(words)}</title></circle>'
            for year, share, words in points
        ),
        "</svg>",
    ]
    return "".join(parts)
