"""Options of how measures are computed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cli.completion import complete_measure
from cli.options.choices import choice
from cli.options.numbers import number, whole_number
from metaeval.limits import LEAST, MOST

if TYPE_CHECKING:
    from metaeval.options import Options

SYSTEM_SCORES = ("submitted", "mean", "judged-mean")
Draws = Annotated[int, whole_number("--draws", least=LEAST["draws"], most=MOST["draws"], help="Number of resamples.")]
Alpha = Annotated[float, number("--alpha", help="Significance level.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Recompute even if results are stored.")]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        metavar="TEXT...",
        help="Measure, such as spa or acc_eq(by=item); repeatable.",
        autocompletion=complete_measure,
    ),
]
SystemScoreOption = Annotated[
    str | None,
    choice(
        SYSTEM_SCORES,
        "--system-score",
        help="Source of the metrics' system scores.",
        show_default="submitted; judged-mean for spa",
    ),
]
Seed = Annotated[int, whole_number("--seed", least=LEAST["seed"], help="Random seed.")]
RawTies = Annotated[bool, typer.Option("--raw-ties", help="Compare system scores without a tolerance.")]
RoundHuman = Annotated[
    int | None,
    whole_number(
        "--round-human",
        metavar="DIGITS",
        least=LEAST["round_human"],
        most=MOST["round_human"],
        help="Decimals to which human segment scores are rounded first.",
        show_default="as stored",
    ),
]


@dataclass(frozen=True)
class ComputeFlags:
    """How measures are computed."""

    system_score: SystemScoreOption = None
    seed: Seed = 0
    raw_ties: RawTies = False
    round_human: RoundHuman = None

    def options(self) -> "Options":
        """`metaeval.options.Options`."""
        return compute_options(self.system_score, self.seed, self.raw_ties, self.round_human)


def compute_options(
    system_score: str | None = None, seed: int = 0, raw_ties: bool = False, round_human: int | None = None
) -> "Options":
    """`metaeval.options.Options`."""
    from metaeval.options import Options

    return Options(
        system_score=system_score,  # type: ignore[arg-type]
        seed=seed,
        raw_ties=raw_ties,
        round_human=round_human,
    )
