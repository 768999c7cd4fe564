"""What noise goes into a metric, as options of its question."""

from dataclasses import dataclass
from typing import Annotated, Literal

from metaeval.measures.options import MOST_DRAWS, Seed
from warehouse.errors import QuestionError
from warehouse.fields import Fields, Option

Kind = Literal["independent", "segment", "system", "outliers"]


@dataclass(frozen=True, kw_only=True)
class NoiseSettings(Fields):
    """Which noise, how strong, and how often it is drawn."""

    seed: Seed = 0
    kinds: Annotated[
        tuple[Kind, ...],
        Option(
            "Kind of noise: on each score, a bias per segment or per system, or outliers; repeatable.",
            ("kind",),
            excludes=("oracles",),
        ),
    ] = ("independent", "segment", "system", "outliers")
    strengths: Annotated[
        tuple[float, ...],
        Option(
            "Standard deviation of the noise, in standard deviations of the metric; repeatable.",
            ("strength",),
            metavar="SD",
            excludes=("oracles",),
        ),
    ] = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
    shares: Annotated[
        tuple[float, ...],
        Option(
            "Share of scores that become outliers, 10 standard deviations from the mean; repeatable.",
            ("share",),
            metavar="SHARE",
            excludes=("oracles",),
        ),
    ] = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1)
    simulations: Annotated[
        int,
        Option("Number of noise simulations.", least=1, most=MOST_DRAWS, excludes=("oracles",), formerly="draws"),
    ] = 20

    def check_fields(self) -> None:
        """Raises QuestionError: a number out of its range."""
        if not all(one >= 0 for one in self.strengths):
            raise QuestionError("strengths of noise are finite and at least 0")
        if not all(0 <= one <= 1 for one in self.shares):
            raise QuestionError("shares of outliers lie between 0 and 1")

    def levels(self, kind: Kind) -> tuple[float, ...]:
        """The strengths of a kind, rising, 0 among them."""
        return tuple(sorted({0.0, *(self.shares if kind == "outliers" else self.strengths)}))
