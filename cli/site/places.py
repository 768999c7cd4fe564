"""The link targets of a site's pages: the address of every evaluation set, metric and system."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from cli.site.content import Link
from cli.site.gathering import Key, SiteData
from cli.site.slugs import slugs


class Places:
    """The addresses of everything gathered. only: the chosen test sets, for commands; none: all."""

    def __init__(self, gathered: SiteData, only: Sequence[str] = ()) -> None:
        self.of = gathered
        self.only = tuple(only)
        testsets = slugs(gathered.testsets)
        self.evalsets: dict[Key, str] = {}
        for testset in gathered.testsets:
            lps = slugs(gathered.evalsets.filter(pl.col("testset") == testset)["lp"].to_list())
            self.evalsets |= {(testset, lp): f"evalsets/{testsets[testset]}/{name}" for lp, name in lps.items()}
        self.metrics = {
            name: f"metrics/{one}" for name, one in slugs(gathered.metrics["base_metric"].to_list()).items()
        }
        self.systems = {
            name: f"systems/{one}" for name, one in slugs(gathered.systems["canonical_name"].to_list()).items()
        }
        self.base_of = dict(gathered.metrics.select("metric", "base_metric").unique().rows())
        self.canonical = {
            (testset, lp, system): name
            for testset, lp, system, name in gathered.systems.select("testset", "lp", "system", "canonical_name").rows()
        }

    @property
    def named(self) -> str:
        """The test sets as a command takes them."""
        return ",".join(self.only) or "all"

    def to_metric(self, column: str = "metric") -> Link:
        def link(row: Mapping[str, Any]) -> str | None:
            name = row[column]
            return self.metrics.get(self.base_of.get(name, name))

        return link

    def to_evalset(self, row: Mapping[str, Any]) -> str | None:
        return self.evalsets.get((row["testset"], row["lp"]))

    def in_testset(self, testset: str) -> Link:
        return lambda row: self.evalsets.get((testset, row["lp"]))

    def to_system(self, row: Mapping[str, Any]) -> str | None:
        name = row.get("canonical_name") or self.canonical.get((row.get("testset"), row.get("lp"), row["system"]))
        return self.systems.get(str(name))

    def search(self) -> list[list[str]]:
        """The entries of the search: kind, name, address."""
        found = [["evaluation set", " ".join(key), f"{path}.html"] for key, path in self.evalsets.items()]
        found += [["metric", name, f"{path}.html"] for name, path in self.metrics.items()]
        return found + [["system", self.title_of(name), f"{path}.html"] for name, path in self.systems.items()]

    def title_of(self, canonical: str) -> str:
        """The spelling that most files use."""
        if not hasattr(self, "_titles"):
            found: dict[str, Counter[str]] = {}
            for name, system in self.of.systems.select("canonical_name", "system").rows():
                found.setdefault(name, Counter())[system] += 1
            self._titles = {name: min(count, key=lambda one: (-count[one], one)) for name, count in found.items()}
        return self._titles[canonical]
