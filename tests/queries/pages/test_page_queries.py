"""The queries that pages of a site show."""

import re
from importlib.resources import files

from queries.pages import page_query
from warehouse import Warehouse

NAMES = {"testset": "sim24", "lp": "en-de", "metric": "simBLEU", "system": "a"}


def test_every_query_of_a_page_answers_as_it_is_shown(simulated_warehouse: Warehouse) -> None:
    for entry in files("queries.pages").iterdir():
        if entry.name.endswith(".sql"):
            query = page_query(entry.name.removesuffix(".sql"), **NAMES)
            assert not re.search(r"[$;]|--", query), entry.name
            assert simulated_warehouse.sql(query).width, entry.name


def test_a_name_in_a_query_cannot_end_its_text(simulated_warehouse: Warehouse) -> None:
    found = simulated_warehouse.sql(page_query("metric", metric="x' OR '1' = '1"))
    assert found.height == 0
