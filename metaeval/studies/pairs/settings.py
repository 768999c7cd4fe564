"""Options of `deltas`: the agreement fitted to pairs of systems, and which pairs count as hard."""

from dataclasses import dataclass
from typing import Annotated

from metaeval.measures.options import Alpha, Resamples, Seed
from warehouse.fields import Fields, Option


@dataclass(frozen=True, kw_only=True)
class DeltaSettings(Fields):
    """The agreement with human scores that a difference should reach, and the pairs used for the fit."""

    seed: Seed = 0
    resamples: Resamples = 1000
    agreement: Annotated[
        tuple[float, ...],
        Option(
            "Target agreement with human scores; repeatable.",
            metavar="SHARE",
            least=0.5,
            most=0.999,
            excludes=("hard",),
        ),
    ] = (0.8, 0.9, 0.95)
    difference: Annotated[
        float | None,
        Option(
            "Show how often human scores agree with a difference of this size.",
            metavar="SIZE",
            least=0,
            default="show the differences that reach the target agreement",
            excludes=("hard",),
        ),
    ] = None
    human_alpha: Annotated[
        float | None,
        Option(
            "Only pairs whose human scores differ significantly at this level (Wilcoxon).",
            metavar="P",
            least=0,
            most=1,
            default="all pairs",
            excludes=("hard",),
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class HardPairSettings(Fields):
    """Which pairs of systems count as hard."""

    alpha: Alpha = 0.05
    max_correct: Annotated[
        int, Option("List pairs that at most N metrics order as human scores do.", least=0, formerly="at_most")
    ] = 1
    min_metrics: Annotated[
        int, Option("Only evaluation sets with at least N metrics.", least=1, formerly="least_metrics")
    ] = 5
    significant: Annotated[bool, Option("Only pairs whose human scores differ significantly (Wilcoxon).")] = False
