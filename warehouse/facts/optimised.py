"""Systems that were selected or trained by a metric, which then judges its own choice."""

from dataclasses import dataclass
from functools import cache

from warehouse.facts.packaged import packaged


@dataclass(frozen=True)
class OptimisedSystem:
    """A system, the families of the metrics that chose its outputs, how, and where that is from."""

    testset: str
    system: str
    families: tuple[str, ...]
    how: str
    source: str


@cache
def optimised_systems() -> tuple[OptimisedSystem, ...]:
    """All that are known, in the order of the data."""
    return tuple(
        OptimisedSystem(one["testset"], one["system"], tuple(one["families"]), one["how"], one["source"])
        for one in packaged("optimised.toml")["system"]
    )


def optimised_in(testset: str) -> tuple[OptimisedSystem, ...]:
    """Those of one test set.

    >>> [one.system for one in optimised_in("wmt23")]
    ['NLLB_MBR_BLEU']
    """
    return tuple(one for one in optimised_systems() if one.testset == testset)
