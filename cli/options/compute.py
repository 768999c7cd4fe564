"""Options of how measures are computed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cli.completion import complete_measure
from cli.options.choices import choice

if TYPE_CHECKING:
    from metaeval.options import Options

SYSTEM_SCORES = ("submitted", "mean", "judged-mean")
MOST_DRAWS, MOST_SIMULATIONS, MOST_POINTS, MOST_THREADS = 1_000_000, 10_000, 10_000, 1024
"""Limits of what sizes the work, as in `metaeval.questions.kinds.MOST`: more would not end, or find no memory."""
Draws = Annotated[int, typer.Option(max=MOST_DRAWS, help="Number of resamples.")]
Alpha = Annotated[float, typer.Option(help="Significance level.")]
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
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
RoundHuman = Annotated[
    int | None,
    typer.Option(
        metavar="DIGITS",
        min=0,
        max=15,
        help="Decimals to which human segment scores are rounded first.",
        show_default="as stored",
    ),
]


@dataclass(frozen=True)
class ComputeFlags:
    """How measures are computed."""

    system_score: SystemScoreOption = None
    seed: Seed = 0
    raw_ties: Annotated[bool, typer.Option("--raw-ties", help="Compare system scores without a tolerance.")] = False
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
