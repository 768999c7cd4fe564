"""Kasner et al. 2025: large language models and a second annotator mark error spans on outputs of WMT24."""

from collections.abc import Sequence
from dataclasses import replace

from metaeval.measures.registry import parse_measure
from metaeval.studies.papers.items import Cell, Item, ItemValues, Paper, Request, cells_of
from metaeval.studies.people.span_tables import span_table
from queries.slices import Slice

_SET = "wmt24.spans"


def agreement(request: Request, slices: Sequence[Slice]) -> ItemValues:
    """Precision, recall and F (mpp) of each scorer against the first annotator, by language pair and over all."""
    cells: list[Cell] = []
    notes: list[str] = []
    signature = ""
    together = replace(slices[0], lp=",".join(one.lp for one in slices), metrics=request.metrics)
    with request.opened() as warehouse:
        for asked, lp in ((together, "all"), *((replace(one, metrics=request.metrics), one.lp) for one in slices)):
            found = span_table(warehouse, asked, parse_measure("mpp"), ceiling=True, pool=lp == "all")
            signature = signature or found.signature
            notes += found.notes if lp == "all" else ()
            for row in found.frame.iter_rows(named=True):
                values = {name: row[name] for name in ("precision", "recall", "f")}
                cells += cells_of(_SET, lp, row["metric"].removesuffix("-src"), values)
    return ItemValues(tuple(cells), signature, tuple(notes))


PAPER = Paper(
    "kasner-2025",
    "Large Language Models as Span Annotators",
    (
        Item(
            "agreement",
            "language models and a second annotator against the first, by error spans",
            tuple((_SET, lp) for lp in ("en-cs", "en-es", "en-hi", "en-is", "en-ja", "en-ru", "en-uk", "en-zh")),
            compute_together=agreement,
        ),
    ),
)
