"""Published errors and traps in the data of the shared tasks."""

from dataclasses import dataclass
from functools import cache

from warehouse.facts.optimised import optimised_systems
from warehouse.facts.packaged import packaged


@dataclass(frozen=True)
class Issue:
    """A published error or trap in the data; None stands for all."""

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
        Issue(
            data["testset"],
            data.get("lp"),
            data.get("scorer"),
            data.get("system"),
            data["issue"],
            data["citation"],
        )
        for data in packaged("issues.toml")["issue"]
    )
    selected = (
        Issue(
            one.testset,
            None,
            None,
            one.system,
            f"Made by {one.how}: {' and '.join(one.families)} and its relatives overrate it.",
            one.source,
        )
        for one in optimised_systems()
    )
    return (*listed, *selected)
