"""Options of `plan`: the data sets to simulate."""

from dataclasses import dataclass
from typing import Annotated, Literal

from metaeval.measures.options import LEAST_SIMULATED, MOST_DRAWS, MOST_SIMULATED, Seed
from warehouse.errors import QuestionError
from warehouse.fields import Fields, Option

Unit = Literal["document", "segment", "system", "judgement"]


@dataclass(frozen=True, kw_only=True)
class PlanSettings(Fields):
    """Power, significance level and number of simulated data sets."""

    seed: Seed = 0
    unit: Annotated[
        Unit | None,
        Option(
            "Unit to plan: segment, document, judgement, or system (only for two metrics).",
            default="document if there are at least 10, else segment",
        ),
    ] = None
    power: Annotated[float, Option("Share of simulated data sets in which the difference is significant.")] = 0.8
    alpha: Annotated[float, Option("Significance level, two-sided.")] = 0.05
    simulations: Annotated[
        int, Option("Simulated data sets for each size that is tried.", least=LEAST_SIMULATED, most=MOST_SIMULATED)
    ] = 100
    resamples: Annotated[
        int,
        Option("Resamples of each test of two metrics.", least=LEAST_SIMULATED, most=MOST_DRAWS, formerly="draws"),
    ] = 500

    def check_fields(self) -> None:
        """Raises QuestionError: a number is out of range."""
        if not 0.5 <= self.power < 1 or not 0 < self.alpha < 0.5:
            raise QuestionError(f"power {self.power}, alpha {self.alpha}: expected from 0.5 to below 1, and below 0.5")
