"""Names that the page offers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from metaeval.measures.registry import DEFINITIONS
from metaeval.questions.fields import DEFAULT_MEASURES
from metaeval.studies.protocols import protocols
from queries.cookbook import recipes
from queries.listing import NameKind, dictionary, listing, names
from queries.segment import outputs_of
from warehouse import Warehouse

_LOCK_TIMEOUT = 60.0  # seconds that a question waits for a load
_KINDS: tuple[NameKind, ...] = ("testset", "lp", "metric", "human", "system", "domain", "document", "phenomenon")


def opened(database: Path) -> Warehouse:
    """The warehouse, opened after any running load has finished."""
    return Warehouse.open(database, patience=_LOCK_TIMEOUT)


class Names:
    """The names to choose from in a warehouse."""

    def __init__(self, database: Path) -> None:
        self.database = database
        with Warehouse.open(database) as warehouse:
            known = listing(warehouse, "testsets")
        known = known.sort(pl.col("kind") != "task", pl.col("year"), descending=[False, True], nulls_last=True)
        self.testsets: list[str] = known["testset"].to_list()
        self.default_measures = [str(one) for one in DEFAULT_MEASURES]
        self.measures = list(dict.fromkeys([*self.default_measures, *DEFINITIONS]))
        self.recipes = {recipe.title: recipe.query for recipe in recipes().values()}
        self.first_query = "FROM testsets"

    def testset(self, named: object) -> str | None:
        """The test set of this name, whatever its case; else the newest."""
        found = {one.lower(): one for one in self.testsets}
        return found.get(str(named).lower(), self.testsets[0] if self.testsets else None)

    def lps(self, testset: str | None) -> list[str]:
        """Language pairs of a test set, those with its official human score first."""
        with opened(self.database) as warehouse:
            found = listing(warehouse, "lps", testset)
        return list(found.sort("is_standard_human_sys_loaded", "lp", descending=[True, False])["lp"])

    def of(self, kind: NameKind, testset: str | None, lp: str | None = None) -> list[str]:
        """Names of a kind in an evaluation set."""
        with opened(self.database) as warehouse:
            return names(warehouse, kind, [testset] if testset else [], [lp] if lp else [])

    def by_kind(self, testset: str | None, lp: str | None) -> Mapping[str, Sequence[str]]:
        """Names of every kind that fields of questions have."""
        found: dict[str, Sequence[str]] = {"measure": self.measures, "protocol": list(protocols())}
        with opened(self.database) as warehouse:
            for kind in _KINDS:
                place = [] if kind == "testset" else [testset] if testset else []
                found[kind] = names(warehouse, kind, place, [lp] if lp and kind not in ("testset", "lp") else [])
        return {**found, "scorer": found["metric"]}

    def points(self, metric: str, testset: str, lp: str, human: str | None = None) -> pl.DataFrame:
        """Scores of a metric and human scores, one row per output."""
        with opened(self.database) as warehouse:
            return outputs_of(warehouse, testset, lp, metric, human)

    def views(self) -> pl.DataFrame:
        """The views and their columns."""
        with opened(self.database) as warehouse:
            return dictionary(warehouse)
