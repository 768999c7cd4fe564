"""Knowles et al. 2024, MSLC24: means of weak and submitted systems on WMT24's news, by metrics and human scores."""

from dataclasses import replace

import polars as pl

from metaeval.studies.papers.items import Cell, Item, ItemValues, Paper, Request
from metaeval.studies.tables.means import system_means
from queries import counting
from queries.selection import select
from queries.slices import Slice


def means(request: Request, asked: Slice) -> ItemValues:
    """The mean of each system by each metric, judged or not, and by human scores if it was judged."""
    everything = replace(asked, metrics=request.metrics, status="all", human_references=True)
    with request.opened() as warehouse:
        by_people = system_means(warehouse, everything)
        scored = counting.system_means(warehouse, select(warehouse, everything, "seg", human="none"))
    judged = by_people.frame.filter(pl.col("kind") == "human")
    rows = [*judged.iter_rows(named=True), *scored.iter_rows(named=True)]
    cells = [Cell(row["system"], _base_name(row["scorer"]), asked.testset, asked.lp, row["mean"]) for row in rows]
    return ItemValues(tuple(cells), by_people.signature, by_people.notes)


def _base_name(scorer: str) -> str:
    return scorer.removesuffix("-src").removesuffix("-refA")


PAPER = Paper(
    "knowles-2024",
    "MSLC24: Further Challenges for Metrics on a Wide Landscape of Translation Quality",
    (
        Item(
            "system-means",
            "means of systems of low to high quality, by metrics and human scores",
            tuple(("wmt24.news", lp) for lp in ("en-de", "en-es", "ja-zh")),
            means,
        ),
    ),
)
