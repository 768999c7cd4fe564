"""Published errors and traps in the data, systems selected by metrics, and AutoRank's rankings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from warehouse.facts import packaged


@dataclass(frozen=True)
class PublishedRanking:
    """The metrics of a task's AutoRank, by base name, and the source."""

    source: str
    metrics: tuple[str, ...]
    without_reference: tuple[str, ...]
    lps: Mapping[str, Sequence[str]]

    def of(self, lp: str, has_reference: bool) -> tuple[str, ...]:
        """The metrics of a language pair."""
        return tuple(self.lps.get(lp, self.metrics if has_reference else self.without_reference))


@cache
def autoranks() -> dict[str, PublishedRanking]:
    """Published rankings by test set."""
    return {
        testset: PublishedRanking(one["source"], tuple(one["metrics"]), tuple(one["without_reference"]), one["lps"])
        for testset, one in packaged("autorank.toml").items()
    }


@dataclass(frozen=True)
class OptimisedSystem:
    """A system, the families of the metrics that selected its outputs, the method, and the source."""

    testset: str
    system: str
    families: tuple[str, ...]
    how: str
    source: str


@cache
def optimised_systems() -> tuple[OptimisedSystem, ...]:
    """All known optimised systems, in the order of the data."""
    return tuple(
        OptimisedSystem(one["testset"], one["system"], tuple(one["families"]), one["how"], one["source"])
        for one in packaged("optimised.toml")["system"]
    )


def optimised_in(testset: str) -> tuple[OptimisedSystem, ...]:
    """Optimised systems of one test set.

    >>> [one.system for one in optimised_in("wmt23")]
    ['NLLB_MBR_BLEU']
    """
    return tuple(one for one in optimised_systems() if one.testset == testset)


@dataclass(frozen=True)
class Issue:
    """A published error or trap in the data; None means all."""

    testset: str
    lp: str | None
    scorer: str | None
    system: str | None
    issue: str
    citation: str


@cache
def issues() -> tuple[Issue, ...]:
    """Published issues, in the order of the data; then systems that a metric of the task selected."""
    listed = tuple(
        Issue(data["testset"], data.get("lp"), data.get("scorer"), data.get("system"), data["issue"], data["citation"])
        for data in packaged("issues.toml")["issue"]
    )
    selected = (
        Issue(
            one.testset,
            None,
            None,
            one.system,
            f"Made by {one.how}: {' and '.join(one.families)} may overrate it; findings of each language pair say "
            "by how much.",
            one.source,
        )
        for one in optimised_systems()
    )
    return (*listed, *selected)
