"""Options of how files of scores are read."""

from typing import Annotated

import typer

AllowUnterminated = Annotated[
    bool, typer.Option("--allow-unterminated", help="Accept files whose last line has no newline.")
]
InclusiveEnds = Annotated[
    bool,
    typer.Option(
        "--inclusive-ends", help="Error spans of tables and JSON lines end with the last character, not behind it."
    ),
]
SkipBroken = Annotated[bool, typer.Option("--skip-broken", help="Load evaluation sets without their faulty files.")]
