"""Options of how a report is computed."""

from typing import Annotated

import typer

from cli.completion import complete_measure
from cli.options.numbers import whole_number
from metaeval.options import MOST_DRAWS

Draws = Annotated[int, whole_number("--draws", least=1, most=MOST_DRAWS, help="Number of resamples.")]
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
Seed = Annotated[int, whole_number("--seed", least=0, help="Random seed.")]
