"""Options of how files of scores are read."""

from typing import Annotated

import typer

AllowUnterminated = Annotated[
    bool, typer.Option("--allow-unterminated", help="Accept files whose last line has no newline.")
]
SkipBroken = Annotated[bool, typer.Option("--skip-broken", help="Load evaluation sets without their faulty files.")]
