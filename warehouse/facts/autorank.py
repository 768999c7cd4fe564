"""Rankings of systems without people that a task published, and chose by them the systems that people judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from warehouse.facts.packaged import packaged


@dataclass(frozen=True)
class PublishedRanking:
    """The metrics of a task's AutoRank, by base name, and where that is from."""

    source: str
    metrics: tuple[str, ...]
    without_reference: tuple[str, ...]
    lps: Mapping[str, Sequence[str]]

    def of(self, lp: str, has_reference: bool) -> tuple[str, ...]:
        """The metrics of a language pair."""
        return tuple(self.lps.get(lp, self.metrics if has_reference else self.without_reference))


@cache
def autoranks() -> dict[str, PublishedRanking]:
    """By test set."""
    return {
        testset: PublishedRanking(one["source"], tuple(one["metrics"]), tuple(one["without_reference"]), one["lps"])
        for testset, one in packaged("autorank.toml").items()
    }
