"""The data dictionary: every view, macro and table of the warehouse, with what it and its columns mean."""

import polars as pl

from queries.catalog import ask
from queries.listing import CATALOGUE_SECONDS
from warehouse import Warehouse
from warehouse.errors import unknown


def dictionary(warehouse: Warehouse, name: str | None = None) -> pl.DataFrame:
    """Columns kind (view, macro, table), name, column (null for the thing itself), type, meaning.

    Views come first, then macros, then tables; columns in their own order.
    name: one view, macro or table alone.
    Raises QuestionError: there is none of that name. LimitError: no answer in CATALOGUE_SECONDS.
    """
    with warehouse.within(CATALOGUE_SECONDS):
        found = ask(warehouse, "dictionary", thing=name)
        if name is not None and found.is_empty():
            known = ask(warehouse, "dictionary", thing=None)["name"].unique().sort()
    if name is not None and found.is_empty():
        raise unknown("view, macro or table", name, [full.partition("(")[0] for full in known])
    return found
