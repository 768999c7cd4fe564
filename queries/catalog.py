"""Queries in SQL, one file each: found by name and run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from warehouse import Warehouse

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class CatalogQuery:
    """A query of the catalogue: its name, its parameters, and its text, whose first comment describes it."""

    name: str
    parameters: tuple[str, ...]
    text: str

    def ask(self, warehouse: Warehouse, parameters: Mapping[str, object] | None = None) -> "pl.DataFrame":
        """The answer as a frame.

        Raises ValueError: missing or unknown parameters.
        """
        given = dict(parameters or {})
        if set(given) != set(self.parameters):
            raise ValueError(f"question {self.name!r} takes {sorted(self.parameters)}, got {sorted(given)}")
        return warehouse.frame(self.text, given)


@cache
def questions() -> dict[str, CatalogQuery]:
    """All questions by name."""
    found = {}
    for entry in (files("queries") / "sql").iterdir():
        if entry.name.endswith(".sql"):
            text = entry.read_text(encoding="utf-8")
            body = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
            parameters = tuple(dict.fromkeys(re.findall(r"\$([a-z_]+)", body)))
            name = entry.name.removesuffix(".sql")
            found[name] = CatalogQuery(name, parameters, text)
    return dict(sorted(found.items()))


def ask(warehouse: Warehouse, name: str, **parameters: object) -> "pl.DataFrame":
    """The answer of a question of the catalogue.

    Raises KeyError: there is no such question. ValueError: see `CatalogQuery.ask`.
    """
    return questions()[name].ask(warehouse, parameters)
