"""The papers that this project implements: their tables and figures, computed and compared with the printed values."""

from metaeval.studies.papers import (
    deutsch_2023,
    diianni_2025,
    graham_2014,
    kasner_2025,
    knowles_2024,
    kocmi_2021,
    kocmi_2025,
    thompson_2024,
    zerva_2022,
)
from metaeval.studies.papers.items import Item, Paper
from warehouse.errors import known_name

PAPERS: dict[str, Paper] = {
    one.PAPER.name: one.PAPER
    for one in (
        *(
            thompson_2024,
            graham_2014,
            diianni_2025,
            kocmi_2021,
            deutsch_2023,
            zerva_2022,
            kocmi_2025,
            knowles_2024,
            kasner_2025,
        ),
    )
}


def paper_named(name: str) -> Paper:
    """Raises QuestionError: there is no such paper."""
    return PAPERS[known_name("paper", name, PAPERS)]


def item_named(paper: Paper, name: str) -> Item:
    """Raises QuestionError: the paper has no such item."""
    items = {one.name: one for one in paper.items}
    return items[known_name("item", name, items, where=paper.name)]
