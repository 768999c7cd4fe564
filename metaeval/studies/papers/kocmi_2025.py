"""Kocmi et al. 2025: preliminary ranking of WMT25 systems by automatic metrics, AutoRank."""

from dataclasses import replace

from metaeval.results.run import Run
from metaeval.studies.papers.items import Cell, Item, ItemValues, Paper, Request, cells_of
from metaeval.studies.tables.autorank import as_json, autorank
from queries.slices import Slice

_LPS = (
    *("cs-de_DE", "en-ar_EG", "en-bn_BD", "en-de_DE", "en-et_EE", "en-hi_IN", "en-is_IS", "en-ja_JP"),
    *("en-ko_KR", "en-mas_KE", "en-ro_RO", "en-sr_Cyrl_RS", "en-sv_SE", "en-tr_TR", "en-vi_VN", "ja-zh_CN"),
)


def preliminary_ranking(request: Request, asked: Slice) -> ItemValues:
    """AutoRank of each system, and its mean by each metric included."""
    found = autorank(Run(request.opened), replace(asked, human=None, metrics=request.metrics))
    cells: list[Cell] = []
    for row in as_json(found.frame):
        means = {name.rpartition("-")[0]: value for name, value in row["scores"].items()}
        cells += cells_of(asked.testset, asked.lp, row["system"], {"AutoRank": row["autorank"], **means})
    return ItemValues(tuple(cells), found.signature, found.notes)


PAPER = Paper(
    "kocmi-2025",
    "Preliminary Ranking of WMT25 General Machine Translation Systems",
    (
        Item(
            "preliminary-ranking",
            "systems by AutoRank, and their means by each metric",
            tuple(("wmt25", lp) for lp in _LPS),
            preliminary_ranking,
            needs_people=False,
            relative=frozenset({"AutoRank"}),
        ),
    ),
)
